// SPDX-License-Identifier: Apache-2.0
#include "serve/live_stage.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "halyard/trace.h"

namespace halyard::tool {

LiveStage::LiveStage(LiveFeed& feed, HttpServer& server, Recorder& recorder, LiveVideo& video,
                     LivePainter painter, double max_rate)
    : feed_(feed),
      server_(server),
      recorder_(recorder),
      video_(video),
      painter_(std::move(painter)),
      interval_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(1 / max_rate))) {}

/// A frame that comes a little early is still shown, so that a source of the same rate loses none.
bool LiveStage::is_due(Clock::time_point now) {
  if (now + interval_ / 4 < next_) return false;
  next_ = std::max(next_ + interval_, now - interval_);
  return true;
}

Status LiveStage::see(const LiveScene& scene, LiveFrame numbers) {
  const auto begin = Clock::now();
  const Status shown = show(scene, numbers.read);
  const std::chrono::duration<double, std::micro> start = begin - numbers.read;
  const std::chrono::duration<double, std::micro> time = Clock::now() - begin;
  numbers.stages.push_back({"show", start.count(), time.count()});
  feed_.add(std::move(numbers));
  return shown;
}

Status LiveStage::show(const LiveScene& scene, Clock::time_point read) {
  const bool records = recorder_.is_on();
  // The first image is made in any case: an input of one image has no other for later viewers.
  const bool wants_jpeg =
      is_first_ || server_.viewers(HttpStream::images) != 0 || feed_.wants_image();
  const bool wants_video = video_.is_wanted();
  const bool shows = (wants_jpeg || wants_video) && is_due(Clock::now());
  is_first_ = false;
  if (!records && !shows) return {};
  const trace::Span span("serve.show");
  HALYARD_TRY(auto painted, painter_.paint(scene, feed_.controls(), records));
  if (shows && wants_video) video_.add(painted, read);
  if (shows && wants_jpeg) {
    HALYARD_TRY(auto jpeg, painter_.encode(painted));
    server_.push(HttpStream::images, image_part(jpeg));
    feed_.set_image(std::make_shared<const std::string>(std::move(jpeg)));
  }
  if (records) recorder_.add(std::move(painted));
  return {};
}

}  // namespace halyard::tool
