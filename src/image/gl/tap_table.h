// SPDX-License-Identifier: Apache-2.0
// TapTable: the filter taps of a plan as one texture of floats, so that shaders filter with the
// weights of the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "image/plan.h"

namespace halyard::image {

/// Row `row` of the table has the first sample of each output, and the `count` rows below it have
/// the weights of the samples from there on.
struct TapRows {
  std::int32_t row = 0;
  std::int32_t count = 0;
};

/// Channels that are sampled alike share their rows: group 0 has those at full size, group 1 those
/// that are subsampled. Axes are in the source's directions, as in channel_axes().
struct TapTable {
  std::int32_t width = 0;  ///< outputs of the longest axis
  std::int32_t rows = 0;
  std::vector<float> values;  ///< rows of `width`
  std::array<TapRows, 2> x{};
  std::array<TapRows, 2> y{};
};

/// Group of a source channel.
constexpr std::size_t tap_group(const ChannelSite& site) noexcept {
  return site.shift_x != 0 || site.shift_y != 0 ? 1 : 0;
}

/// May throw std::bad_alloc. Not for affine maps.
TapTable make_tap_table(const Plan& plan);

/// The most samples that one output of the plan reads.
std::int32_t max_samples(const Plan& plan) noexcept;

}  // namespace halyard::image
