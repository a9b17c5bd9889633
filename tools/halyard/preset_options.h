// SPDX-License-Identifier: Apache-2.0
// The options by which `run` and `val` do what another pipeline does.
#pragma once

#include "val_preset.h"

// The parser's header costs every source that sees it seconds.
namespace CLI {
class App;
}

namespace halyard::tool {

/// --preset, and what takes the place of its rules: --score, --iou, --letterbox, --mask-rule.
/// `usual` says in the help what holds without --preset.
void add_preset_options(CLI::App& sub, PresetOptions& preset, const char* usual);

}  // namespace halyard::tool
