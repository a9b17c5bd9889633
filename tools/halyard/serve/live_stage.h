// SPDX-License-Identifier: Apache-2.0
// LiveStage: takes each frame after tracking, and makes an image of it if somebody watches.
#pragma once

#include <chrono>

#include "serve/http/http_server.h"
#include "serve/live_feed.h"
#include "serve/live_painter.h"
#include "serve/live_video.h"
#include "serve/recorder.h"

namespace halyard::tool {

/// Frames must come in order, from one thread at a time.
class LiveStage {
 public:
  /// The borrowed parts must outlive it. `max_rate`: images per second that viewers get at most.
  LiveStage(LiveFeed& feed, HttpServer& server, Recorder& recorder, LiveVideo& video,
            LivePainter painter, double max_rate);

  /// Draws and encodes once for all viewers, and only the first frame without one. The frame's
  /// numbers are added in any case, with the stage "show". Errors: those of LivePainter.
  Status see(const LiveScene& scene, LiveFrame numbers);

 private:
  using Clock = std::chrono::steady_clock;
  bool is_due(Clock::time_point now);
  Status show(const LiveScene& scene, Clock::time_point read);

  LiveFeed& feed_;
  HttpServer& server_;
  Recorder& recorder_;
  LiveVideo& video_;
  LivePainter painter_;
  Clock::duration interval_;
  Clock::time_point next_{};
  bool is_first_ = true;
};

}  // namespace halyard::tool
