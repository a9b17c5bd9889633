// SPDX-License-Identifier: Apache-2.0
// Handles of pipelines and of their frames.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capi/arguments.h"
#include "capi/handles.h"
#include "halyard/c/pipeline.h"
#include "halyard/pipeline.h"

struct hal_pipeline {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("pipe");
  halyard::capi::Tag tag{kind};
  halyard::PipelineOptions options;  ///< until the start
  halyard::Preset preset;
  halyard::EngineOptions engine;
  std::optional<halyard::PipelineTiles> tiles = {};
  std::vector<std::vector<std::string>> labels = {};  ///< of each model
  std::unique_ptr<halyard::Pipeline> pipeline = {};   ///< null before the start
};

struct hal_pipeline_frame {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("pfrm");
  halyard::capi::Tag tag{kind};
  halyard::PipelineFrame* frame = nullptr;
  std::optional<halyard::Pipeline::Taken> taken = {};  ///< none: a stage's
  std::string error = {};
};

namespace halyard::capi {

/// The handle before its start. Errors: invalid_argument.
Result<hal_pipeline*> open_pipeline(hal_pipeline* pipeline);

/// Refers to a frame that a stage sees, or owns one that was taken.
void refer_to(hal_pipeline_frame& out, PipelineFrame& frame);

}  // namespace halyard::capi
