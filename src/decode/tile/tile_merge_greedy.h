// SPDX-License-Identifier: Apache-2.0
// Rules of merging: checks of options, admission of detections, and the measure of overlap.
#pragma once

#include "decode/tile/tile_merge.h"

namespace halyard::decode {

Status check_merge_options(const MergeOptions& options);

bool is_finite(const Box& box) noexcept;

/// Whether the detection takes part. Sorts the corners of its box and replaces -0 by 0.
bool admit(Detection& detection, const MergeOptions& options) noexcept;

/// 0 for empty and inverted boxes. Finite for all finite coordinates.
double area_of(const Box& box) noexcept;

/// The metric for two boxes with these areas. 0 if they share no area.
float measure(MergeMetric metric, const Box& a, double area_a, const Box& b,
              double area_b) noexcept;

}  // namespace halyard::decode
