// SPDX-License-Identifier: Apache-2.0
// Filter taps along one axis: the samples that make each output, and their weights.
#pragma once

#include <cstdint>
#include <vector>

#include "halyard/image.h"
#include "image/cpu/resample/period.h"

namespace halyard::image {

/// One axis of one channel. Coordinates are continuous and in samples of the channel: sample i
/// covers [i, i+1). `begin` and `length` may be fractional for chroma.
struct AxisRequest {
  double begin = 0;
  double length = 0;
  std::int32_t lowest = 0;   ///< first sample that may be read
  std::int32_t highest = 0;  ///< one past the last
  std::int32_t outputs = 0;
  bool mirrored = false;  ///< flipped before the fit
  Filter filter = Filter::bilinear;
  bool antialias = false;
  friend bool operator==(const AxisRequest&, const AxisRequest&) = default;
};

/// Output x is the sum over t < count of sample first[x] + t times weight[x * count + t].
/// Invariants: the weights of an output sum to 1; lowest <= first[x]; first[x] + count <= highest.
struct AxisTaps {
  std::int32_t count = 0;
  std::vector<std::int32_t> first;
  std::vector<float> weight;
  AxisPeriod period;
};

/// Makes the taps of an axis with exact weights; reuses the vectors of `out`. Centres are
/// half-pixel. `nearest` takes floor((x + 0.5) * scale); a position within 1e-9 samples of a border
/// lies on it. With antialias, kernels widen when the axis shrinks, and lose their outer part at
/// the edges (PIL); without it, edge samples repeat (OpenCV). Bicubic has a = -0.5 with antialias
/// and a = -0.75 without, as PyTorch. `box` without antialias is `nearest`. `parts`: receives
/// VerticalWeights::parts where antialias_taps() serves the axis, output by output like the
/// weights; not for outputs that repeat others.
void make_taps(const AxisRequest& request, AxisTaps& out,
               std::vector<std::uint16_t>* parts = nullptr);

/// Whether each output is one sample: nearest, or box without antialias.
bool is_nearest(const AxisRequest& request) noexcept;
/// Whether each output lies between two neighbours, so that linear_taps() serves the axis.
bool is_between(const AxisRequest& request) noexcept;
/// The most samples of one output: AxisTaps::count.
std::int32_t max_taps(const AxisRequest& request) noexcept;
/// Whether antialias_taps() serves the axis.
bool is_antialias(const AxisRequest& request) noexcept;
/// Samples that an output reads to either side of its centre, plus a margin: windows that no edge
/// cuts lie within it.
double reach_of(const AxisRequest& request) noexcept;

/// For an axis that is_nearest(): writes the sample of each output x in [begin, end) to first[x].
void nearest_samples(const Positions& at, std::int32_t begin, std::int32_t end,
                     std::int32_t* first) noexcept;

}  // namespace halyard::image
