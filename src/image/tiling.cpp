// SPDX-License-Identifier: Apache-2.0
// Plans the tiles of a frame, axis by axis.
#include "halyard/tiling.h"

#include <algorithm>
#include <cmath>

#include "base/text/format_error.h"

namespace halyard {
namespace {

/// More tiles are a mistake, not a network's input.
constexpr std::int64_t max_tiles = 1 << 16;

struct Axis {
  std::int32_t extent = 0;  ///< of a tile
  std::int32_t room = 0;    ///< where the last tile begins
  std::int64_t steps = 0;

  std::int64_t count() const noexcept { return steps + 1; }
  std::int32_t begin(std::int64_t index) const noexcept {
    if (steps == 0) return 0;
    const float begin =
        static_cast<float>(index) * static_cast<float>(room) / static_cast<float>(steps);
    // For frames beyond 2^24 pixels, single precision could pass the edge.
    return std::min(static_cast<std::int32_t>(std::lround(begin)), room);
  }
};

Axis axis_of(std::int32_t frame, std::int32_t tile, double overlap) noexcept {
  if (frame <= tile) return {frame, 0, 0};
  const std::int32_t room = frame - tile;
  const double step = std::max(1.0, std::floor((1 - overlap) * tile));
  return {tile, room, static_cast<std::int64_t>(std::ceil(room / step))};
}

}  // namespace

Result<std::vector<Tile>> plan_tiles(Size frame, const TileOptions& options) {
  if (frame.width < 1 || frame.height < 1)
    return fail(Errc::invalid_argument, "frame: must be at least 1x1", "{}x{}", frame.width,
                frame.height);
  if (options.size.width < 1 || options.size.height < 1)
    return fail(Errc::invalid_argument, "size: must be at least 1x1", "{}x{}", options.size.width,
                options.size.height);
  if (!(options.overlap >= 0 && options.overlap < 1))
    return fail(Errc::invalid_argument, "overlap: must be in [0, 1)", "{}", options.overlap);
  const Axis x = axis_of(frame.width, options.size.width, options.overlap);
  const Axis y = axis_of(frame.height, options.size.height, options.overlap);
  if (x.count() > max_tiles / y.count()) {
    return fail(Errc::invalid_argument, "size: too small, it makes more than 65536 tiles",
                "{} x {} tiles", x.count(), y.count());
  }
  std::vector<Tile> tiles;
  const auto count = static_cast<std::size_t>(x.count() * y.count());
  tiles.reserve(count);
  for (std::int64_t row = 0; row < y.count(); ++row) {
    for (std::int64_t column = 0; column < x.count(); ++column)
      tiles.push_back(
          {tiles.size(), count, {x.begin(column), y.begin(row), x.extent, y.extent}, frame});
  }
  return tiles;
}

}  // namespace halyard
