// SPDX-License-Identifier: Apache-2.0
// PipelineModel::open().
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "halyard/pipeline.h"
#include "pipeline/pipeline_checks.h"

namespace halyard {
Result<PipelineModel> PipelineModel::open(const std::string& path, const EngineOptions& options,
                                          const Preset& preset) {
  HALYARD_TRY(auto engine, Engine::open(path, options));
  HALYARD_RETURN_IF_ERROR(pipeline::check_image_input(engine));
  HALYARD_TRY(auto description, infer_description(metadata_of(engine)));
  const DecodeOptions rules = preset.decode_for(description);
  HALYARD_TRY(auto decoder, Decoder::create(std::move(description), rules));
  PipelineModel out;
  out.name = std::filesystem::path(path).stem().string();
  out.labels = decoder.description().labels;
  if (out.labels.empty()) out.labels = engine.labels();
  out.preset = preset;
  out.engine = std::make_shared<Engine>(std::move(engine));
  out.decoder = std::make_shared<const Decoder>(std::move(decoder));
  return out;
}

}  // namespace halyard
