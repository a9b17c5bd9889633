// SPDX-License-Identifier: Apache-2.0
// Tiling: overlapping tiles of a large frame, for networks with a small input (SAHI).
#pragma once

#include <cstddef>
#include <vector>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

struct TileOptions {
  Size size{640, 640};
  double overlap = 0.2;  ///< minimum share of a tile that its neighbour covers too, in [0, 1)
};

/// One tile of a frame. Tiles are ordered by rows. All have the requested size, except along an
/// axis on which the frame is smaller.
struct Tile {
  std::size_t index = 0;
  std::size_t count = 0;  ///< of the frame's tiles
  Region region;          ///< in frame pixels
  Size frame;
};

/// Tiles that cover the frame, evenly spread, with the last one flush with the edge. Along an axis
/// of length L with tiles of length T: one tile at 0 if L <= T; else n = ceil((L - T) / max(1,
/// floor((1 - overlap) T))) steps, with tile i at round(i (L - T) / n) in single precision (Akyon
/// et al., "Slicing aided hyper inference", 2022, but evenly spread). Beyond 2^24 a product is
/// rounded to a float before the division, so tiles of such frames may be one pixel beside the
/// exact place. Errors: invalid_argument (a size below 1, overlap outside [0, 1) or not a number,
/// more than 65536 tiles).
Result<std::vector<Tile>> plan_tiles(Size frame, const TileOptions& options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
