// SPDX-License-Identifier: Apache-2.0
// Options that choose the preset of a model and override parts of it.
#pragma once

#include <optional>

#include "halyard/preset.h"
#include "input/detector.h"

namespace halyard::tool {

struct CommandSpec;

struct PresetArguments {
  std::optional<Preset> preset = {};  ///< unset: that of DetectorOptions
  // Overrides of the preset.
  std::optional<float> score;
  std::optional<float> iou;
  std::optional<LetterboxRule> letterbox;
  std::optional<MaskRule> mask_rule;
};

/// Adds --preset, --score, --iou, --letterbox, --mask-rule. `usual`: the default without --preset.
void add_preset_options(CommandSpec& spec, PresetArguments& preset, const char* usual);

/// Sets preset and mask_rule; without a preset only the overrides.
void apply(const PresetArguments& preset, DetectorOptions& options);

}  // namespace halyard::tool
