// SPDX-License-Identifier: Apache-2.0
// Pipelines in C: putting one together, with sources and stages of the program.
#include <utility>

#include "capi/error.h"
#include "capi/pipeline/pipelines.h"

namespace halyard::capi {
namespace {

Status set_tracker(TrackerOptions& out, int kind) {
  switch (kind) {
    case HAL_TRACKER_NONE:
      return {};
    case HAL_TRACKER_BYTETRACK:
      out.emplace<ByteTrackOptions>();
      return {};
    case HAL_TRACKER_BYTETRACK_PAPER:
      out.emplace<ByteTrackPaperOptions>();
      return {};
    case HAL_TRACKER_OCSORT:
      out.emplace<OcSortOptions>();
      return {};
    case HAL_TRACKER_SORT:
      out.emplace<SortOptions>();
      return {};
    default:
      return make_error(Errc::invalid_argument, "tracker: must be a value of hal_tracker_kind",
                        std::to_string(kind));
  }
}

Status take_options(hal_pipeline& to, const hal_pipeline_options& from) {
  if (from.on_overload < HAL_OVERLOAD_WAIT || from.on_overload > HAL_OVERLOAD_SKIP_INFERENCE) {
    return make_error(Errc::invalid_argument, "on_overload: must be a value of hal_overload_policy",
                      std::to_string(from.on_overload));
  }
  to.options.on_overload = static_cast<OverloadPolicy>(from.on_overload);
  HALYARD_RETURN_IF_ERROR(set_tracker(to.options.tracker, from.tracker));
  to.options.in_flight = from.in_flight;
  to.options.queue_depth = from.queue_depth;
  to.options.has_results = from.has_results;
  to.preset = Preset::ultralytics();
  to.preset.decode = {};
  to.preset.decode.score_threshold = from.score_threshold;
  to.preset.decode.iou_threshold = from.iou_threshold;
  to.preset.decode.max_detections = from.max_detections;
  if (from.device != nullptr) to.engine.device = from.device;
  to.engine.threads = from.threads;
  if (from.tile_width == 0 && from.tile_height == 0) return {};
  to.tiles.emplace();
  HALYARD_TRY(to.tiles->tiles.size.width, pixels_from(from.tile_width, "tile_width"));
  HALYARD_TRY(to.tiles->tiles.size.height, pixels_from(from.tile_height, "tile_height"));
  to.tiles->tiles.overlap = static_cast<double>(from.tile_overlap);
  to.tiles->merge.max_detections = from.max_detections;
  return {};
}

Result<hal_pipeline*> new_pipeline(const hal_pipeline_options* options) {
  HALYARD_RETURN_IF_ERROR(aligned(options, "options"));
  auto made = std::make_unique<hal_pipeline>();
  HALYARD_RETURN_IF_ERROR(
      take_options(*made, options == nullptr ? hal_pipeline_options_default() : *options));
  return made.release();
}

Result<std::optional<Frame>> read_frame(hal_pipeline_read_callback read, void* user,
                                        const std::string& name, std::size_t& index) {
  hal_tensor* image = nullptr;
  std::int64_t timestamp_ns = 0;
  const int done = read(user, &image, &timestamp_ns);
  const std::unique_ptr<hal_tensor> owned(is_valid(image) ? image : nullptr);
  if (done == 0) return std::optional<Frame>();
  const std::size_t own_index = index++;
  if (done < 0) return make_error(Errc::os, "reader: returned an error", {}, -done);
  if (owned == nullptr)
    return make_error(Errc::invalid_argument, "reader: out_image must be a tensor");
  Frame frame;
  frame.image = owned->tensor;
  frame.source = name;
  frame.index = own_index;
  frame.timestamp = std::chrono::nanoseconds(timestamp_ns);
  return std::optional<Frame>(std::move(frame));
}

Result<int> add_reader(hal_pipeline* pipeline, const char* name, hal_pipeline_read_callback read,
                       hal_pipeline_cancel_callback cancel, void* user, bool is_live) {
  HALYARD_TRY(hal_pipeline* const to, open_pipeline(pipeline));
  if (name == nullptr) return null_argument("name: is NULL");
  if (read == nullptr) return null_argument("read: is NULL");
  PipelineSource source;
  source.name = name;
  source.is_live = is_live;
  source.next = [read, user, own = source.name, index = std::size_t{0}]() mutable {
    return read_frame(read, user, own, index);
  };
  if (cancel != nullptr) source.cancel = [cancel, user] { cancel(user); };
  to->options.sources.push_back(std::move(source));
  return static_cast<int>(to->options.sources.size() - 1);
}

Result<int> add_model(hal_pipeline* pipeline, const char* path) {
  HALYARD_TRY(hal_pipeline* const to, open_pipeline(pipeline));
  HALYARD_TRY(const std::string file, path_from(path));
  HALYARD_TRY(auto model, PipelineModel::open(file, to->engine, to->preset));
  model.tiles = to->tiles;
  to->labels.push_back(model.labels);
  to->options.models.push_back(std::move(model));
  return static_cast<int>(to->options.models.size() - 1);
}

Result<int> add_stage(hal_pipeline* pipeline, const char* name, hal_pipeline_stage_callback stage,
                      void* user, bool in_order) {
  HALYARD_TRY(hal_pipeline* const to, open_pipeline(pipeline));
  if (name == nullptr) return null_argument("name: is NULL");
  if (stage == nullptr) return null_argument("stage: is NULL");
  // The pipeline borrows the name; the function keeps it.
  const auto own = std::make_shared<const std::string>(name);
  PipelineStage& made = to->options.stages.emplace_back();
  made.name = own->c_str();
  made.order = in_order ? StageOrder::in_order : StageOrder::any_order;
  made.run = [stage, user, own](PipelineFrame& frame) -> Status {
    hal_pipeline_frame handle;
    refer_to(handle, frame);
    const int done = stage(user, &handle);
    if (done == 0) return {};
    return make_error(Errc::os, "stage: returned an error", {}, done < 0 ? -done : done);
  };
  return static_cast<int>(to->options.stages.size() - 1);
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;

hal_pipeline_options hal_pipeline_options_default(void) {
  const PipelineOptions options;
  const DecodeOptions decode;
  return {.on_overload = static_cast<std::int32_t>(options.on_overload),
          .tracker = HAL_TRACKER_NONE,
          .in_flight = options.in_flight,
          .queue_depth = options.queue_depth,
          .has_results = true,
          .score_threshold = decode.score_threshold,
          .iou_threshold = decode.iou_threshold,
          .max_detections = decode.max_detections,
          .device = nullptr,
          .threads = 0,
          .tile_width = 0,
          .tile_height = 0,
          .tile_overlap = 0.2F};
}

hal_pipeline* hal_pipeline_new(const hal_pipeline_options* options) {
  return guarded<hal_pipeline*>(nullptr, [&] { return capi::new_pipeline(options); });
}

void hal_pipeline_free(hal_pipeline* pipeline) {
  if (capi::is_valid(pipeline)) delete pipeline;
}

int hal_pipeline_add_source(hal_pipeline* pipeline, const char* path) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(hal_pipeline* const to, capi::open_pipeline(pipeline));
    HALYARD_TRY(const std::string file, capi::path_from(path));
    HALYARD_TRY(auto source, PipelineSource::open(file));
    to->options.sources.push_back(std::move(source));
    return static_cast<int>(to->options.sources.size() - 1);
  });
}

int hal_pipeline_add_reader(hal_pipeline* pipeline, const char* name,
                            hal_pipeline_read_callback read, hal_pipeline_cancel_callback cancel,
                            void* user, bool is_live) {
  return guarded<int>(
      -1, [&] { return capi::add_reader(pipeline, name, read, cancel, user, is_live); });
}

int hal_pipeline_add_model(hal_pipeline* pipeline, const char* path) {
  return guarded<int>(-1, [&] { return capi::add_model(pipeline, path); });
}

int hal_pipeline_add_stage(hal_pipeline* pipeline, const char* name,
                           hal_pipeline_stage_callback stage, void* user, bool in_order) {
  return guarded<int>(-1, [&] { return capi::add_stage(pipeline, name, stage, user, in_order); });
}
