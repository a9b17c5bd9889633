// SPDX-License-Identifier: Apache-2.0
// Reader: reads rows of sources that are not plain bytes as rows of samples, before any filter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "image/cpu/cpu_program.h"
#include "image/cpu/resample/axes.h"
#include "image/plan.h"

namespace halyard::image {

/// Immutable. A format that channels.cpp cannot describe needs a Reader and nothing else.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Clears the state in the workspace.
  virtual void begin(std::byte* workspace) const noexcept = 0;
  /// Reads row `row` of the image, in the columns given to make_reader(): one row of samples per
  /// channel of the colour model, with spare samples. Fastest when rows are requested in order.
  virtual void read(const MappedImages& frame, std::int32_t row,
                    const std::array<std::int16_t*, 4>& out,
                    std::byte* workspace) const noexcept = 0;
};

/// Null for sources that are channels of bytes. `fraction`: fractional bits of the samples. May
/// throw std::bad_alloc.
std::unique_ptr<const Reader> make_reader(const Plan& plan, SampleRange columns, int fraction);

}  // namespace halyard::image
