// SPDX-License-Identifier: Apache-2.0
// The fused way: one pass over the source rows that are needed, at the destination's size, with
// vector kernels. Filters of at most two taps, no axis swap, 8-bit and float RGB and grey results.
#pragma once

#include <array>
#include <vector>

#include "halyard/result.h"
#include "image/cpu/axes.h"
#include "image/cpu/kernels.h"
#include "image/cpu/pad.h"
#include "image/cpu/parallel.h"
#include "image/plan.h"

namespace halyard::image {

/// Keeps tables and rows between plans; a plan of the geometry of the one before it allocates
/// nothing. Used by one thread at a time.
class Fused {
 public:
  explicit Fused(Parallel& parallel) : parallel_(parallel), slots_(parallel.width()) {}
  Fused(const Fused&) = delete;
  Fused& operator=(const Fused&) = delete;

  /// Pure.
  static bool serves(const ConvertPlan& plan) noexcept;
  /// Errors: those of mapping, no_memory.
  Status run(const ConvertPlan& plan);

 private:
  /// Rows of one output row: first, second, and the weight of the second; weight 0: first alone.
  struct RowTap {
    std::int32_t first = 0;
    std::int32_t second = 0;
    std::int16_t weight = 0;
    friend bool operator==(const RowTap&, const RowTap&) = default;
  };
  struct Channel {
    SourceChannel view;
    ChannelAxes axes;
    std::size_t group = 0;
    AcrossTable across;
    AxisRequest across_key;
    std::int32_t across_begin = -1;
  };
  /// Channels whose samples are interleaved in one plane: blended together.
  struct Group {
    ChannelSite site;
    const std::byte* base = nullptr;  // first byte of the plane
    std::size_t stride_bytes = 0;
    std::int32_t begin = 0;                         // first sample read
    std::array<int, 4> channel_at{-1, -1, -1, -1};  // by byte of the step
    std::vector<RowTap> down;
    AxisRequest down_key;
  };
  struct Slot {
    std::array<std::vector<std::int16_t>, 4> blended;
    std::array<std::vector<std::int16_t>, 4> resampled;
    std::array<RowTap, 4> last{};  // per group: what `blended` holds
    std::array<bool, 4> fresh{};   // per group: blended for this row
  };

  void bind(const ConvertPlan& plan, const TensorMap& src, const TensorMap& dst);
  void bind_groups(const ConvertPlan& plan, const TensorMap& src);
  void bind_feed(const ConvertPlan& plan);
  void bind_target(const ConvertPlan& plan, const TensorMap& dst);
  void prepare(Slot& slot) const;
  void convert_rows(const ConvertPlan& plan, std::int32_t begin, std::int32_t end,
                    Slot& slot) const;
  void gather_rows(std::int32_t row, Slot& slot, FinishJob& job) const;
  void blend_group(std::size_t index, std::int32_t row, Slot& slot) const;
  void feed_bytes(const ConvertPlan& plan, std::int32_t row, FinishJob& job) const;

  Parallel& parallel_;
  AxisTaps taps_;
  std::size_t channel_count_ = 0;  // that the colour mode needs
  std::size_t group_count_ = 0;
  std::array<Channel, 4> channels_;
  std::array<Group, 4> groups_;
  std::array<TargetChannel, 4> target_{};
  FinishJob job_;  // all but the pointers of a row
  PadRow pad_;
  std::vector<Slot> slots_;
};

}  // namespace halyard::image
