// SPDX-License-Identifier: Apache-2.0
// Where masks lie: the target pixels that a box covers by each rule, and the prototype pixels and
// weights with which they are sampled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halyard/mask.h"

namespace halyard::decode {

/// Half-open range of pixels along one axis.
struct PixelRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t length() const noexcept { return end - begin; }
  bool is_empty() const noexcept { return end <= begin; }
  friend bool operator==(const PixelRange&, const PixelRange&) = default;
};

/// One axis of the map from target to source pixels: target pixel p samples the source at offset +
/// (p + 1/2) * step - 1/2, clamped to [0, source - 1].
struct AxisMap {
  std::int32_t source = 0;  ///< pixels
  std::int32_t target = 0;
  double offset = 0;
  double step = 1;
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

/// Samples of each target pixel: source pixels `low` and low + 1 with weights 1 - high and `high`.
/// At the last source pixel `high` is 0. Padded at the end, so that vectors can read beyond.
struct AxisSamples {
  static constexpr std::size_t padding = 16;
  AxisMap map;
  std::vector<std::int32_t> low;
  std::vector<float> low_weight;
  std::vector<float> high_weight;
  /// Fills the tables, or keeps them if the map is the same.
  void prepare(const AxisMap& wanted);
  /// The source pixels that a non-empty range of target pixels reads with a weight above 0.
  PixelRange source_of(PixelRange target) const noexcept;
};

/// A box along one axis, in pixels of the network's input, low <= high, and its context.
struct AxisBox {
  double low = 0;
  double high = 0;
  double input = 0;       ///< extent of the network's input
  std::int32_t grid = 0;  ///< of the prototypes
  double content = 0;     ///< begin of the content, in input pixels
  double content_size = 0;
};

/// Rounded outwards to prototype pixels in single precision, at least one pixel.
PixelRange prototype_span(const AxisBox& box) noexcept;
/// Prototype pixels p with low <= p < high in prototype units. Can be empty.
PixelRange quick_span(const AxisBox& box) noexcept;
/// Input pixels p with low <= p < high. Can be empty.
PixelRange input_span(const AxisBox& box) noexcept;
/// Rounded to pixels of a target that shows the content rectangle, at least one pixel.
PixelRange target_span(const AxisBox& box, std::int32_t target) noexcept;
/// Target pixels whose samples can lie in `source`. Can be empty.
PixelRange touched_span(const AxisSamples& samples, PixelRange source) noexcept;
/// Target pixels of which all samples with a weight above 0 lie in `source`. Can be empty.
PixelRange inner_span(const AxisSamples& samples, PixelRange source) noexcept;

}  // namespace halyard::decode
