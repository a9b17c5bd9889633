// SPDX-License-Identifier: Apache-2.0
// Which detections are merged: checks, admission and the measure of overlap.
#pragma once

#include "decode/tile/tile_merge.h"

namespace halyard::decode {

Status check_merge_options(const MergeOptions& options);

bool is_finite(const Box& box) noexcept;

/// Whether the detection takes part. Makes its box canonical, and -0 to 0.
bool admit(Detection& detection, const MergeOptions& options) noexcept;

/// 0 for empty and inverted boxes. Finite for all finite floats.
double area_of(const Box& box) noexcept;

/// The metric of two boxes of these areas; 0 when they share none.
float measure(MergeMetric metric, const Box& a, double area_a, const Box& b,
              double area_b) noexcept;

}  // namespace halyard::decode
