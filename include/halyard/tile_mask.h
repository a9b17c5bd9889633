// SPDX-License-Identifier: Apache-2.0
// Masks of tiles: what was found in the tiles of a frame, put together in the frame.
#pragma once

#include <span>

#include "halyard/export.h"
#include "halyard/mask.h"
#include "halyard/rle.h"
#include "halyard/tile_merge.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The masks of one tile, borrowed. Mask i is that of detection i of the list that was pushed for
/// the tile: materialize() with MaskOptions::size the tile's own and the letterbox in `content`.
struct TileMasks {
  const MaskSet* masks = nullptr;  ///< masks->frame() is the size of `region`
  Region region;                   ///< the tile, in frame pixels: Tile::region
};

/// The mask in the frame of one detection of a merge: all pixels that the masks of its members have
/// (TileAccumulator::members()). With keep_best that is the best one's mask; what a tile's edge cut
/// off is missing, as it is from its box. With merge_union and grow it is the union of their masks:
/// each lies in its own box, so the union lies in the merged one.
///
/// `tiles[t]` belongs to tile t of the accumulator; those that no member names may be empty. Pixels
/// that are not 0 count as set. Reentrant.
///
/// Errors: invalid_argument (no members, a tile or mask that there is not, masks of another size
/// than their tile, a tile that reaches out of the frame, a frame of no or too many pixels).
Status merge_tile_masks(std::span<const TileOrigin> members, std::span<const TileMasks> tiles,
                        Size frame, Rle& out);

}  // namespace halyard
HALYARD_EXPORTS_END
