// SPDX-License-Identifier: Apache-2.0
// Moves masks of tiles to the position of their tile and unites them.
#include "halyard/tile_mask.h"

#include <vector>

#include "base/text/format_error.h"

namespace halyard {
namespace {

Status check_tile(const TileOrigin& member, std::span<const TileMasks> tiles, Size frame) {
  if (member.tile >= tiles.size() || tiles[member.tile].masks == nullptr) {
    return fail(Errc::invalid_argument, "tiles: a member's tile has no masks", "tile {} of {}",
                member.tile, tiles.size());
  }
  const MaskSet& masks = *tiles[member.tile].masks;
  const Region& region = tiles[member.tile].region;
  if (member.detection >= masks.size()) {
    return fail(Errc::invalid_argument, "tiles: a member has no mask", "mask {} of {} of tile {}",
                member.detection, masks.size(), member.tile);
  }
  if (masks.frame() != Size{region.width, region.height}) {
    return fail(Errc::invalid_argument, "tiles: masks must have the size of their tile",
                "{}x{}, tile {} has {}x{}", masks.frame().width, masks.frame().height, member.tile,
                region.width, region.height);
  }
  if (region.x < 0 || region.y < 0 || region.width > frame.width - region.x ||
      region.height > frame.height - region.y) {
    return fail(Errc::invalid_argument, "tiles: must lie in the frame",
                "tile {} at {},{} of {}x{} in {}x{}", member.tile, region.x, region.y, region.width,
                region.height, frame.width, frame.height);
  }
  return {};
}

}  // namespace

Status merge_tile_masks(std::span<const TileOrigin> members, std::span<const TileMasks> tiles,
                        Size frame, Rle& out) {
  if (members.empty()) return fail(Errc::invalid_argument, "members: must not be empty");
  std::vector<Rle> masks;
  for (const TileOrigin& member : members) {
    HALYARD_RETURN_IF_ERROR(check_tile(member, tiles, frame));
    const TileMasks& tile = tiles[member.tile];
    MaskView mask = (*tile.masks)[member.detection];
    mask.region.x += tile.region.x;
    mask.region.y += tile.region.y;
    HALYARD_RETURN_IF_ERROR(rle_encode(mask, frame, masks.emplace_back()));
  }
  HALYARD_TRY(out, rle_merge(masks));
  return {};
}

}  // namespace halyard
