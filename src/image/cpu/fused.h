// SPDX-License-Identifier: Apache-2.0
// The fused way: one pass over the source rows that are needed, at the destination's size, with
// vector kernels. Filters without negative weights, RGB and grey destinations.
#pragma once

#include <array>
#include <vector>

#include "halyard/result.h"
#include "image/cpu/across.h"
#include "image/cpu/axes.h"
#include "image/cpu/kernels.h"
#include "image/cpu/pad.h"
#include "image/cpu/parallel.h"
#include "image/plan.h"

namespace halyard::image {

/// Each row of results in the source's own direction is blended down, resampled across, and turned
/// into codes; codes are stored as a destination row, or, where the plan swaps axes, collected in a
/// tile of rows that is turned and stored as pieces of destination rows.
/// Keeps tables and rows between plans; a plan of the geometry of the one before it allocates
/// nothing. Used by one thread at a time.
class Fused {
 public:
  explicit Fused(Parallel& parallel) : parallel_(parallel), slots_(parallel.width()) {}
  Fused(const Fused&) = delete;
  Fused& operator=(const Fused&) = delete;

  /// Pure.
  static bool serves(const Plan& plan) noexcept;
  /// Errors: those of mapping, no_memory.
  Status run(const Plan& plan);

 private:
  struct Channel {
    SourceChannel view;
    ChannelAxes axes;
    std::size_t group = 0;
    AcrossTable across;
    AxisRequest across_key;  // what `across` was made for, with
    std::int32_t across_begin = -1;
  };
  /// Channels whose samples are interleaved in one plane: blended together.
  struct Group {
    ChannelSite site{};
    const std::byte* base = nullptr;  // first byte of the plane
    std::size_t stride_bytes = 0;
    std::int32_t begin = 0;                         // first sample read
    std::array<int, 4> channel_at{-1, -1, -1, -1};  // by byte of the step
    DownTable down;
    AxisRequest down_key;  // what `down` was made for
  };
  /// Working memory of one thread.
  struct Slot {
    std::array<std::vector<std::int16_t>, 4> blended;
    std::array<std::vector<std::int16_t>, 4> resampled;
    std::array<std::vector<std::uint8_t>, 4> codes;  // one row; all rows of a tile when turned
    std::vector<std::uint8_t> turned;
    std::vector<const std::uint8_t*> rows;  // of one blend
    std::array<std::int32_t, 4> last{};     // per group: id of what `blended` holds
    std::array<bool, 4> fresh{};            // per group: blended for this row
  };

  void bind(const Plan& plan, const TensorMap& src, const TensorMap& dst);
  void bind_groups(const Plan& plan, const TensorMap& src);
  void bind_tables();
  void bind_feed(const Plan& plan);
  void bind_target(const Plan& plan, const TensorMap& dst);
  void prepare(const Plan& plan, Slot& slot) const;

  void convert_rows(const Plan& plan, std::int32_t begin, std::int32_t end, Slot& slot) const;
  void convert_turned(const Plan& plan, std::int32_t begin, std::int32_t end, Slot& slot) const;
  void store_turned(const Plan& plan, std::int32_t row, std::int32_t rows, Slot& slot) const;
  void make_codes(const Plan& plan, std::int32_t row, Slot& slot, ColorJob& job) const;
  bool takes_bytes(std::size_t index, std::int32_t row) const;
  void blend_group(std::size_t index, std::int32_t row, Slot& slot) const;
  void point_at(const Plan& plan, std::int32_t x, std::int32_t y, StoreJob& job) const;

  Parallel& parallel_;
  AxisTaps taps_;
  std::size_t channel_count_ = 0;  // that the colour mode needs
  std::size_t group_count_ = 0;
  std::array<Channel, 4> channels_;
  std::array<Group, 4> groups_;
  std::array<TargetChannel, 4> target_{};
  std::size_t code_stride_ = 0;  // between the rows of a tile
  ColorJob color_;               // all but the pointers of a row
  StoreJob store_;
  PadRow pad_;
  std::vector<Slot> slots_;
};

}  // namespace halyard::image
