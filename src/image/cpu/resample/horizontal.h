// SPDX-License-Identifier: Apache-2.0
// Makes the tables of the horizontal pass from exact taps.
#pragma once

#include <cstdint>

#include "image/cpu/kernels/resample/horizontal.h"
#include "image/cpu/resample/taps.h"

namespace halyard::image {

/// Describes the rows that a table must serve.
struct HorizontalUse {
  std::int32_t begin = 0;    ///< the sample that rows begin with
  std::int32_t samples = 0;  ///< of one row
  std::int32_t few = 16;     ///< outputs with more taps have fine weights
  bool of_bytes = true;      ///< must serve rows of bytes too, where a table can
  bool of_samples = true;    ///< false: not needed where the table serves rows of bytes
  friend bool operator==(const HorizontalUse&, const HorizontalUse&) = default;
};

/// Makes a table for the instruction set in use.
HorizontalTable make_horizontal(const AxisRequest& axis, const HorizontalUse& use);
HorizontalTable make_horizontal(const AxisTaps& taps, const HorizontalUse& use);

}  // namespace halyard::image
