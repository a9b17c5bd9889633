// SPDX-License-Identifier: Apache-2.0
// The library's own stages, added to pipelines in C.
#include "halyard/pipeline_stages.h"

#include <iterator>
#include <utility>

#include "capi/error.h"
#include "capi/pipeline/pipelines.h"

namespace halyard::capi {
namespace {

int add(hal_pipeline& to, PipelineStage stage) {
  to.options.stages.push_back(std::move(stage));
  return 0;
}

int add(hal_pipeline& to, std::vector<PipelineStage> stages) {
  for (PipelineStage& stage : stages)
    add(to, std::move(stage));
  return 0;
}

Result<std::vector<PipelineStage>> drawing_of(const hal_pipeline& pipeline, float mask_opacity) {
  DrawStageOptions options;
  options.has_tracks = pipeline.options.tracker.index() != 0;
  options.mask_opacity = mask_opacity;
  return draw_stages(pipeline.options.models, options);
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;

int hal_pipeline_add_drawing(hal_pipeline* pipeline, float mask_opacity) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(hal_pipeline* const to, capi::open_pipeline(pipeline));
    HALYARD_TRY(auto stages, capi::drawing_of(*to, mask_opacity));
    return capi::add(*to, std::move(stages));
  });
}

int hal_pipeline_add_json_lines(hal_pipeline* pipeline, const char* path) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(hal_pipeline* const to, capi::open_pipeline(pipeline));
    HALYARD_TRY(const std::string file, capi::path_from(path));
    HALYARD_TRY(auto stage, json_lines_stage(to->options.models, file));
    return capi::add(*to, std::move(stage));
  });
}

int hal_pipeline_add_video(hal_pipeline* pipeline, const char* path, double rate) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(hal_pipeline* const to, capi::open_pipeline(pipeline));
    HALYARD_TRY(const std::string file, capi::path_from(path));
    HALYARD_TRY(auto stages, video_stages(file, rate));
    return capi::add(*to, std::move(stages));
  });
}

int hal_pipeline_add_topic(hal_pipeline* pipeline, const char* name) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(hal_pipeline* const to, capi::open_pipeline(pipeline));
    if (name == nullptr) return capi::null_argument("name: is NULL");
    HALYARD_TRY(auto stage, topic_stage(name, to->options.models));
    return capi::add(*to, std::move(stage));
  });
}
