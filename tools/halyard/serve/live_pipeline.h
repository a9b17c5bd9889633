// SPDX-License-Identifier: Apache-2.0
// Connects a Pipeline to the live view: its last stage, its counts, and the controls.
#pragma once

#include "halyard/pipeline.h"
#include "serve/live_feed.h"
#include "serve/live_stage.h"

namespace halyard::tool {

/// The stage "show", in order: gives each frame, and what the first model found, to `stage`, and
/// tells `feed` when the last one has passed. Both must outlive the pipeline.
PipelineStage live_stage(LiveStage& stage, LiveFeed& feed);

/// Counts and controls of a pipeline with one model, which the hooks borrow. `decoding`: the
/// model's options, of which the controls change score and IoU.
LiveFeed::Hooks live_hooks(Pipeline& pipeline, const DecodeOptions& decoding);

}  // namespace halyard::tool
