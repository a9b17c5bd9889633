// SPDX-License-Identifier: Apache-2.0
// A preset, then what was asked for by name.
#include "val_preset.h"

namespace halyard::tool {
namespace {

void set(ValPreset preset, DetectorOptions& options) {
  switch (preset) {
    case ValPreset::ultralytics_val:
      options.decode = DecodeOptions::ultralytics_val();
      options.letterbox = LetterboxRule::ultralytics_val;
      options.mask_rule = MaskRule::ultralytics;
      break;
    case ValPreset::ultralytics:
      options.decode = DecodeOptions::ultralytics();
      options.letterbox = LetterboxRule::ultralytics;
      options.mask_rule = MaskRule::ultralytics_quick;
      break;
    case ValPreset::hal:
      options.decode = DecodeOptions::hal();
      options.letterbox = LetterboxRule::hal;
      options.mask_rule = MaskRule::logits;
      break;
  }
  options.is_rgb_first = preset != ValPreset::hal;
}

}  // namespace

std::optional<ValPreset> parse_val_preset(std::string_view text) {
  if (text == "ultralytics-val") return ValPreset::ultralytics_val;
  if (text == "ultralytics") return ValPreset::ultralytics;
  if (text == "hal") return ValPreset::hal;
  return std::nullopt;
}

std::optional<MaskRule> parse_mask_rule(std::string_view text) {
  if (text == "logits") return MaskRule::logits;
  if (text == "ultralytics") return MaskRule::ultralytics;
  if (text == "ultralytics-quick") return MaskRule::ultralytics_quick;
  return std::nullopt;
}

void apply(const PresetOptions& preset, DetectorOptions& options) {
  if (preset.preset) set(*preset.preset, options);
  if (preset.score) options.decode.score_threshold = *preset.score;
  if (preset.iou) options.decode.iou_threshold = *preset.iou;
  if (preset.letterbox) options.letterbox = *preset.letterbox;
  if (preset.mask_rule) options.mask_rule = *preset.mask_rule;
}

}  // namespace halyard::tool
