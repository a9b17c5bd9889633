// SPDX-License-Identifier: Apache-2.0
// Connects a Pipeline to the live view: its last stage, its counts, and the controls.
#pragma once

#include <memory>
#include <optional>

#include "halyard/pipeline.h"
#include "serve/input/published_detections.h"
#include "serve/live_feed.h"
#include "serve/live_stage.h"

namespace halyard::tool {

/// The stage "show", in order: gives each frame, and what the first model found, to `stage`, and
/// tells `feed` when the last one has passed. Both must outlive the pipeline. `published`: what is
/// shown if there is no model; may be null.
PipelineStage live_stage(LiveStage& stage, LiveFeed& feed,
                         std::shared_ptr<PublishedDetections> published);

/// Counts and controls of a pipeline, which the hooks borrow. `decoding`: the options of its model,
/// of which the controls change score and IoU; unset: it has no model.
LiveFeed::Hooks live_hooks(Pipeline& pipeline, const std::optional<DecodeOptions>& decoding);

}  // namespace halyard::tool
