// SPDX-License-Identifier: Apache-2.0
// From exact taps to the tables of the kernels that resample rows.
#pragma once

#include <cstdint>

#include "image/cpu/kernels/resample/horizontal.h"
#include "image/cpu/resample/taps.h"

namespace halyard::image {

/// What rows a table shall serve.
struct HorizontalUse {
  std::int32_t begin = 0;    ///< the sample that rows start with
  std::int32_t samples = 0;  ///< of a row
  std::int32_t few = 16;     ///< more taps have fine weights
  bool of_bytes = true;      ///< rows of bytes, too, where a table can
  bool of_samples = true;    ///< false: no need to, where it serves rows of bytes
  friend bool operator==(const HorizontalUse&, const HorizontalUse&) = default;
};

/// For the instruction set that is in use.
HorizontalTable make_horizontal(const AxisRequest& axis, const HorizontalUse& use);
HorizontalTable make_horizontal(const AxisTaps& taps, const HorizontalUse& use);

}  // namespace halyard::image
