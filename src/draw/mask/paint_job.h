// SPDX-License-Identifier: Apache-2.0
// PaintJob: the masks of a frame or a class map, as a device draws them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/mask/mask_checks.h"
#include "decode/mask/mask_workspace.h"
#include "draw/canvas.h"

namespace halyard::draw {

/// Elements in memory, one after another. Borrowed.
struct ElementBlock {
  const std::byte* data = nullptr;
  DType dtype = DType::u8;
  std::size_t count = 0;
};

/// One mask. Positions are in pixels of the image; a pixel outside of `rect` is off.
struct MaskOp {
  Rect rect;
  Ink ink;
  /// Prototypes: the pixels whose logits it samples, x, y, width, height. Mask bytes: the first
  /// byte, the stride, and the pixel of the first byte, x, y.
  std::array<std::int32_t, 4> source{};
  std::int32_t row = 0;  ///< of coefficients
};

/// Prototypes and coefficients. The logit of mask i at prototype pixel (x, y) is the sum over k of
/// numbers[K (1 + i) + k] x (element(first + x pixel_stride + y row_stride + k channel_stride) -
/// numbers[k]), but for a factor above 0.
struct LogitSource {
  ElementBlock elements;
  std::int32_t pixel_stride = 0;  ///< elements, as all strides
  std::int32_t row_stride = 0;
  std::int32_t channel_stride = 0;
  std::int32_t channels = 0;  ///< K
  Size grid;                  ///< prototype pixels
  std::span<const float> numbers;
  const decode::AxisSamples* x = nullptr;  ///< from image to prototypes
  const decode::AxisSamples* y = nullptr;
};

enum class PaintKind : std::uint8_t { prototypes, mask_bytes, class_map };

struct PaintJob {
  PaintKind kind = PaintKind::prototypes;
  bool is_readable = true;  ///< false: the elements lie so that no device reads them
  /// Fill the image with zeros first, nv12 with the bytes of `black`.
  bool clears = false;
  Ink black;
  std::span<const MaskOp> masks;  ///< in the order of drawing; of a class map none
  LogitSource logits;
  ElementBlock bytes;              ///< mask bytes, or class ids
  std::int32_t id_row_stride = 0;  ///< of class ids, in elements
  /// By class: three bytes of the ink, and its weight.
  std::span<const std::array<std::uint8_t, 4>> class_inks;
};

}  // namespace halyard::draw
