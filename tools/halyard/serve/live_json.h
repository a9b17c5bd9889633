// SPDX-License-Identifier: Apache-2.0
// The live view's numbers as JSON on one line and as Prometheus' text. docs/live-view.md describes
// each key.
#pragma once

#include <string>
#include <string_view>

#include "halyard/pipeline.h"
#include "serve/http/http_server.h"
#include "serve/live_feed.h"
#include "serve/live_video.h"
#include "serve/recorder.h"

namespace halyard::tool {

/// GET /api/controls.
std::string controls_json(const LiveControls& controls);
/// Changes the members that `text`, a JSON object, names. Errors: malformed (not a JSON object),
/// invalid_argument (a key that does not exist, a value of another type or outside its range).
Status read_controls(std::string_view text, LiveControls& controls);
/// The member "on" of a JSON object. Errors: as read_controls().
Result<bool> read_switch(std::string_view text);
/// The answer to it.
std::string switch_json(const RecorderState& recorder);

/// GET /api/state, and the data of each event.
std::string state_json(const LiveFeed::State& state, const LiveSource& source,
                       const HttpServerStats& server, const RecorderState& recorder,
                       const LiveVideoState& video, bool has_login);
/// GET /api/model.
std::string model_json(const PipelineModel& model);
/// GET /metrics: the text format of Prometheus, version 0.0.4.
std::string metrics_text(const LiveFeed::State& state, const HttpServerStats& server,
                         const RecorderState& recorder);

}  // namespace halyard::tool
