// SPDX-License-Identifier: Apache-2.0
// Integer-ratio sampler: resizes bytes along axes with small integer weights, such as 3:1, 3:2 and
// 2:1.
#pragma once

#include <array>
#include <vector>

#include "image/cpu/kernels/resample/rational.h"
#include "image/cpu/resample/rational_axis.h"
#include "image/cpu/resample/sampler.h"

namespace halyard::image {

/// One kernel sums the source rows of an output row; at the same time it makes what they add to the
/// next output row, so that each source row is read once. All sums are integers; only the last step
/// rounds. Channels with the same layout in one plane stay together until they are samples.
class RationalSampler final : public Sampler {
 public:
  explicit RationalSampler(const Plan& plan) noexcept;
  /// Returns false if an axis is not of this kind, or its samples lie too far apart for the
  /// kernels.
  bool bind(const Plan& plan, std::size_t channels);

  std::size_t workspace_bytes() const noexcept override { return lay_out(nullptr).bytes; }
  void begin(std::byte* workspace) const override;
  SampleRows row(const MappedImages& frame, std::int32_t row, std::byte* workspace) const override;

 private:
  /// Converts sums to samples: a shift, then a multiplication, as in RationalRows.
  struct Scale {
    int shift = 0;
    std::int16_t scale = -32768;  ///< -32768: none
  };
  /// Sums of corrections: entry 2 * member is for the first output of a member of a group, 2 *
  /// member + 1 for its last one.
  using Ends = std::array<std::int32_t, 8>;
  /// Correction of one byte's weight in the sum of the first or last output.
  struct Patch {
    std::size_t end;
    std::int32_t byte;  ///< index from the first byte that is read
    std::int16_t weight;
  };
  static constexpr int edge_bits = 14;
  /// The source rows that an output row adds, ascending, with their weights for it and for the next
  /// output row.
  struct Step {
    std::size_t count = 0;
    std::size_t alone = 0;  ///< the first rows, which add nothing to the next output row
    std::int32_t end = 0;   ///< one past the last source row
    std::array<std::int32_t, RationalAxis::max_taps> source{};
    std::array<std::int16_t, RationalAxis::max_taps> now{};
    std::array<std::int16_t, RationalAxis::max_taps> next{};
    Scale scale;
    std::int32_t sum = 1;  ///< sum of all weights of a sample
  };
  /// Channels of one plane with the same distance between their samples.
  struct Group {
    std::size_t lead = 0;
    std::size_t members = 0;
    std::array<std::size_t, 4> channel{};
    std::array<std::int32_t, 4> offset{};  ///< of their first samples in a row
    ChannelSite site{};
    RationalAxis x;
    RationalAxis y;
    RationalTable table;
    std::int32_t begin = 0;  ///< first byte that is read, relative to the row; may be negative
    std::int32_t end = 0;
    std::int32_t row_bytes = 0;  ///< of the image in the plane
    std::vector<Patch> patches;
    std::array<std::int32_t, 2> edge{};  ///< first, last output: sum of all weights / of theirs
    Scale inner;
    /// Steps of the first rows after those at the edge, one per row of a period. Rows of later
    /// periods have the same steps, but not the last rows.
    std::array<Step, RationalAxis::max_period> steps;
    bool at_once = false;  ///< each output row is one source row; weights sum to powers of two
    bool carries = false;  ///< a source row contributes to at most two output rows
  };
  /// What the source rows read so far add to an output row.
  struct State {
    std::int32_t row = -1;  ///< the output row; -1: none
    std::int32_t done = 0;  ///< one past the last of these source rows
    Ends ends{};
  };
  struct Workspace {
    std::array<State*, 4> state{};         ///< per group
    std::array<std::int16_t*, 4> carry{};  ///< the same
    std::array<std::uint8_t*, 4> copies{};
    std::array<std::array<std::int16_t*, 4>, 4> out{};  ///< per group and member
    SampleRows rows;
    std::size_t bytes = 0;
  };
  static Scale scale_of(std::int32_t sum) noexcept;
  bool bind_group(const Plan& plan, Group& group) const;
  bool bind_table(Group& group) const;
  void bind_edge(Group& group, std::int32_t x, std::size_t which) const;
  /// The layout is stored first: begin() leaves it there for row().
  Workspace lay_out(std::byte* workspace) const noexcept;

  static std::size_t copy_bytes(const Group& group) noexcept {
    return static_cast<std::size_t>(group.end - group.begin);
  }
  static Step step_of(const Group& group, std::int32_t row, std::int32_t done) noexcept;
  const std::uint8_t* bytes_of(const MappedImages& frame, const Group& group, std::int32_t row,
                               std::uint8_t* copy) const noexcept;
  void make_row(const MappedImages& frame, std::size_t g, std::int32_t row,
                const Workspace& at) const noexcept;
  void mend_ends(const Group& group, const Ends& ends, std::int32_t sum,
                 const std::array<std::int16_t*, 4>& out) const noexcept;

  std::size_t channels_ = 0;
  std::size_t groups_ = 0;
  std::array<Group, 4> group_;
};

}  // namespace halyard::image
