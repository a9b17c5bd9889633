// SPDX-License-Identifier: Apache-2.0
// The model of the command line, with its options.
#pragma once

#include <optional>
#include <string>

#include "halyard/model.h"
#include "halyard/pipeline.h"
#include "halyard/preset.h"

namespace halyard::tool {

struct DetectorOptions {
  std::string model;
  std::string labels;  ///< file of class names; empty: the model's own
  std::string config;  ///< model description; empty: from the model's outputs
  EngineOptions engine;
  Preset preset;
  /// Makes masks by this rule, in the size of the upright image, if the model has masks.
  std::optional<MaskRule> mask_rule = {};
};

/// Reports its own errors, with the option's name. Nullopt on failure.
std::optional<PipelineModel> open_model(const DetectorOptions& options);

/// Whether the model has instance masks.
bool gives_masks(const PipelineModel& model) noexcept;

}  // namespace halyard::tool
