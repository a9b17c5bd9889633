// SPDX-License-Identifier: Apache-2.0
// State of one frame of a semantic head: the checked request, staged scores and reused memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "decode/mask/mask_geometry.h"
#include "decode/mask/mask_logits.h"
#include "halyard/semantic.h"

namespace halyard::decode {

/// Tables and buffers that are kept between frames.
struct SemanticWorkspace {
  AxisSamples x, y;
  std::vector<std::int32_t> nearest_x, nearest_y;
  std::array<std::vector<float>, 2> staged;
  std::vector<float> channel_scale, channel_zero_point;
  std::vector<float> best;           ///< [h][w], staged values
  std::vector<float> sum;            ///< [h][w], denominator of softmax
  std::vector<std::uint16_t> label;  ///< [h][w]
  std::vector<std::uint8_t> mixed;   ///< per cell of a band
  std::vector<std::uint16_t> masks, rivals, classes;
  std::vector<float> scratch, plane;
  std::vector<std::int32_t> labels;
};

/// Ensures that v has at least `count` elements. Never shrinks.
template <class T>
void hold(std::vector<T>& v, std::size_t count) {
  if (v.size() < count) v.resize(count);
}

/// A checked request.
struct SemanticPlan {
  PrototypeGrid scores;  ///< channels are classes; a class map has 1
  Size target;
  AxisMap x, y;
  DType out = DType::u8;
  std::optional<DType> confidence;
};

/// A mapped plane of adjacent pixels.
struct TargetPlane {
  std::byte* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
  template <class T>
  T* row(std::int32_t y) const noexcept {
    return reinterpret_cast<T*>(data + y * stride_bytes);
  }
};

/// Scores staged in two blocks of rows, so that both rows at a border between blocks are available.
/// Also holds the best class of each pixel.
class StagedScores {
 public:
  /// `scales` may be empty: then stored integers are compared without conversion.
  StagedScores(const PrototypeGrid& scores, const ChannelScales& scales, bool softmax, float scale,
               SemanticWorkspace& work);
  /// Stages row y. A call can discard row y - 2 and the rows before it.
  void need(std::int32_t y);
  /// Class 0 of row y. Rows y and y - 1 of the last need(y) are available. Class k is k * stride()
  /// further.
  const float* row(std::int32_t y) const noexcept;
  std::size_t stride() const noexcept { return stride_; }
  const std::uint16_t* labels(std::int32_t y) const noexcept {
    return work_.label.data() + static_cast<std::size_t>(y) * scores_.width;
  }

 private:
  void stage(std::size_t block);
  const PrototypeGrid& scores_;
  ChannelScales scales_;
  bool softmax_;
  float scale_;
  SemanticWorkspace& work_;
  std::size_t rows_ = 1;  ///< per block
  std::size_t stride_ = 0;
  std::array<std::size_t, 2> held_{none, none};
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
};

}  // namespace halyard::decode
