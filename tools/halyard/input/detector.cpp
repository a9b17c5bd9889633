// SPDX-License-Identifier: Apache-2.0
// convert() rotates the image upright in the same pass as the resize.
#include "input/detector.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "options/values.h"
#include "output/seen.h"
#include "report.h"

namespace halyard::tool {
namespace {

Result<Decoder> make_decoder(const Engine& engine, const DetectorOptions& options) {
  if (options.config.empty()) return decoder_for(engine, options.preset.decode);
  HALYARD_TRY(auto description, ModelDescription::from_file(options.config));
  if (description.input == Size{}) description.input = engine.input_size();
  return Decoder::create(std::move(description), options.preset.decode);
}

Status check_engine(const Engine& engine) {
  if (engine.inputs().size() != 1 || !engine.inputs()[0].format)
    return make_error(Errc::unsupported, "model must have one input, an image",
                      fmt::format("it has {} inputs", engine.inputs().size()));
  return {};
}

}  // namespace

void add_engine_options(CLI::App& sub, EngineOptions& engine) {
  sub.add_option("--engine", engine.engine,
                 "openvino, onnxruntime, tflite, or a plugin's name; default: the first that opens "
                 "the model");
  sub.add_option("--device", engine.device, "Device of the engine")->capture_default_str();
  sub.add_option("--threads", engine.threads, "Inference threads; 0: the engine's choice")
      ->check(CLI::Range(0, 1024));
}

std::optional<Detector> Detector::create(const DetectorOptions& options) {
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
  std::vector<std::string> labels = decoder->description().labels;
  if (!options.labels.empty()) {
    auto lines = read_lines(options.labels);
    if (!lines) return report("--labels", lines.error()), std::nullopt;
    if (check_label_count(lines->size(), decoder->class_count()) != exit_ok) return std::nullopt;
    labels = *std::move(lines);
  }
  if (labels.empty()) labels = engine->labels();
  return Detector(*std::move(engine), *std::move(decoder), std::move(labels), options);
}

Status Detector::detect(Job& job) {
  Placement placement;
  {
    const StageTimer timer(job, "convert");
    HALYARD_TRY(placement,
                prepare_input(preset_, job.processor, job.frame.image, job.input, job.rgb));
  }
  std::vector<Tensor> outputs;
  {
    const StageTimer timer(job, "model");
    HALYARD_TRY(outputs, engine_.run(job.input));
  }
  const StageTimer timer(job, "decode");
  return decode(outputs, placement, job);
}

Status Detector::decode(std::span<const Tensor> outputs, const Placement& placement, Job& job) {
  HALYARD_RETURN_IF_ERROR(decoder_.decode_into(outputs, job.decoded));
  job.found = placement.to_source(job.decoded.detections);
  fill_seen(job.decoded, job.found, &placement, job.record);
  if (gives_masks()) HALYARD_RETURN_IF_ERROR(make_masks(placement, job));
  if (!keeps_prototypes_) job.decoded.masks.prototypes = {};  // the engine's memory
  return {};
}

Status Detector::make_masks(const Placement& placement, Job& job) {
  job.content = RegionF(placement.content());
  if (mask_rule_) return prepare_masks(*mask_rule_, placement, job.decoded, job.masks);
  clip_boxes(job.decoded.detections, placement.destination());
  return {};
}

bool Detector::gives_masks() const noexcept {
  const auto& outputs = decoder_.description().outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const auto& o) { return o.role == OutputRole::prototypes; });
}

}  // namespace halyard::tool
