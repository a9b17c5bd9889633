// SPDX-License-Identifier: Apache-2.0
// Values are those of val_preset.h and values.h.
#include "preset_options.h"

#include <string>

#include "parsed_option.h"
#include "values.h"

namespace halyard::tool {

void add_preset_options(CLI::App& sub, PresetOptions& preset, const char* usual) {
  add_choice(sub, "--preset", preset.preset, parse_val_preset,
             {"ultralytics-val", "ultralytics", "hal"},
             "Whose rules make the network's input and choose among its boxes: ultralytics-val, "
             "ultralytics, hal; default: " +
                 std::string(usual));
  sub.add_option("--score", preset.score, "Least score of a detection; default: the preset's")
      ->check(CLI::Range(0.0, 1.0));
  sub.add_option("--iou", preset.iou, "Most overlap of two of a class; default: the preset's")
      ->check(CLI::Range(0.0, 1.0));
  add_choice(sub, "--letterbox", preset.letterbox, parse_letterbox_rule,
             {"hal", "ultralytics", "ultralytics-val"},
             "Rule of the letterbox: hal, ultralytics, ultralytics-val");
  add_choice(sub, "--mask-rule", preset.mask_rule, parse_mask_rule,
             {"logits", "ultralytics", "ultralytics-quick"},
             "Rule of the masks: logits, ultralytics, ultralytics-quick");
}

}  // namespace halyard::tool
