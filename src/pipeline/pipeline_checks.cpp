// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline_checks.h"

#include <algorithm>

#include "base/text/format_error.h"

namespace halyard::pipeline {
namespace {

constexpr std::size_t max_sources = 64;
constexpr std::size_t max_models = 16;
constexpr std::size_t max_frames = 64;

Status check_count(const char* what, std::size_t count, std::size_t min, std::size_t max) {
  if (count >= min && count <= max) return {};
  return fail(Errc::invalid_argument, what, "{}", count);
}

Status check_model(const PipelineModel& model, std::size_t index, std::size_t sources) {
  if (model.engine == nullptr || model.decoder == nullptr)
    return fail(Errc::invalid_argument, "models: each needs an engine and a decoder", "model {}",
                index);
  HALYARD_RETURN_IF_ERROR(check_image_input(*model.engine));
  if (model.batch_wait.count() < 0)
    return fail(Errc::invalid_argument, "models.batch_wait: must be at least 0", "model {}", index);
  for (const std::size_t source : model.sources) {
    if (source >= sources)
      return fail(Errc::invalid_argument, "models.sources: must be below the count of sources",
                  "model {}: {} of {}", index, source, sources);
  }
  return {};
}

Status check_stage(const PipelineStage& stage, std::size_t index) {
  if (stage.name == nullptr || !stage.run)
    return fail(Errc::invalid_argument, "stages: each needs a name and run", "stage {}", index);
  return {};
}

}  // namespace

Status check_image_input(const Engine& engine) {
  const auto inputs = engine.inputs();
  if (inputs.size() == 1 && engine.input_size() != Size{}) return {};
  return fail(Errc::unsupported, "model must have one input, an image", "it has {} inputs",
              inputs.size());
}

Status check_options(const PipelineOptions& options) {
  HALYARD_RETURN_IF_ERROR(
      check_count("sources: must be 1..64", options.sources.size(), 1, max_sources));
  HALYARD_RETURN_IF_ERROR(
      check_count("models: must be 0..16", options.models.size(), 0, max_models));
  HALYARD_RETURN_IF_ERROR(
      check_count("in_flight: must be 1..64", options.in_flight, 1, max_frames));
  HALYARD_RETURN_IF_ERROR(
      check_count("queue_depth: must be 1..64", options.queue_depth, 1, max_frames));
  HALYARD_RETURN_IF_ERROR(
      check_count("max_source_errors: must be at least 1", options.max_source_errors, 1, SIZE_MAX));
  for (std::size_t i = 0; i < options.sources.size(); ++i) {
    if (!options.sources[i].next)
      return fail(Errc::invalid_argument, "sources: each needs next()", "source {}", i);
  }
  for (std::size_t i = 0; i < options.models.size(); ++i)
    HALYARD_RETURN_IF_ERROR(check_model(options.models[i], i, options.sources.size()));
  for (std::size_t i = 0; i < options.stages.size(); ++i)
    HALYARD_RETURN_IF_ERROR(check_stage(options.stages[i], i));
  return {};
}

}  // namespace halyard::pipeline
