// SPDX-License-Identifier: Apache-2.0
// The oracle: every plan, in plain scalar arithmetic. Other code is judged by it, so it has no
// special cases and no speed-ups.
#pragma once

#include <array>
#include <vector>

#include "halyard/result.h"
#include "image/cpu/axes.h"
#include "image/cpu/pad.h"
#include "image/cpu/parallel.h"
#include "image/plan.h"

namespace halyard::image {

/// Keeps its working memory between plans. Used by one thread at a time.
class Oracle {
 public:
  explicit Oracle(Parallel& parallel) : parallel_(parallel), slots_(parallel.width()) {}
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  /// Maps both tensors and fills the destination. Serves every plan.
  /// Errors: those of mapping, no_memory.
  Status run(const Plan& plan);

 private:
  struct Channel {
    SourceChannel view;
    ChannelAxes axes;
    AxisTaps x;
    AxisTaps y;
  };
  struct Slot {
    std::vector<float> blended;                  // one row of source samples
    std::array<std::vector<float>, 4> filtered;  // one row of results per channel
  };
  Status execute(const Plan& plan, const TensorMap& src, const TensorMap& dst);
  void bind(const Plan& plan, const TensorMap& src, const TensorMap& dst);
  void filter_row(const Channel& channel, std::int32_t y, std::vector<float>& blended,
                  std::vector<float>& out) const;
  void convert_row(const Plan& plan, std::int32_t row, Slot& slot);
  void put(const Plan& plan, std::int32_t x, std::int32_t y, const Pixel& pixel);
  void store_blocks(const Plan& plan);

  Parallel& parallel_;
  std::vector<Slot> slots_;
  std::array<Channel, 4> channels_;
  std::array<TargetChannel, 4> target_{};
  PadRow pad_;
  bool subsampled_ = false;                  // the destination's chroma
  std::array<std::vector<float>, 3> whole_;  // its channels at full size, when subsampled
};

}  // namespace halyard::image
