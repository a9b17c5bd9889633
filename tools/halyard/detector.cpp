// SPDX-License-Identifier: Apache-2.0
// convert() turns the picture upright on its way into the network, in the same pass as the resize.
#include "detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report.h"
#include "seen.h"
#include "values.h"

namespace halyard::tool {
namespace {

Result<Decoder> make_decoder(const Engine& engine, const DetectorOptions& options) {
  if (options.config.empty()) return decoder_for(engine, options.decode);
  HALYARD_TRY(auto description, ModelDescription::from_file(options.config));
  if (description.input == Size{}) description.input = engine.input_size();
  return Decoder::create(std::move(description), options.decode);
}

Status check_engine(const Engine& engine) {
  if (engine.inputs().size() != 1 || !engine.inputs()[0].format)
    return make_error(Errc::unsupported, "model must have one input, a picture",
                      fmt::format("it has {} inputs", engine.inputs().size()));
  return {};
}

/// Cuts boxes at the network's input: masks end there, and a weak box may reach far beyond.
void clip(std::vector<Detection>& found, Size input) {
  const auto width = static_cast<float>(input.width), height = static_cast<float>(input.height);
  for (auto& [box, score, label, anchor] : found) {
    box = {std::clamp(box.x1, 0.0F, width), std::clamp(box.y1, 0.0F, height),
           std::clamp(box.x2, 0.0F, width), std::clamp(box.y2, 0.0F, height)};
  }
}

/// The upright frame as RGB, of its own size.
Status to_rgb(Job& job) {
  const Size size = job.frame.image.upright_size();
  if (job.rgb.rank() == 0 || job.rgb.size() != size) {
    HALYARD_TRY(job.rgb, Tensor::create_image(size, PixelFormat::rgb));
  }
  Convert request;
  request.src = job.frame.image;
  request.dst = job.rgb;
  request.chroma = Chroma::bilinear;
  HALYARD_CHECK(job.processor.convert(request));
  return {};
}

}  // namespace

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
    Convert request;
    request.src = job.frame.image;
    if (is_rgb_first_) {
      HALYARD_CHECK(to_rgb(job));
      request.src = job.rgb;
    }
    request.dst = job.input;
    request.fit = Fit::letterbox;
    request.letterbox = letterbox_;
    HALYARD_TRY(placement, job.processor.convert(request));
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
  HALYARD_CHECK(decoder_.decode_into(outputs, job.decoded));
  job.found = placement.to_source(job.decoded.detections);
  fill_seen(job.decoded, job.found, &placement, job.record);
  if (gives_masks()) HALYARD_CHECK(make_masks(placement, job));
  if (!keeps_prototypes_) job.decoded.masks.prototypes = {};  // the engine's memory
  return {};
}

Status Detector::make_masks(const Placement& placement, Job& job) {
  clip(job.decoded.detections, placement.destination());
  job.content = RegionF(placement.content());
  if (!mask_rule_) return {};
  const MaskOptions options{*mask_rule_, job.frame.image.upright_size(), job.content};
  return materialize(job.decoded.masks, job.decoded.detections, options, job.masks);
}

bool Detector::gives_masks() const noexcept {
  const auto& outputs = decoder_.description().outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const auto& o) { return o.role == OutputRole::prototypes; });
}

}  // namespace halyard::tool
