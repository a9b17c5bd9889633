// SPDX-License-Identifier: Apache-2.0
// Tiles of large frames in C: grids, batches of tiles, merging of the results of tiles.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/decode.h"
#include "halyard/c/image.h"

HAL_BEGIN

// The measure by which two boxes match: the intersection over their union, or over the smaller one.
enum hal_match_metric HAL_ENUM_INT {
  HAL_MATCH_METRIC_IOU = 0,
  HAL_MATCH_METRIC_IOS = 1,
};
typedef enum hal_match_metric hal_match_metric;

struct hal_tiling_config {
  size_t tile_w;
  size_t tile_h;
  float overlap_ratio;  // [0, 1)
  uint8_t pad[4];       // R, G, B, A
  int fit;              // HAL_FIT_*
};
typedef struct hal_tiling_config hal_tiling_config;

struct hal_merge_config {
  int metric;           // hal_match_metric
  float threshold;      // boxes match if the metric >= threshold
  bool class_agnostic;  // boxes of different labels match too
  size_t max_det;       // maximum of boxes returned
  float score_threshold;
};
typedef struct hal_merge_config hal_merge_config;

// The place of a tile in its frame, in frame pixels. `letterbox`: the part of the network's input
// that shows the tile, as fractions: left, top, right, bottom.
struct hal_tile_placement {
  size_t index;
  size_t count;
  float origin_x;
  float origin_y;
  float crop_w;
  float crop_h;
  float frame_w;
  float frame_h;
  bool has_letterbox;
  float letterbox[4];
};
typedef struct hal_tile_placement hal_tile_placement;

struct hal_tile_spec {
  hal_region source;  // in frame pixels
  size_t index;
  size_t row;
  size_t col;
};
typedef struct hal_tile_spec hal_tile_spec;

typedef struct hal_tile_spec_list hal_tile_spec_list;
typedef struct hal_tile_placement_list hal_tile_placement_list;
typedef struct hal_tiled_frame_accumulator hal_tiled_frame_accumulator;

/// Overlap 0.2, HAL_FIT_STRETCH, pad 114, 114, 114, 255.
hal_tiling_config hal_tiling_config_default(size_t tile_w, size_t tile_h);
/// IOS, 0.5, boxes of one label, at most 300, no minimum score.
hal_merge_config hal_merge_config_default(void);

/// The tiles of a frame, ordered by rows; the last one is flush with the edge. Height is the first
/// argument. errno: EINVAL (a size of 0, overlap outside [0, 1), more than 65536 tiles), ENOMEM.
hal_tile_spec_list* hal_tile_grid(size_t frame_h, size_t frame_w, size_t tile_h, size_t tile_w,
                                  float overlap_ratio);
size_t hal_tile_spec_list_len(const hal_tile_spec_list* list);  ///< NULL: 0
/// errno: EINVAL (NULL, index beyond the end).
int hal_tile_spec_list_get(const hal_tile_spec_list* list, size_t index, hal_tile_spec* out);
void hal_tile_spec_list_free(hal_tile_spec_list* list);

/// Allocates an image of tile_w x (n * tile_h): tile i begins at row i * tile_h. errno: EINVAL,
/// ENOMEM, ENOTSUP, EACCES.
hal_tensor* hal_image_processor_alloc_tile_batch(hal_image_processor* processor, size_t n,
                                                 const hal_tiling_config* config,
                                                 hal_pixel_format format, hal_dtype dtype,
                                                 hal_tensor_memory memory, HalCpuAccess access);
/// Computes the placements; reads no pixels. errno: EINVAL, ENOMEM.
hal_tile_placement_list* hal_image_processor_plan_tiles(hal_image_processor* processor,
                                                        size_t src_w, size_t src_h,
                                                        const hal_tiling_config* config);
/// Renders every tile of `src` into `dst`. errno: EINVAL (also: not images, dst narrower than a
/// tile or too short, shared bytes), ENOTSUP (a pair of formats), ENOMEM.
hal_tile_placement_list* hal_image_processor_tile_into(hal_image_processor* processor,
                                                       const hal_tensor* src, hal_tensor* dst,
                                                       const hal_tiling_config* config);
/// Renders one tile into an image of the tile's size. errno: as above; EINVAL also for placements
/// that are not whole pixels inside `src`.
int hal_image_processor_tile_one(hal_image_processor* processor, const hal_tensor* src,
                                 hal_tensor* dst, const hal_tile_placement* placement,
                                 const hal_tiling_config* config);
size_t hal_tile_placement_list_len(const hal_tile_placement_list* list);  ///< NULL: 0
/// errno: EINVAL (NULL, index beyond the end).
int hal_tile_placement_list_get(const hal_tile_placement_list* list, size_t index,
                                hal_tile_placement* out);
void hal_tile_placement_list_free(hal_tile_placement_list* list);

/// Maps boxes in fractions of the network's input to frame pixels. `boxes` NULL: an empty list.
/// errno: EINVAL (placement NULL), ENOMEM.
hal_detect_box_list* hal_lift_tile_boxes(const hal_detect_box_list* boxes,
                                         const hal_tile_placement* placement);
/// Merges boxes that match: the box around them, with the best score and its label. `boxes` NULL:
/// an empty list. errno: EINVAL (config NULL, no such metric, NaN), ENOMEM.
hal_detect_box_list* hal_merge_tiled_detections(const hal_detect_box_list* boxes,
                                                const hal_merge_config* config);

/// Collects the tiles of one frame. `est_per_tile`: expected number of boxes of each. errno: EINVAL
/// (config, more than 65536 tiles), ENOMEM.
hal_tiled_frame_accumulator* hal_tiled_frame_accumulator_new(float frame_w, float frame_h,
                                                             size_t tiles_total,
                                                             const hal_merge_config* config,
                                                             size_t est_per_tile);
/// Lifts and keeps the boxes of a tile; NULL: it has none. Returns 1 if the tile is added, 0 if it
/// was added before or is not one of these tiles. errno: EINVAL, ENOMEM.
int hal_tiled_frame_accumulator_push_tile(hal_tiled_frame_accumulator* accumulator,
                                          const hal_detect_box_list* boxes,
                                          const hal_tile_placement* placement);
bool hal_tiled_frame_accumulator_is_complete(
    const hal_tiled_frame_accumulator* accumulator);  ///< NULL: false
size_t hal_tiled_frame_accumulator_remaining(
    const hal_tiled_frame_accumulator* accumulator);  ///< NULL: 0
/// Merges the boxes of all tiles that were added: in frame pixels, or in fractions of the frame.
/// Always frees the accumulator, also on failure. errno: EINVAL (NULL), ENOMEM.
hal_detect_box_list* hal_tiled_frame_accumulator_finalize(hal_tiled_frame_accumulator* accumulator);
hal_detect_box_list* hal_tiled_frame_accumulator_finalize_normalized(
    hal_tiled_frame_accumulator* accumulator);
/// For an accumulator that has not been finalized.
void hal_tiled_frame_accumulator_free(hal_tiled_frame_accumulator* accumulator);

HAL_END
