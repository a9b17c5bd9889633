// SPDX-License-Identifier: Apache-2.0
// Tile merge: turns the detections of a frame's tiles into detections of the frame (SAHI).
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

/// Extent of a frame in pixels, as floats. Fractions are relative to it.
struct FrameSize {
  float width = 0;
  float height = 0;
  constexpr FrameSize() = default;
  constexpr FrameSize(float wide, float high) noexcept : width(wide), height(high) {}
  constexpr FrameSize(Size size) noexcept  // NOLINT(google-explicit-constructor)
      : width(static_cast<float>(size.width)), height(static_cast<float>(size.height)) {}
  friend bool operator==(const FrameSize&, const FrameSize&) = default;
};

/// The map from the boxes of one tile to its frame. A small value; reentrant.
struct TilePlacement {
  std::size_t index = 0;  ///< of the tile, as Tile::index
  std::size_t count = 0;  ///< of the frame's tiles, as Tile::count
  FrameSize frame;
  RegionF crop;            ///< the tile, in frame pixels
  Affine to_frame;         ///< from the units of the boxes to frame pixels
  bool is_clipped = true;  ///< boxes are clipped to the tile

  /// For boxes in pixels of the network's input, as the decoder returns them. `placement` is the
  /// one that Processor::convert_tiles returned for the tile; its letterbox, flip and rotation are
  /// undone.
  static TilePlacement of(std::size_t index, std::size_t count,
                          const Placement& placement) noexcept;
  /// For boxes in fractions of the network's input. `letterbox` is the part of the input that shows
  /// the tile, in fractions: x = crop.x + (v - x1) / (x2 - x1) * crop.width. An axis on which it
  /// has no extent counts as 1 long. Without `letterbox` the tile fills the input.
  static TilePlacement of_fractions(std::size_t index, std::size_t count, FrameSize frame,
                                    const RegionF& crop,
                                    const std::optional<Box>& letterbox = std::nullopt) noexcept;
};

/// Returns a box of the tile in frame pixels: mapped, made canonical, clipped to the tile. A box
/// that lies only in the pad becomes empty, at the tile's edge; one that is not finite becomes NaN.
Box lift(const TilePlacement& tile, const Box& box) noexcept;
/// As above for every detection; scores, labels and order stay.
void lift(const TilePlacement& tile, std::span<Detection> detections) noexcept;

/// Turns boxes in frame pixels into fractions of the frame. Removes all detections if an extent of
/// the frame is not finite or not above 0.
void to_fractions(FrameSize frame, std::vector<Detection>& detections) noexcept;

/// The similarity of two boxes: ios(), or their intersection over their union. Both are computed in
/// double.
enum class MergeMetric : std::uint8_t { ios = 0, iou = 1 };

/// The box of a detection that absorbs others. Score, label and anchor are always those of the best
/// one.
/// - keep_best: the best one's box. The same boxes survive as with greedy suppression.
/// - merge_union: the box around all of them. Each was compared with the best one's own box.
/// - grow: as merge_union, but each box, in order, is compared again with the box around those
///   before it. A box that no longer matches is absorbed, but does not enlarge the box. GREEDYNMM
///   of SAHI.
/// With keep_best, merging the result again does not change it. With the others it may, because
/// merged boxes may match one another.
enum class MergeStrategy : std::uint8_t { keep_best = 0, merge_union = 1, grow = 2 };

struct MergeOptions {
  MergeMetric metric = MergeMetric::ios;
  float threshold = 0.5F;  ///< [0, 1]; two boxes match when the metric >= threshold
  MergeStrategy strategy = MergeStrategy::keep_best;
  bool class_agnostic = false;       ///< boxes of different labels match too
  std::size_t max_detections = 300;  ///< maximum of detections returned; 0: all
  /// [0, 1]; a detection takes part when its score >= score_threshold. 0: no such limit.
  float score_threshold = 0;
};

/// Greedy non-maximum merging (Akyon et al., "Slicing aided hyper inference", 2022). The best
/// detection absorbs all others of its label that match it; then the best of the rest does the
/// same, and so on. The best one has the higher score; of equal scores the larger area, so that a
/// whole object wins over its part; then the smaller x1, y1, x2, y2, label, anchor. So the result
/// does not depend on the order of the input.
///
/// The metric is computed in double precision and compared as a float, so that a ratio of exactly
/// the threshold matches. Boxes that share no area never match, not even at threshold 0. Inverted
/// boxes are made canonical; detections whose score is NaN or whose box is not finite are dropped.
/// Empty boxes stay and match nothing. The result is sorted, best first.
///
/// Only boxes are merged. TileAccumulator::origins() and members() lead to the other results, such
/// as masks, keypoints and rotated boxes; merge_tile_masks() of tile_mask.h merges masks.
///
/// Time: n log n for n detections if each box overlaps few of those that stay. In the worst case,
/// where all overlap and none matches, n * min(n, max_detections).
///
/// Errors: invalid_argument (threshold or score_threshold outside [0, 1] or NaN, a value that is
/// not an enumerator, more than 2^24 detections).
Result<std::vector<Detection>> merge_detections(std::span<const Detection> detections,
                                                const MergeOptions& options = {});

/// The result of pushing a tile. All but `accepted` change nothing.
enum class TilePush : std::uint8_t {
  accepted = 0,
  duplicate = 1,     ///< the tile was pushed before
  out_of_range = 2,  ///< its index is not below the count
  foreign = 3,       ///< its count or its frame differs from the accumulator's
  unusable = 4,      ///< its crop is empty, or a number of its crop or map is not finite
  full = 5,          ///< the frame would have more than 2^24 detections
};

/// Where a detection of the result was found.
struct TileOrigin {
  std::uint32_t tile = 0;       ///< TilePlacement::index
  std::uint32_t detection = 0;  ///< index in the list that was pushed for the tile
  friend bool operator==(const TileOrigin&, const TileOrigin&) = default;
};

/// Collects the tiles of one frame, in any order, and merges them. The result does not depend on
/// the order: equal detections are ordered by tile and index. Thread-bound. After one frame it
/// needs no new memory for another with as many detections.
class TileAccumulator {
 public:
  /// For frames of `tiles` tiles; allocates memory for detections_per_tile of each at once. Errors:
  /// invalid_argument (tiles outside 1..65536, an extent of the frame that is not finite or not
  /// above 0, detections_per_tile above 65536, options as for merge_detections).
  static Result<TileAccumulator> create(FrameSize frame, std::size_t tiles,
                                        const MergeOptions& options = {},
                                        std::size_t detections_per_tile = 16);
  TileAccumulator(TileAccumulator&&) noexcept;
  TileAccumulator& operator=(TileAccumulator&&) noexcept;
  ~TileAccumulator();

  /// Lifts the tile's detections, which are in the units of `tile`, and keeps them.
  [[nodiscard]] TilePush push(const TilePlacement& tile, std::span<const Detection> detections);

  std::size_t remaining() const noexcept;  ///< tiles that were not pushed yet
  bool is_complete() const noexcept { return remaining() == 0; }

  /// Merges what was pushed, also when tiles are missing, and replaces `out`: boxes in frame
  /// pixels, or in fractions of the frame. May be called again, and between pushes.
  void finalize(std::vector<Detection>& out);
  void finalize_normalized(std::vector<Detection>& out);
  std::vector<Detection> finalize();

  /// The origin of each detection of the last finalize(), in the same order. With keep_best it is
  /// the detection itself, whose mask is that of its tile; else the best one of those merged. Valid
  /// until the next non-const call.
  std::span<const TileOrigin> origins() const noexcept;

  /// The detections that the box of detection `index` of the last finalize() encloses: its origin,
  /// then those that were merged into it, best first. With keep_best only the origin. Empty if
  /// `index` is out of range. Valid until the next non-const call.
  std::span<const TileOrigin> members(std::size_t index) const noexcept;

  /// Forgets the frame and begins another one of the same size and tiles.
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
