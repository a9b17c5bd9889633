// SPDX-License-Identifier: Apache-2.0
// Everything between a picture and its scores that pipelines define differently, set together.
#pragma once

#include <optional>
#include <string_view>

#include "detector.h"

namespace halyard::tool {

/// - ultralytics_val: what its validator does: pictures never enlarged, every class of a box above
///   0.001, IoU 0.7, masks thresholded at the network's input.
/// - ultralytics: what it predicts with: enlarged too, the best class above 0.25; quick masks.
/// - hal: EdgeFirst HAL's letterbox and thresholds, colour and size changed in one pass; masks by
///   logits.
enum class ValPreset { ultralytics_val, ultralytics, hal };

/// As the enumerator is spelt, with a dash.
std::optional<ValPreset> parse_val_preset(std::string_view text);
/// A rule that gives masks of the picture's size: "logits", "ultralytics", "ultralytics-quick".
std::optional<MaskRule> parse_mask_rule(std::string_view text);

struct PresetOptions {
  std::optional<ValPreset> preset = {};  ///< unset: what DetectorOptions says
  // In place of the preset's own.
  std::optional<float> score;
  std::optional<float> iou;
  std::optional<LetterboxRule> letterbox;
  std::optional<MaskRule> mask_rule;
};

/// Sets decode, letterbox, is_rgb_first and mask_rule; without a preset only what was named.
void apply(const PresetOptions& preset, DetectorOptions& options);

}  // namespace halyard::tool
