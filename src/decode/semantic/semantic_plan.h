// SPDX-License-Identifier: Apache-2.0
// A checked request for a class map, and the memory that is kept between frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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

/// Errors: as SemanticMapper::map().
Result<SemanticPlan> plan_semantic(const Tensor& scores, const SemanticOptions& options,
                                   const Tensor& out, const Tensor* confidence);

}  // namespace halyard::decode
