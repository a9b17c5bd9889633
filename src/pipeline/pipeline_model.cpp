// SPDX-License-Identifier: Apache-2.0
// PipelineModel::open().
#include <memory>
#include <string>
#include <utility>

#include "halyard/pipeline.h"
#include "pipeline/pipeline_checks.h"

namespace halyard {
namespace {

/// "yolov8n" of "models/yolov8n.onnx".
std::string stem_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.find_last_of('.'));
}

}  // namespace

Result<PipelineModel> PipelineModel::open(const std::string& path, const EngineOptions& options,
                                          const Preset& preset) {
  HALYARD_TRY(auto engine, Engine::open(path, options));
  HALYARD_RETURN_IF_ERROR(pipeline::check_image_input(engine));
  HALYARD_TRY(auto decoder, decoder_for(engine, preset.decode));
  PipelineModel out;
  out.name = stem_of(path);
  out.labels = decoder.description().labels;
  if (out.labels.empty()) out.labels = engine.labels();
  out.preset = preset;
  out.engine = std::make_shared<Engine>(std::move(engine));
  out.decoder = std::make_shared<const Decoder>(std::move(decoder));
  return out;
}

}  // namespace halyard
