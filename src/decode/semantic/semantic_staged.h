// SPDX-License-Identifier: Apache-2.0
// Scores of a semantic head, staged row by row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "decode/semantic/semantic_plan.h"

namespace halyard::decode {

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
