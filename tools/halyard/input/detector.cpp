// SPDX-License-Identifier: Apache-2.0
#include "input/detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "options/command_spec.h"
#include "options/values.h"
#include "output/record.h"
#include "report.h"

namespace halyard::tool {
namespace {

Result<Decoder> make_decoder(const Engine& engine, const DetectorOptions& options) {
  HALYARD_TRY(auto description, options.config.empty()
                                    ? infer_description(metadata_of(engine))
                                    : ModelDescription::from_file(options.config));
  if (description.input == Size{}) description.input = engine.input_size();
  const DecodeOptions rules = options.preset.decode_for(description);
  return Decoder::create(std::move(description), rules);
}

Status check_engine(const Engine& engine) {
  if (engine.inputs().size() != 1 || !engine.inputs()[0].format)
    return make_error(Errc::unsupported, "model must have one input, an image",
                      fmt::format("it has {} inputs", engine.inputs().size()));
  return {};
}

PipelineModel make_model(Engine engine, Decoder decoder, const DetectorOptions& options) {
  PipelineModel out;
  out.name = options.model;
  out.engine = std::make_shared<Engine>(std::move(engine));
  out.decoder = std::make_shared<const Decoder>(std::move(decoder));
  out.preset = options.preset;
  out.mask_rule = options.mask_rule;
  return out;
}

constexpr const char* engine_names = "openvino, onnxruntime, tflite, or a plugin's name; default: ";

void add_device_options(CommandSpec& spec, EngineOptions& engine) {
  spec.option("--device", &engine.device, "Device of the engine").shown();
  spec.option("--threads", &engine.threads, "Inference threads; 0: the engine's choice")
      .in(0, 1024);
}

/// The names of --labels, of the description, or of the file. Reports its own errors.
bool find_labels(const DetectorOptions& options, PipelineModel& model) {
  model.labels = model.decoder->description().labels;
  if (!options.labels.empty()) {
    auto lines = read_lines(options.labels);
    if (!lines) return report("--labels", lines.error()), false;
    if (check_label_count(lines->size(), model.decoder->class_count()) != exit_ok) return false;
    model.labels = *std::move(lines);
  }
  if (model.labels.empty()) model.labels = model.engine->labels();
  return true;
}

}  // namespace

void add_engine_options(CommandSpec& spec, EngineOptions& engine) {
  spec.option("--engine", &engine.engine,
              std::string(engine_names) + "the first that opens the model");
  add_device_options(spec, engine);
}

void add_engine_options(CommandSpec& spec, EngineOptions& engine, std::vector<std::string>& names) {
  spec.option("--engine", &names,
              std::string(engine_names) +
                  "all that read the model; for several, give the option several times")
      .is_single = true;
  add_device_options(spec, engine);
}

void add_config_option(CommandSpec& spec, DetectorOptions& options) {
  spec.option("--config", &options.config, "Description of the outputs (.json, .yaml)");
}

void add_model_options(CommandSpec& spec, DetectorOptions& options) {
  spec.option("-m,--model", &options.model, "Model file: .onnx, .tflite or .xml").required();
  spec.option("--labels", &options.labels, "Class names, one a line; default: the model's own");
  add_config_option(spec, options);
}

Result<PipelineModel> load_model(const DetectorOptions& options) {
  HALYARD_TRY(auto engine, Engine::open(options.model, options.engine));
  HALYARD_RETURN_IF_ERROR(check_engine(engine));
  HALYARD_TRY(auto decoder, make_decoder(engine, options));
  return make_model(std::move(engine), std::move(decoder), options);
}

std::optional<PipelineModel> open_model(const DetectorOptions& options) {
  auto engine = Engine::open(options.model, options.engine);
  if (!engine) return report("--model", engine.error()), std::nullopt;
  if (auto fits = check_engine(*engine); !fits)
    return report("--model " + options.model, fits.error()), std::nullopt;
  auto decoder = make_decoder(*engine, options);
  if (!decoder) {
    report(options.config.empty() ? "--model " + options.model : "--config " + options.config,
           decoder.error());
    return std::nullopt;
  }
  PipelineModel out = make_model(*std::move(engine), *std::move(decoder), options);
  if (!find_labels(options, out)) return std::nullopt;
  return out;
}

CocoKind kind_of(const PipelineModel& model) noexcept {
  const ModelDescription& description = model.decoder->description();
  const auto has = [&](OutputRole role) {
    return std::any_of(description.outputs.begin(), description.outputs.end(),
                       [&](const auto& o) { return o.role == role; });
  };
  if (has(OutputRole::classification)) return CocoKind::classes;
  if (has(OutputRole::prototypes)) return CocoKind::masks;
  if (description.keypoints || has(OutputRole::keypoints)) return CocoKind::keypoints;
  const bool is_rotated = description.task == Task::obb || has(OutputRole::angles);
  return is_rotated ? CocoKind::rotated_boxes : CocoKind::boxes;
}

bool gives_masks(const PipelineModel& model) noexcept {
  return kind_of(model) == CocoKind::masks;
}

}  // namespace halyard::tool
