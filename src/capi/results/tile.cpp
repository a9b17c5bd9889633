// SPDX-License-Identifier: Apache-2.0
// Tiles in C.
#include <memory>
#include <utility>

#include "capi/error.h"
#include "capi/lists.h"

struct hal_tile_spec_list {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("spcl");
  halyard::capi::Tag tag{kind};
  std::vector<halyard::compat::TileSpec> tiles = {};
};

struct hal_tile_placement_list {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("plcl");
  halyard::capi::Tag tag{kind};
  std::vector<halyard::compat::TilePlacement> tiles = {};
};

struct hal_tiled_frame_accumulator {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("accu");
  halyard::capi::Tag tag{kind};
  halyard::compat::TileAccumulator accumulator;
};

using namespace halyard;
using capi::checked;
using capi::guarded;
using capi::is_valid;

namespace {

Result<Size> size_from(std::size_t width, std::size_t height) {
  Size size;
  HALYARD_TRY(size.width, capi::pixels_from(width, "width"));
  HALYARD_TRY(size.height, capi::pixels_from(height, "height"));
  return size;
}

Result<compat::TilingConfig> config_from(const hal_tiling_config* config) {
  if (config == nullptr) return capi::null_argument("config: is NULL");
  HALYARD_RETURN_IF_ERROR(capi::aligned(config, "config"));
  compat::TilingConfig out;
  HALYARD_TRY(out.tile, size_from(config->tile_w, config->tile_h));
  out.overlap = config->overlap_ratio;
  HALYARD_TRY(out.fit,
              capi::fit_from(config->fit, "config: fit must be HAL_FIT_STRETCH or _LETTERBOX"));
  std::copy_n(config->pad, 4, out.pad.begin());
  return out;
}

Result<compat::MergeConfig> merge_from(const hal_merge_config* config) {
  if (config == nullptr) return capi::null_argument("config: is NULL");
  HALYARD_RETURN_IF_ERROR(capi::aligned(config, "config"));
  HALYARD_TRY(const auto metric,
              capi::enumerator<hal_match_metric>(
                  config->metric, "config: metric must be a value of hal_match_metric"));
  compat::MergeConfig out;
  out.metric = metric == HAL_MATCH_METRIC_IOS ? MergeMetric::ios : MergeMetric::iou;
  out.threshold = config->threshold;
  out.class_agnostic = config->class_agnostic;
  out.max_det = config->max_det;
  out.score_threshold = config->score_threshold;
  return out;
}

Result<compat::TilePlacement> placement_from(const hal_tile_placement* placement) {
  if (placement == nullptr) return capi::null_argument("placement: is NULL");
  HALYARD_RETURN_IF_ERROR(capi::aligned(placement, "placement"));
  compat::TilePlacement out{placement->index,
                            placement->count,
                            {placement->origin_x, placement->origin_y},
                            {placement->crop_w, placement->crop_h},
                            {placement->frame_w, placement->frame_h},
                            {}};
  const float* const l = placement->letterbox;
  if (placement->has_letterbox) out.letterbox = {l[0], l[1], l[2], l[3]};
  return out;
}

hal_tile_placement placement_to_c(const compat::TilePlacement& tile) noexcept {
  hal_tile_placement out{};
  out.index = tile.index;
  out.count = tile.count;
  out.origin_x = tile.origin[0];
  out.origin_y = tile.origin[1];
  out.crop_w = tile.crop_size[0];
  out.crop_h = tile.crop_size[1];
  out.frame_w = tile.frame_dims[0];
  out.frame_h = tile.frame_dims[1];
  out.has_letterbox = tile.letterbox.has_value();
  if (tile.letterbox) std::copy(tile.letterbox->begin(), tile.letterbox->end(), out.letterbox);
  return out;
}

hal_tile_spec tile_to_c(const compat::TileSpec& tile) noexcept {
  const auto size = [](std::int32_t v) { return static_cast<std::size_t>(v); };
  const Region& r = tile.source;
  return {{size(r.x), size(r.y), size(r.width), size(r.height)}, tile.index, tile.row, tile.col};
}

Result<std::span<const Detection>> boxes_from(const hal_detect_box_list* boxes) {
  if (boxes == nullptr) return std::span<const Detection>();
  HALYARD_RETURN_IF_ERROR(checked(boxes, "boxes"));
  return std::span<const Detection>(boxes->boxes);
}

// Tile functions document no errno for `exhausted`, so it becomes invalid_argument.
template <class T>
Result<T> mapped(Result<T> result) {
  if (result || result.error().code != Errc::exhausted) return result;
  return capi::failing_as(Errc::invalid_argument, std::move(result));
}

hal_detect_box_list* finalized(hal_tiled_frame_accumulator* accumulator, bool normalized) noexcept {
  // Freed even on failure, because the caller has given it away.
  const std::unique_ptr<hal_tiled_frame_accumulator> owned(is_valid(accumulator) ? accumulator
                                                                                 : nullptr);
  return guarded<hal_detect_box_list*>(nullptr, [&]() -> Result<hal_detect_box_list*> {
    HALYARD_RETURN_IF_ERROR(checked(accumulator, "accumulator"));
    auto list = std::make_unique<hal_detect_box_list>();
    list->boxes = normalized ? accumulator->accumulator.finalize_normalized()
                             : accumulator->accumulator.finalize();
    return list.release();
  });
}

}  // namespace

hal_tiling_config hal_tiling_config_default(size_t tile_w, size_t tile_h) {
  return {tile_w, tile_h, 0.2F, {114, 114, 114, 255}, HAL_FIT_STRETCH};
}

hal_merge_config hal_merge_config_default(void) {
  return {HAL_MATCH_METRIC_IOS, 0.5F, false, 300, 0.0F};
}

hal_tile_spec_list* hal_tile_grid(size_t frame_h, size_t frame_w, size_t tile_h, size_t tile_w,
                                  float overlap_ratio) {
  return guarded<hal_tile_spec_list*>(nullptr, [&]() -> Result<hal_tile_spec_list*> {
    HALYARD_TRY(const Size frame, size_from(frame_w, frame_h));
    HALYARD_TRY(const Size tile, size_from(tile_w, tile_h));
    auto list = std::make_unique<hal_tile_spec_list>();
    HALYARD_TRY(list->tiles, compat::tile_grid(frame, tile, overlap_ratio));
    return list.release();
  });
}

size_t hal_tile_spec_list_len(const hal_tile_spec_list* list) {
  return is_valid(list) ? list->tiles.size() : 0;
}

int hal_tile_spec_list_get(const hal_tile_spec_list* list, size_t index, hal_tile_spec* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(list, "list"));
    return capi::get(list->tiles, index, out,
                     [](const compat::TileSpec& t) { return tile_to_c(t); });
  });
}

void hal_tile_spec_list_free(hal_tile_spec_list* list) {
  if (is_valid(list)) delete list;
}

hal_tensor* hal_image_processor_alloc_tile_batch(hal_image_processor* processor, size_t n,
                                                 const hal_tiling_config* config,
                                                 hal_pixel_format format, hal_dtype dtype,
                                                 hal_tensor_memory memory, HalCpuAccess access) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
    HALYARD_TRY(const auto tiling, config_from(config));
    HALYARD_TRY(const PixelFormat pixels, capi::format_from(format));
    ImageOptions options;
    HALYARD_TRY(options.dtype, capi::dtype_from(dtype));
    HALYARD_TRY(options.memory, capi::memory_from(memory));
    HALYARD_TRY(options.cpu_access, capi::cpu_access_from(access));
    HALYARD_TRY(Tensor tensor, compat::alloc_tile_batch(n, tiling, pixels, options));
    return new hal_tensor{.tensor = std::move(tensor)};
  });
}

hal_tile_placement_list* hal_image_processor_plan_tiles(hal_image_processor* processor,
                                                        size_t src_w, size_t src_h,
                                                        const hal_tiling_config* config) {
  return guarded<hal_tile_placement_list*>(nullptr, [&]() -> Result<hal_tile_placement_list*> {
    HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
    HALYARD_TRY(const auto tiling, config_from(config));
    HALYARD_TRY(const Size frame, size_from(src_w, src_h));
    auto list = std::make_unique<hal_tile_placement_list>();
    HALYARD_TRY(list->tiles, compat::plan_tiles(frame, tiling));
    return list.release();
  });
}

hal_tile_placement_list* hal_image_processor_tile_into(hal_image_processor* processor,
                                                       const hal_tensor* src, hal_tensor* dst,
                                                       const hal_tiling_config* config) {
  return guarded<hal_tile_placement_list*>(nullptr, [&]() -> Result<hal_tile_placement_list*> {
    HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
    HALYARD_RETURN_IF_ERROR(checked(src, "src"));
    HALYARD_RETURN_IF_ERROR(checked(dst, "dst"));
    HALYARD_TRY(const auto tiling, config_from(config));
    auto list = std::make_unique<hal_tile_placement_list>();
    HALYARD_TRY(list->tiles,
                mapped(compat::tile_into(processor->processor, src->tensor, dst->tensor, tiling)));
    return list.release();
  });
}

int hal_image_processor_tile_one(hal_image_processor* processor, const hal_tensor* src,
                                 hal_tensor* dst, const hal_tile_placement* placement,
                                 const hal_tiling_config* config) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
    HALYARD_RETURN_IF_ERROR(checked(src, "src"));
    HALYARD_RETURN_IF_ERROR(checked(dst, "dst"));
    HALYARD_TRY(const auto tile, placement_from(placement));
    HALYARD_TRY(const auto tiling, config_from(config));
    HALYARD_RETURN_IF_ERROR(
        compat::tile_one(processor->processor, src->tensor, dst->tensor, tile, tiling));
    return 0;
  });
}

size_t hal_tile_placement_list_len(const hal_tile_placement_list* list) {
  return is_valid(list) ? list->tiles.size() : 0;
}

int hal_tile_placement_list_get(const hal_tile_placement_list* list, size_t index,
                                hal_tile_placement* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(list, "list"));
    return capi::get(list->tiles, index, out,
                     [](const compat::TilePlacement& t) { return placement_to_c(t); });
  });
}

void hal_tile_placement_list_free(hal_tile_placement_list* list) {
  if (is_valid(list)) delete list;
}

hal_detect_box_list* hal_lift_tile_boxes(const hal_detect_box_list* boxes,
                                         const hal_tile_placement* placement) {
  return guarded<hal_detect_box_list*>(nullptr, [&]() -> Result<hal_detect_box_list*> {
    HALYARD_TRY(const auto tile, placement_from(placement));
    HALYARD_TRY(const auto from, boxes_from(boxes));
    auto list = std::make_unique<hal_detect_box_list>();
    compat::lift_tile_boxes(from, tile, list->boxes);
    return list.release();
  });
}

hal_detect_box_list* hal_merge_tiled_detections(const hal_detect_box_list* boxes,
                                                const hal_merge_config* config) {
  return guarded<hal_detect_box_list*>(nullptr, [&]() -> Result<hal_detect_box_list*> {
    HALYARD_TRY(const auto merge, merge_from(config));
    HALYARD_TRY(const auto from, boxes_from(boxes));
    auto list = std::make_unique<hal_detect_box_list>();
    HALYARD_TRY(list->boxes, compat::merge_tiled_detections(from, merge));
    return list.release();
  });
}

hal_tiled_frame_accumulator* hal_tiled_frame_accumulator_new(float frame_w, float frame_h,
                                                             size_t tiles_total,
                                                             const hal_merge_config* config,
                                                             size_t est_per_tile) {
  return guarded<hal_tiled_frame_accumulator*>(
      nullptr, [&]() -> Result<hal_tiled_frame_accumulator*> {
        HALYARD_TRY(const auto merge, merge_from(config));
        HALYARD_TRY(auto accumulator, compat::TileAccumulator::create(
                                          {frame_w, frame_h}, tiles_total, merge, est_per_tile));
        return new hal_tiled_frame_accumulator{.accumulator = std::move(accumulator)};
      });
}

int hal_tiled_frame_accumulator_push_tile(hal_tiled_frame_accumulator* accumulator,
                                          const hal_detect_box_list* boxes,
                                          const hal_tile_placement* placement) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(accumulator, "accumulator"));
    HALYARD_TRY(const auto tile, placement_from(placement));
    HALYARD_TRY(const auto from, boxes_from(boxes));
    return accumulator->accumulator.push_tile(from, tile) ? 1 : 0;
  });
}

bool hal_tiled_frame_accumulator_is_complete(const hal_tiled_frame_accumulator* accumulator) {
  return is_valid(accumulator) && accumulator->accumulator.is_complete();
}

size_t hal_tiled_frame_accumulator_remaining(const hal_tiled_frame_accumulator* accumulator) {
  return is_valid(accumulator) ? accumulator->accumulator.remaining() : 0;
}

hal_detect_box_list* hal_tiled_frame_accumulator_finalize(
    hal_tiled_frame_accumulator* accumulator) {
  return finalized(accumulator, false);
}

hal_detect_box_list* hal_tiled_frame_accumulator_finalize_normalized(
    hal_tiled_frame_accumulator* accumulator) {
  return finalized(accumulator, true);
}

void hal_tiled_frame_accumulator_free(hal_tiled_frame_accumulator* accumulator) {
  if (is_valid(accumulator)) delete accumulator;
}
