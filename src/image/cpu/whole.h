// SPDX-License-Identifier: Apache-2.0
// Sampler of bytes whose axes have small whole weights: 3:1, 3:2, 2:1 and their like.
#pragma once

#include <array>
#include <vector>

#include "image/cpu/kernels/whole.h"
#include "image/cpu/sampler.h"
#include "image/cpu/whole_axis.h"

namespace halyard::image {

/// Each source row is filtered along itself once, in whole numbers, into a ring, from which output
/// rows are blended; the one rounding is the last step. Rows that are blended with no other become
/// samples at once. Channels that lie alike in one plane stay together until they are samples.
class WholeSampler final : public Sampler {
 public:
  explicit WholeSampler(const Plan& plan) noexcept;
  /// False: an axis is not of this kind, or too far apart for the kernels.
  bool bind(const Plan& plan, std::size_t channels);

  std::size_t workspace_bytes() const noexcept override { return lay_out(nullptr).bytes; }
  void begin(std::byte* workspace) const override;
  SampleRows row(const Frame& frame, std::int32_t row, std::byte* workspace) const override;

 private:
  /// What sums of weights are divided by, as a blend does it.
  struct Scale {
    int shift = 0;
    std::int16_t scale = -32768;  ///< -32768: none
  };
  /// A weight of the first or the last output that counts more, or less, than in the others.
  struct Patch {
    std::size_t sum;    ///< which of the row
    std::int32_t byte;  ///< behind the first that is read
    std::int16_t weight;
  };
  /// Channels of one plane with the same distance between their samples.
  struct Group {
    std::size_t lead = 0;
    std::size_t members = 0;
    std::array<std::size_t, 4> channel{};
    std::array<std::int32_t, 4> offset{};  ///< of their first samples in a row
    ChannelSite site{};
    WholeAxis x;
    WholeAxis y;
    WholeTable table;
    std::int32_t begin = 0;  ///< first byte that is read, from the plane's row on; maybe before it
    std::int32_t end = 0;
    std::int32_t row_bytes = 0;  ///< of the picture in the plane
    std::vector<Patch> patches;
    std::array<std::int32_t, 2>
        edge{};  ///< 2^-14: how much too small the first and last output are
    Scale inner;
    bool at_once = false;  ///< rows become samples without a ring
  };
  struct Layout {
    std::array<std::int32_t*, 4> held{};  ///< per group: source row of each place of its ring
    std::array<std::int16_t*, 4> ring{};
    std::array<std::int16_t*, 4> out{};
    std::uint8_t* copy = nullptr;  ///< of one source row
    std::size_t bytes = 0;
  };

  static Scale scale_of(std::int32_t sum) noexcept;
  bool bind_group(const Plan& plan, Group& group) const;
  bool bind_table(Group& group) const;
  void bind_edge(Group& group, std::int32_t x, std::size_t which) const;
  /// The layout itself comes first: begin() leaves it there for row().
  Layout lay_out(std::byte* workspace) const noexcept;

  const std::uint8_t* bytes_of(const Frame& frame, const Group& group, std::int32_t row,
                               const Layout& at) const noexcept;
  const std::int16_t* sums_of(const Frame& frame, std::size_t g, std::int32_t row,
                              const Layout& at) const noexcept;
  void blend(const Frame& frame, std::size_t g, std::int32_t row, const Layout& at) const noexcept;

  std::size_t channels_ = 0;
  std::size_t groups_ = 0;
  std::array<Group, 4> group_;
};

}  // namespace halyard::image
