// SPDX-License-Identifier: Apache-2.0
// Filter taps along one axis: which samples make each output, and with which weights.
#pragma once

#include <cstdint>
#include <vector>

#include "halyard/image.h"
#include "image/cpu/resample/period.h"

namespace halyard::image {

/// One axis of one channel. Continuous coordinates in samples of the channel: sample i covers
/// [i, i+1). `begin` and `length` may be fractional for chroma.
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
/// Invariants: weights of an output sum to 1; lowest <= first[x]; first[x] + count <= highest.
struct AxisTaps {
  std::int32_t count = 0;
  std::vector<std::int32_t> first;
  std::vector<float> weight;
  AxisPeriod period;
};

/// Reuses the vectors of `out`. Exact weights: half-pixel centres; `nearest` takes
/// floor((x + 0.5) * scale), where what is within 1e-9 samples of a border lies on it; with
/// antialias kernels widen when shrinking and lose their outer part at the edges (PIL), without it
/// edge samples repeat (OpenCV). Bicubic has a = -0.5 with antialias and a = -0.75 without, as
/// PyTorch. `box` without antialias is `nearest`.
/// `parts`: gets those of VerticalWeights where triangles() serves the axis, output by output, as
/// the weights; not of outputs that repeat.
void make_taps(const AxisRequest& request, AxisTaps& out,
               std::vector<std::uint16_t>* parts = nullptr);

/// Whether each output is one sample: nearest, and box without antialias.
bool is_nearest(const AxisRequest& request) noexcept;
/// Whether each lies between two neighbours: linear_taps() serves it.
bool is_between(const AxisRequest& request) noexcept;
/// Most samples of an output: what AxisTaps count.
std::int32_t max_taps(const AxisRequest& request) noexcept;
/// Whether triangles() serves it.
bool is_antialias(const AxisRequest& request) noexcept;
/// Samples that an output sees to either side of its centre, and some more: windows that are cut by
/// no edge lie within.
double reach_of(const AxisRequest& request) noexcept;

/// Of a nearest axis: the sample of each output in [begin, end), to first[x].
void nearest_samples(const Positions& at, std::int32_t begin, std::int32_t end,
                     std::int32_t* first) noexcept;

}  // namespace halyard::image
