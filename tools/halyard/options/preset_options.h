// SPDX-License-Identifier: Apache-2.0
// The options that choose whose rules a model runs by.
#pragma once

#include <optional>

#include "halyard/preset.h"
#include "input/detector.h"

// The parser's header costs every source that sees it seconds.
namespace CLI {
class App;
}

namespace halyard::tool {

struct PresetOptions {
  std::optional<Preset> preset = {};  ///< unset: what DetectorOptions has
  // In place of the preset's own.
  std::optional<float> score;
  std::optional<float> iou;
  std::optional<LetterboxRule> letterbox;
  std::optional<MaskRule> mask_rule;
};

/// --preset, --score, --iou, --letterbox, --mask-rule. `usual`: what holds without --preset.
void add_preset_options(CLI::App& sub, PresetOptions& preset, const char* usual);

/// Sets preset and mask_rule; without a preset only what was named.
void apply(const PresetOptions& preset, DetectorOptions& options);

}  // namespace halyard::tool
