// SPDX-License-Identifier: Apache-2.0
// Masks of tiles: merges the masks found in the tiles of a frame into masks of the frame.
#pragma once

#include <span>

#include "halyard/export.h"
#include "halyard/mask.h"
#include "halyard/rle.h"
#include "halyard/tile_merge.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The masks of one tile, borrowed. Mask i belongs to detection i of the list that was pushed for
/// the tile. Make them by materialize() with the tile's size in MaskOptions::size and the letterbox
/// in `content`.
struct TileMasks {
  const MaskSet* masks = nullptr;  ///< masks->frame() is the size of `region`
  Region region;                   ///< the tile, in frame pixels: Tile::region
};

/// Makes the mask, in the frame, of one detection of a merge: all pixels that are set in the masks
/// of its members (TileAccumulator::members()). With keep_best that is the mask of the best one;
/// parts that the tile's edge cut off are missing, as they are from its box. With merge_union and
/// grow it is the union of their masks: each mask lies in its own box, so the union lies in the
/// merged box.
///
/// `tiles[t]` belongs to tile t of the accumulator; tiles that no member names may be empty. Pixels
/// that are not 0 count as set. Reentrant.
///
/// Errors: invalid_argument (no members, a tile or mask that does not exist, masks whose size
/// differs from their tile's, a tile that reaches out of the frame, a frame without pixels or with
/// too many).
Status merge_tile_masks(std::span<const TileOrigin> members, std::span<const TileMasks> tiles,
                        Size frame, Rle& out);

}  // namespace halyard
HALYARD_EXPORTS_END
