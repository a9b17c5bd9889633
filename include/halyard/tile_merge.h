// SPDX-License-Identifier: Apache-2.0
// Tile merge: from what was found in the tiles of a frame to what is in the frame (SAHI).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/placement.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Extent of a frame in pixels, as a float: what fractions are taken of.
struct FrameSize {
  float width = 0;
  float height = 0;
  constexpr FrameSize() = default;
  constexpr FrameSize(float wide, float high) noexcept : width(wide), height(high) {}
  constexpr FrameSize(Size size) noexcept  // NOLINT(google-explicit-constructor)
      : width(static_cast<float>(size.width)), height(static_cast<float>(size.height)) {}
  friend bool operator==(const FrameSize&, const FrameSize&) = default;
};

/// Where the boxes that were found in one tile belong in its frame. A small value; reentrant.
struct TilePlacement {
  std::size_t index = 0;  ///< of the tile, as Tile::index
  std::size_t count = 0;  ///< of the frame's tiles, as Tile::count
  FrameSize frame;
  RegionF crop;            ///< the tile, in frame pixels
  Affine to_frame;         ///< from the units of the boxes to frame pixels
  bool is_clipped = true;  ///< boxes end where the tile ends

  /// Boxes in pixels of the network's input, as the decoder gives them; `placement` is what
  /// Processor::convert_tiles gave for the tile: its letterbox, flip and turn are undone.
  static TilePlacement of(std::size_t index, std::size_t count,
                          const Placement& placement) noexcept;
  /// Boxes in fractions of the network's input. `letterbox` is the part of the input that shows the
  /// tile, in fractions of it: x = crop.x + (v - x1) / (x2 - x1) * crop.width; an axis on which it
  /// has no extent counts as 1 long. Without one the tile fills the input.
  static TilePlacement of_fractions(std::size_t index, std::size_t count, FrameSize frame,
                                    const RegionF& crop,
                                    const std::optional<Box>& letterbox = std::nullopt) noexcept;
};

/// A box of the tile in frame pixels: mapped, made canonical, clipped to the tile. A box that lies
/// in the pad alone becomes empty, at the tile's edge; one that is not finite becomes NaN.
Box lift(const TilePlacement& tile, const Box& box) noexcept;
/// The same for every detection; scores, labels and order stay.
void lift(const TilePlacement& tile, std::span<Detection> detections) noexcept;

/// Boxes in frame pixels as fractions of the frame. Nothing is left of them when an extent of the
/// frame is not above 0 or not finite.
void to_fractions(FrameSize frame, std::vector<Detection>& detections) noexcept;

/// Intersection over the smaller box in [0, 1]; 0 when either is empty. 1 when one lies in the
/// other, as the part of an object that a tile cut off lies in the whole.
float ios(const Box& a, const Box& b) noexcept;

/// How alike two boxes are: their intersection by the smaller one's area, or by their union.
enum class MergeMetric : std::uint8_t { ios = 0, iou = 1 };

/// What becomes of a box and of those that it absorbs. Score, label and anchor are those of the
/// best one, always.
/// - keep_best: the best one's box. The same boxes survive as of greedy suppression.
/// - merge_union: the box around all of them. Each was measured against the best one's own box.
/// - grow: the same, but each, in their order, is measured once more against the box around those
///   before it; one that does not match that any more is absorbed without adding to it. GREEDYNMM
///   of SAHI.
/// With keep_best a merged list stays what it is when it is merged again. The boxes around several
/// may match one another, so with the others it need not.
enum class MergeStrategy : std::uint8_t { keep_best = 0, merge_union = 1, grow = 2 };

struct MergeOptions {
  MergeMetric metric = MergeMetric::ios;
  float threshold = 0.5F;  ///< [0, 1]; two boxes match when the metric >= threshold
  MergeStrategy strategy = MergeStrategy::keep_best;
  bool class_agnostic = false;       ///< boxes of different labels match too
  std::size_t max_detections = 300;  ///< most detections given; 0: all
  /// [0, 1]; a detection takes part when its score >= score_threshold. 0: no such limit.
  float score_threshold = 0;
};

/// Greedy non-maximum merging (Akyon et al., "Slicing aided hyper inference", 2022). The best
/// detection absorbs all others of its label that match it; the best of the rest does the same, and
/// so on. Best is: the higher score; of equal scores the larger area, so that a whole object wins
/// over a part of it; then the smaller x1, y1, x2, y2, label, anchor. So the result is one and the
/// same for every order of the input.
///
/// The metric is computed in double precision and compared as a float, so that a ratio of exactly
/// the threshold matches. Boxes that share no area never match, not even at threshold 0. Inverted
/// boxes are made canonical; detections whose score is NaN or whose box is not finite are dropped.
/// Empty boxes stay and match nothing. Best first.
///
/// Boxes alone are merged. What else belongs to them - masks, keypoints, oriented boxes - is found
/// through TileAccumulator::origins() and members(); masks are put together by merge_tile_masks()
/// of tile_mask.h.
///
/// n log n for n detections where a box overlaps few of those that stay. At worst, when all of them
/// cross and none matches, n * min(n, max_detections).
///
/// Errors: invalid_argument (threshold or score_threshold outside [0, 1] or NaN, an enumerator of
/// no name, more than 2^24 detections).
Result<std::vector<Detection>> merge_detections(std::span<const Detection> detections,
                                                const MergeOptions& options = {});

/// What became of a pushed tile. All but `accepted` change nothing.
enum class TilePush : std::uint8_t {
  accepted = 0,
  duplicate = 1,     ///< the tile was pushed before
  out_of_range = 2,  ///< its index is not below the count
  foreign = 3,       ///< its count or its frame is not that of the accumulator
  unusable = 4,      ///< its crop is empty, or a number of its crop or map is not finite
  full = 5,          ///< the frame would have more than 2^24 detections
};

/// Where a detection of the result was found.
struct TileOrigin {
  std::uint32_t tile = 0;       ///< TilePlacement::index
  std::uint32_t detection = 0;  ///< its place in the list that was pushed for the tile
  friend bool operator==(const TileOrigin&, const TileOrigin&) = default;
};

/// Collects the tiles of one frame, in any order, and merges them. What comes out does not depend
/// on the order: equal detections go by tile and place. Thread-bound. Once it has seen a frame it
/// needs no new memory for the next one of as many detections.
class TileAccumulator {
 public:
  /// For frames of `tiles` tiles; memory for detections_per_tile of each is taken at once. Errors:
  /// invalid_argument (tiles outside 1..65536, an extent of the frame not above 0 or not finite,
  /// detections_per_tile above 65536, options as for merge_detections).
  static Result<TileAccumulator> create(FrameSize frame, std::size_t tiles,
                                        const MergeOptions& options = {},
                                        std::size_t detections_per_tile = 16);
  TileAccumulator(TileAccumulator&&) noexcept;
  TileAccumulator& operator=(TileAccumulator&&) noexcept;
  ~TileAccumulator();

  /// Lifts the tile's detections, given in the units of `tile`, and keeps them.
  [[nodiscard]] TilePush push(const TilePlacement& tile, std::span<const Detection> detections);

  std::size_t remaining() const noexcept;  ///< tiles that are not there yet
  bool is_complete() const noexcept { return remaining() == 0; }

  /// Merges what is there, also when tiles are missing, and replaces `out`: boxes in frame pixels,
  /// or in fractions of the frame. May be called again, and between pushes.
  void finalize(std::vector<Detection>& out);
  void finalize_normalized(std::vector<Detection>& out);
  std::vector<Detection> finalize();

  /// Where the detections of the last finalize() were found, one each, in their order: with
  /// keep_best the detection itself, whose mask is that of its tile; else the best of those merged.
  /// Good until the next call that is not const.
  std::span<const TileOrigin> origins() const noexcept;

  /// What the box of detection `index` of the last finalize() is drawn around: its origin, then
  /// those that were added to it, best first. With keep_best the origin alone; none of an index
  /// that there is not. Good until the next call that is not const.
  std::span<const TileOrigin> members(std::size_t index) const noexcept;

  /// Forgets the frame and begins the next one, of the same size and tiles.
  void clear() noexcept;

  FrameSize frame() const noexcept;
  const MergeOptions& options() const noexcept;

 private:
  struct Impl;
  explicit TileAccumulator(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
