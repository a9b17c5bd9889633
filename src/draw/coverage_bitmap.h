// SPDX-License-Identifier: Apache-2.0
// CoverageBitmap: the coverage of a shape that is drawn many times, as a glyph or a corner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace halyard::draw {

/// Tight rows of coverage 0..255. Devices keep copies, which they find by the id.
struct CoverageBitmap {
  std::uint64_t id = 0;  ///< unique in the process
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> bytes;
};

/// Zeros, with a new id. May throw std::bad_alloc. Thread-safe.
std::shared_ptr<CoverageBitmap> make_coverage_bitmap(int width, int height);

}  // namespace halyard::draw
