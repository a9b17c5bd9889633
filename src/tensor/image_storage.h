// SPDX-License-Identifier: Apache-2.0
// Size and row pitch of an image in memory, for all functions that allocate one.
#pragma once

#include <cstddef>

#include "halyard/tensor.h"

namespace halyard {

struct ImageStorage {
  std::size_t stride_bytes = 0;
  std::size_t size_bytes = 0;
};

inline constexpr std::size_t pitch_alignment = 64;  // required by GPUs and blitters

inline bool is_flat(const FormatInfo& f) noexcept {
  return f.kind == FormatKind::semi_planar || f.kind == FormatKind::tri_planar;
}
/// Number of entries of wrap_image(). A planar image has one.
inline std::size_t storage_planes(const FormatInfo& f) noexcept {
  return f.kind == FormatKind::planar ? 1 : f.planes;
}

/// Errors: invalid_argument (a side outside 1..65535).
Status check_image_size(std::size_t width, std::size_t height);

/// The usual row pitch. Errors: invalid_argument (overflow).
Result<std::size_t> chosen_stride(PixelFormat format, DType dtype, std::size_t width,
                                  Memory memory);

/// Layout of the tensor that holds such an image as numbers.
Layout image_layout(const FormatInfo& f, DType dtype, std::size_t width, std::size_t height,
                    std::size_t stride);

/// Checks the request and chooses the row pitch. Errors: those of Tensor::create_image(), but not
/// those of the allocation.
Result<ImageStorage> image_storage(std::size_t width, std::size_t height, PixelFormat format,
                                   const ImageOptions& options);

}  // namespace halyard
