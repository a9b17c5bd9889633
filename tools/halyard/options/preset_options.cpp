// SPDX-License-Identifier: Apache-2.0
// Applies a preset, then the options that override it.
#include "options/preset_options.h"

#include <string>
#include <string_view>

#include "options/command_spec.h"
#include "options/values.h"

namespace halyard::tool {
namespace {

/// The rules that make masks of the image's size.
std::optional<MaskRule> parse_mask_rule(std::string_view text) {
  if (text == "logits") return MaskRule::logits;
  if (text == "ultralytics") return MaskRule::ultralytics;
  if (text == "ultralytics-quick") return MaskRule::ultralytics_quick;
  return std::nullopt;
}

}  // namespace

void add_preset_options(CommandSpec& spec, PresetArguments& preset, const char* usual) {
  spec.choice("--preset", preset.preset, &Preset::named, {"ultralytics-val", "ultralytics", "hal"},
              "Whose rules make the network's input and choose among its boxes: ultralytics-val, "
              "ultralytics, hal; default: " +
                  std::string(usual));
  spec.option("--score", &preset.score, "Least score of a detection; default: the preset's")
      .in(0.0, 1.0);
  spec.option("--iou", &preset.iou, "Most overlap of two of a class; default: the preset's")
      .in(0.0, 1.0);
  spec.choice("--letterbox", preset.letterbox, parse_letterbox_rule,
              {"hal", "ultralytics", "ultralytics-val"},
              "Rule of the letterbox: hal, ultralytics, ultralytics-val");
  spec.choice("--mask-rule", preset.mask_rule, parse_mask_rule,
              {"logits", "ultralytics", "ultralytics-quick"},
              "Rule of the masks: logits, ultralytics, ultralytics-quick");
}

void apply(const PresetArguments& preset, DetectorOptions& options) {
  if (preset.preset) {
    options.preset = *preset.preset;
    options.mask_rule = preset.preset->mask_rule;
  }
  if (preset.score) options.preset.decode.score_threshold = *preset.score;
  if (preset.iou) options.preset.decode.iou_threshold = *preset.iou;
  if (preset.letterbox) options.preset.letterbox = *preset.letterbox;
  if (preset.mask_rule) options.mask_rule = *preset.mask_rule;
}

}  // namespace halyard::tool
