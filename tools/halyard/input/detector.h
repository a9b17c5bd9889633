// SPDX-License-Identifier: Apache-2.0
// The model of the command line, with its options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halyard/evaluate.h"
#include "halyard/model.h"
#include "halyard/pipeline.h"
#include "halyard/preset.h"

namespace halyard::tool {

struct CommandSpec;

/// `--engine`, `--device` and `--threads`, for commands that run a network.
void add_engine_options(CommandSpec& spec, EngineOptions& engine);
/// The same for commands that run it in several engines: `--engine` may be given several times.
void add_engine_options(CommandSpec& spec, EngineOptions& engine, std::vector<std::string>& names);

struct DetectorOptions {
  std::string model;
  std::string labels;  ///< file of class names; empty: the model's own
  std::string config;  ///< model description; empty: from the model's outputs
  EngineOptions engine;
  Preset preset;
  /// Makes masks by this rule, in the size of the upright image, if the model has masks.
  std::optional<MaskRule> mask_rule = {};
};

/// `--model`, which is required, `--labels` and `--config`, for commands that follow a model.
void add_model_options(CommandSpec& spec, DetectorOptions& options);

/// `--config`.
void add_config_option(CommandSpec& spec, DetectorOptions& options);

/// Opens the model without labels. Errors: those of Engine::open(), ModelDescription::from_file()
/// and Decoder::create(); unsupported (not one input, an image).
Result<PipelineModel> load_model(const DetectorOptions& options);

/// As load_model(), with labels. Reports its own errors, with the option's name. Nullopt on
/// failure.
std::optional<PipelineModel> open_model(const DetectorOptions& options);

/// What the model finds: classes of the image; or masks, keypoints or rotated boxes beside boxes;
/// or boxes alone.
CocoKind kind_of(const PipelineModel& model) noexcept;
/// Whether the model has instance masks.
bool gives_masks(const PipelineModel& model) noexcept;

}  // namespace halyard::tool
