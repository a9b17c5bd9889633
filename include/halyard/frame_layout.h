// SPDX-License-Identifier: Apache-2.0
// FrameLayout: the layout of frames in their buffers, agreed on before the frames exist.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "halyard/drm.h"
#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Bytes, strides and offsets of every frame of a pool, as Reconciled::frame_layout() gives them. A
/// value type; check() validates it.
struct FrameLayout {
  struct Plane {
    std::uint64_t offset_bytes = 0;
    std::uint64_t stride_bytes = 0;
    std::uint64_t plane_stride_bytes = 0;  ///< between colour planes of a planar format; else 0
    friend bool operator==(const Plane&, const Plane&) = default;
  };

  std::uint64_t size_bytes = 0;    ///< of each frame's buffer, padding and slack included
  std::uint32_t align_bytes = 64;  ///< alignment of the buffer's first byte
  /// Rank 0: no tensor.
  Layout tensor;
  std::uint64_t tensor_offset_bytes = 0;
  /// 0: no image.
  std::uint32_t width = 0, height = 0;
  PixelFormat format = PixelFormat::rgb;
  std::uint64_t modifier = drm_modifier_linear;
  std::uint8_t plane_count = 0;
  std::array<Plane, 4> planes{};
  /// Value of the padding bytes: a new frame is filled with it completely. None: any value.
  std::optional<std::uint8_t> fill = std::nullopt;

  bool has_tensor() const noexcept { return tensor.rank != 0; }
  bool has_image() const noexcept { return width != 0; }
  /// Checks the layout. Errors: invalid_argument (neither tensor nor image; a tensor or plane that
  /// ends beyond size_bytes; an alignment that is not a power of two in 64..4096).
  Status check() const;
  /// Returns the image in a buffer, or the tensor if there is no image. Errors: those of
  /// Tensor::wrap_image() and Tensor::wrap().
  Result<Tensor> over(std::shared_ptr<Buffer> buffer) const;
  /// Returns the tensor in a buffer. Errors: also unsupported (there is none).
  Result<Tensor> tensor_over(std::shared_ptr<Buffer> buffer) const;

  /// One line without control characters, for files and other languages; see docs/shared-memory.md.
  std::string to_text() const;
  /// The inverse of to_text(). Errors: malformed, those of check().
  static Result<FrameLayout> from_text(std::string_view text);
  /// Text for users: "nv12 1920x1080 pitch 2048/2048", "f16 [2, 650] strides [1344, 2]".
  std::string describe() const;
  friend bool operator==(const FrameLayout& a, const FrameLayout& b) {
    return a.to_text() == b.to_text();
  }
};

}  // namespace halyard
HALYARD_EXPORTS_END
