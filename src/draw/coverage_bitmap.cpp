// SPDX-License-Identifier: Apache-2.0
#include "draw/coverage_bitmap.h"

#include <atomic>

namespace halyard::draw {

std::shared_ptr<CoverageBitmap> make_coverage_bitmap(int width, int height) {
  static std::atomic<std::uint64_t> last{0};
  auto out = std::make_shared<CoverageBitmap>();
  out->id = ++last;
  out->width = width;
  out->height = height;
  out->bytes.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  return out;
}

}  // namespace halyard::draw
