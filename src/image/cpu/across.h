// SPDX-License-Identifier: Apache-2.0
// From exact taps to the fixed-point tables of the row kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "image/cpu/kernels.h"
#include "image/cpu/taps.h"

namespace halyard::image {

/// Taps along a row of `samples` that starts with sample `begin`. Weights must not be negative.
void make_across(const AxisTaps& taps, std::int32_t begin, std::int32_t samples, AcrossTable& out);

/// Source rows of each output row: rows first .. first + count - 1 with weights[at ...] that sum to
/// 2^15; a single row has none. Outputs made of the same rows and weights share an id.
struct DownTable {
  struct Row {
    std::int32_t first = 0;
    std::int32_t count = 1;
    std::size_t at = 0;
    std::int32_t id = 0;
  };
  std::vector<Row> rows;
  std::vector<std::int16_t> weights;
};
void make_down(const AxisTaps& taps, DownTable& out);

}  // namespace halyard::image
