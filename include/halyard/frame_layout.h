// SPDX-License-Identifier: Apache-2.0
// FrameLayout: how frames lie in their buffers, agreed on before there are any.
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

/// Bytes, strides and offsets of every frame of a pool: what Reconciled::frame_layout() gives. A
/// value; check() says whether it can be.
struct FrameLayout {
  struct Plane {
    std::uint64_t offset_bytes = 0;
    std::uint64_t stride_bytes = 0;
    std::uint64_t plane_stride_bytes = 0;  ///< between colour planes of a planar format; else 0
    friend bool operator==(const Plane&, const Plane&) = default;
  };

  std::uint64_t size_bytes = 0;    ///< of each frame's buffer, padding and slack included
  std::uint32_t align_bytes = 64;  ///< what its first byte is a multiple of
  /// Rank 0: no tensor.
  Layout tensor;
  std::uint64_t tensor_offset_bytes = 0;
  /// 0: no image.
  std::uint32_t width = 0, height = 0;
  PixelFormat format = PixelFormat::rgb;
  std::uint64_t modifier = drm_modifier_linear;
  std::uint8_t plane_count = 0;
  std::array<Plane, 4> planes{};
  /// What bytes that are nobody's must hold: a fresh frame is filled with it whole. None: anything.
  std::optional<std::uint8_t> fill = std::nullopt;

  bool has_tensor() const noexcept { return tensor.rank != 0; }
  bool has_image() const noexcept { return width != 0; }
  /// Errors: invalid_argument (neither tensor nor image; what leaves size_bytes; an alignment that
  /// is no power of two of 64..4096).
  Status check() const;
  /// The image in a buffer, or the tensor where there is no image. Errors: those of
  /// Tensor::wrap_image() and Tensor::wrap().
  Result<Tensor> over(std::shared_ptr<Buffer> buffer) const;
  /// The tensor. Errors: also unsupported (there is none).
  Result<Tensor> tensor_over(std::shared_ptr<Buffer> buffer) const;

  /// One line without control characters, for files and other languages: docs/shared-memory.md.
  std::string to_text() const;
  /// Errors: malformed, those of check().
  static Result<FrameLayout> from_text(std::string_view text);
  /// For people: "nv12 1920x1080 pitch 2048/2048", "f16 [2, 650] strides [1344, 2]".
  std::string describe() const;
  friend bool operator==(const FrameLayout& a, const FrameLayout& b) {
    return a.to_text() == b.to_text();
  }
};

}  // namespace halyard
HALYARD_EXPORTS_END
