// SPDX-License-Identifier: Apache-2.0
// The table of presets, and the two steps that depend on a preset.
#include "halyard/preset.h"

#include <algorithm>

namespace halyard {
namespace {

/// Converts to an upright image in `rgb` of the source's size.
Status convert_to_rgb(Processor& processor, const Tensor& image, Tensor& rgb) {
  const Size size = image.upright_size();
  if (rgb.rank() == 0 || rgb.size() != size) {
    HALYARD_TRY(rgb, Tensor::create_image(size, PixelFormat::rgb));
  }
  Convert request;
  request.src = image;
  request.dst = rgb;
  request.chroma = Chroma::bilinear;
  HALYARD_RETURN_IF_ERROR(processor.convert(request));
  return {};
}

}  // namespace

DecodeOptions Preset::decode_for(const ModelDescription& description) const {
  DecodeOptions out = decode;
  const bool has_angles =
      description.task == Task::obb ||
      std::any_of(description.outputs.begin(), description.outputs.end(),
                  [](const OutputDescription& o) { return o.role == OutputRole::angles; });
  if (has_angles) out.suppression = rotated_suppression;
  return out;
}

Preset Preset::ultralytics_val() {
  return {DecodeOptions::ultralytics_val(), LetterboxRule::ultralytics_val, true,
          MaskRule::ultralytics, Suppression::fast};
}

Preset Preset::ultralytics() {
  return {DecodeOptions::ultralytics(), LetterboxRule::ultralytics, true,
          MaskRule::ultralytics_quick, Suppression::fast};
}

Preset Preset::hal() {
  return {DecodeOptions::hal(), LetterboxRule::hal, false, MaskRule::logits};
}

std::optional<Preset> Preset::named(std::string_view name) {
  if (name == "ultralytics-val") return ultralytics_val();
  if (name == "ultralytics") return ultralytics();
  if (name == "hal") return hal();
  return std::nullopt;
}

Result<Placement> prepare_input(const Preset& preset, Processor& processor, const Tensor& image,
                                const Tensor& input, Tensor& rgb, Fit fit) {
  Convert request;
  request.src = image;
  if (preset.is_rgb_first) {
    HALYARD_RETURN_IF_ERROR(convert_to_rgb(processor, image, rgb));
    request.src = rgb;
  }
  request.dst = input;
  request.fit = fit;
  request.letterbox = preset.letterbox;
  return processor.convert(request);
}

void clip_boxes(std::span<Detection> found, Size input) noexcept {
  const auto width = static_cast<float>(input.width), height = static_cast<float>(input.height);
  for (Detection& detection : found) {
    const Box& box = detection.box;
    detection.box = {std::clamp(box.x1, 0.0F, width), std::clamp(box.y1, 0.0F, height),
                     std::clamp(box.x2, 0.0F, width), std::clamp(box.y2, 0.0F, height)};
  }
}

Status prepare_masks(MaskRule rule, const Placement& placement, Decoded& found, MaskSet& out) {
  clip_boxes(found.detections, placement.destination());
  const MaskOptions options{rule, placement.source(), RegionF(placement.content())};
  return materialize(found.masks, found.detections, options, out);
}

}  // namespace halyard
