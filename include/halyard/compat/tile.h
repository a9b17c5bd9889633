// SPDX-License-Identifier: Apache-2.0
// Tiles for programs that were written for EdgeFirst HAL: grids, batches of tiles, merging of
// results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/image.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/tile_merge.h"

HALYARD_EXPORTS_BEGIN
namespace halyard::compat {

/// One tile of a frame; tiles are ordered by rows.
struct TileSpec {
  Region source;  ///< in frame pixels
  std::size_t index = 0;
  std::size_t row = 0;
  std::size_t col = 0;
};

/// plan_tiles() of halyard/tiling.h with rows and columns. Errors: the same.
Result<std::vector<TileSpec>> tile_grid(Size frame, Size tile, float overlap);

struct TilingConfig {
  Size tile;               ///< size of the network's input, in pixels
  float overlap = 0.2F;    ///< [0, 1)
  Fit fit = Fit::stretch;  ///< stretch or letterbox, for frames that are smaller than a tile
  std::array<std::uint8_t, 4> pad{114, 114, 114, 255};  ///< R, G, B, A
};

/// The place of a tile in its frame, in frame pixels.
struct TilePlacement {
  std::size_t index = 0;
  std::size_t count = 0;
  std::array<float, 2> origin{};     ///< x, y
  std::array<float, 2> crop_size{};  ///< width, height
  std::array<float, 2> frame_dims{};
  /// The part of the network's input that shows the tile: fractions, left, top, right, bottom.
  std::optional<std::array<float, 4>> letterbox = {};
  friend bool operator==(const TilePlacement&, const TilePlacement&) = default;
};

/// Computes the placements; reads no pixels. Errors: invalid_argument.
Result<std::vector<TilePlacement>> plan_tiles(Size frame, const TilingConfig& config);
/// Allocates an image of tile width x (count x tile height). Errors: invalid_argument, those of
/// Tensor::create_image().
Result<Tensor> alloc_tile_batch(std::size_t count, const TilingConfig& config, PixelFormat format,
                                const ImageOptions& options = {});
/// Renders every tile of `source` into `batch`, from the top down. Errors: invalid_argument (the
/// batch is narrower or shorter than the tiles), those of Processor::convert().
Result<std::vector<TilePlacement>> tile_into(Processor& processor, const Tensor& source,
                                             const Tensor& batch, const TilingConfig& config);
/// Renders one tile into an image of the tile's size. Errors: invalid_argument (numbers of the
/// placement that are not finite, negative, fractions of a pixel or outside the source).
Status tile_one(Processor& processor, const Tensor& source, const Tensor& slot,
                const TilePlacement& placement, const TilingConfig& config);

/// Maps boxes in fractions of the network's input to frame pixels; undoes the letterbox.
void lift_tile_boxes(std::span<const Detection> boxes, const TilePlacement& placement,
                     std::vector<Detection>& out);

struct MergeConfig {
  MergeMetric metric = MergeMetric::ios;
  float threshold = 0.5F;  ///< boxes match when the metric >= threshold
  bool class_agnostic = false;
  std::size_t max_det = 300;  ///< 0: none
  float score_threshold = 0;
};

/// merge_detections() with MergeStrategy::merge_union: boxes that match become the box around all
/// of them, with the best score and its label. Errors: invalid_argument (NaN; more than 2^24
/// boxes).
Result<std::vector<Detection>> merge_tiled_detections(std::span<const Detection> boxes,
                                                      const MergeConfig& config);

/// Collects the tiles of one frame and merges them. Move-only; one thread at a time.
class TileAccumulator {
 public:
  /// Errors: invalid_argument (more than 65536 tiles; a config as above). Extents of the frame
  /// that are not above 0 are accepted: then finalize_normalized() returns an empty list.
  static Result<TileAccumulator> create(std::array<float, 2> frame_dims, std::size_t tiles_total,
                                        const MergeConfig& config, std::size_t est_per_tile = 16);
  TileAccumulator(TileAccumulator&&) noexcept;
  TileAccumulator& operator=(TileAccumulator&&) noexcept;
  ~TileAccumulator();

  /// False: the tile was added before, or is not one of these tiles; then nothing changes.
  bool push_tile(std::span<const Detection> boxes, const TilePlacement& placement);
  std::size_t remaining() const noexcept;
  bool is_complete() const noexcept { return remaining() == 0; }
  /// Merges what was added, also when tiles are missing: in frame pixels, or in fractions of the
  /// frame.
  std::vector<Detection> finalize() const;
  std::vector<Detection> finalize_normalized() const;

 private:
  struct Impl;
  explicit TileAccumulator(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard::compat
HALYARD_EXPORTS_END
