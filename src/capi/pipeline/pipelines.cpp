// SPDX-License-Identifier: Apache-2.0
// Frames of pipelines in C.
#include "capi/pipeline/pipelines.h"

#include "capi/error.h"
#include "capi/lists.h"

namespace halyard::capi {

Result<hal_pipeline*> open_pipeline(hal_pipeline* pipeline) {
  HALYARD_TRY(hal_pipeline* const found, checked(pipeline, "pipeline"));
  if (found->pipeline == nullptr) return found;
  return make_error(Errc::invalid_argument, "pipeline: was started, nothing can be added");
}

void refer_to(hal_pipeline_frame& out, PipelineFrame& frame) {
  out.frame = &frame;
  if (frame.error) out.error = std::string(frame.failed_stage) + ": " + frame.error->message();
}

namespace {

hal_detect_box box_of(const Box& box, float score, std::int32_t label) {
  return {.xmin = box.x1,
          .ymin = box.y1,
          .xmax = box.x2,
          .ymax = box.y2,
          .score = score,
          .label = static_cast<std::size_t>(label)};
}

hal_pipeline_track track_to_c(const Track& track, bool is_skipped) {
  return {.id = track.id,
          .box = box_of(track.box, track.score, track.label),
          .detection = is_skipped ? -1 : track.detection,
          .updates = track.updates,
          .created_ns = track.created.count(),
          .last_seen_ns = track.last_seen.count(),
          .is_tentative = track.state == TrackState::tentative};
}

const ModelResult* result_at(const hal_pipeline_frame* frame, std::size_t model) noexcept {
  if (!is_valid(frame) || model >= frame->frame->models.size()) return nullptr;
  return &frame->frame->models[model];
}

Result<const ModelResult*> checked_result(const hal_pipeline_frame* frame, std::size_t model) {
  HALYARD_TRY(const hal_pipeline_frame* const found, checked(frame, "frame"));
  const std::size_t count = found->frame->models.size();
  if (model < count) return &found->frame->models[model];
  return make_error(Errc::invalid_argument, "model: must be below the count of models",
                    std::to_string(model) + " of " + std::to_string(count));
}

}  // namespace

}  // namespace halyard::capi

using namespace halyard;
using capi::checked;
using capi::guarded;
using capi::is_valid;

void hal_pipeline_frame_free(hal_pipeline_frame* frame) {
  if (is_valid(frame) && frame->taken) delete frame;
}

int hal_pipeline_frame_get_info(const hal_pipeline_frame* frame, hal_pipeline_frame_info* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const hal_pipeline_frame* const found, checked(frame, "frame"));
    if (out == nullptr) return capi::null_argument("out: is NULL");
    HALYARD_RETURN_IF_ERROR(capi::aligned(out, "out"));
    const PipelineFrame& from = *found->frame;
    *out = {.source = from.source,
            .index = from.frame.index,
            .ordinal = from.ordinal,
            .timestamp_ns = from.frame.timestamp.count(),
            .models = from.models.size(),
            .has_failed = from.error.has_value()};
    return 0;
  });
}

const char* hal_pipeline_frame_path(const hal_pipeline_frame* frame) {
  return is_valid(frame) ? frame->frame->frame.source.c_str() : nullptr;
}

const char* hal_pipeline_frame_error(const hal_pipeline_frame* frame) {
  return is_valid(frame) && !frame->error.empty() ? frame->error.c_str() : nullptr;
}

hal_tensor* hal_pipeline_frame_image(const hal_pipeline_frame* frame) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    HALYARD_TRY(const hal_pipeline_frame* const found, checked(frame, "frame"));
    return new hal_tensor{.tensor = found->frame->frame.image};
  });
}

hal_tensor* hal_pipeline_frame_drawn(const hal_pipeline_frame* frame) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    HALYARD_TRY(const hal_pipeline_frame* const found, checked(frame, "frame"));
    if (found->frame->drawn.is_empty())
      return make_error(Errc::not_found, "frame: nothing was drawn on it");
    return new hal_tensor{.tensor = found->frame->drawn};
  });
}

bool hal_pipeline_frame_is_skipped(const hal_pipeline_frame* frame, size_t model) {
  const ModelResult* const result = capi::result_at(frame, model);
  return result == nullptr || result->is_skipped;
}

hal_detect_box_list* hal_pipeline_frame_boxes(const hal_pipeline_frame* frame, size_t model) {
  return guarded<hal_detect_box_list*>(nullptr, [&]() -> Result<hal_detect_box_list*> {
    HALYARD_TRY(const ModelResult* const result, capi::checked_result(frame, model));
    return new hal_detect_box_list{.boxes = result->detections};
  });
}

size_t hal_pipeline_frame_track_count(const hal_pipeline_frame* frame, size_t model) {
  const ModelResult* const result = capi::result_at(frame, model);
  return result == nullptr ? 0 : result->tracks.size();
}

int hal_pipeline_frame_get_track(const hal_pipeline_frame* frame, size_t model, size_t index,
                                 hal_pipeline_track* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const ModelResult* const result, capi::checked_result(frame, model));
    return capi::get(result->tracks, index, out, [&](const Track& track) {
      return capi::track_to_c(track, result->is_skipped);
    });
  });
}
