// SPDX-License-Identifier: Apache-2.0
// ByteTrack, mode `hal`.
#include <cmath>

#include "halyard/trace.h"
#include "track/kalman.h"
#include "track/matcher.h"
#include "track/tracker.h"

namespace halyard {
namespace track {
namespace {

constexpr float aspect_deviation = 1e-2F;  // of a measured aspect; the paper has 1e-1
constexpr float coupling = 3;              // the paper has 1

class ByteTrackHal final : public MethodOf<BoxFilter> {
 public:
  explicit ByteTrackHal(const ByteTrackOptions& options)
      : MethodOf(common_options(options)), options_(options), matcher_(options.is_class_aware) {}

  void update(const FrameDetections& frame) override {
    predict(frame.dt);
    matcher_.begin(frame, tracks.size());
    {
      trace::Span span("track.update.match_high");
      match(frame, options_.high_score);
    }
    {
      trace::Span span("track.update.match_low");
      match(frame, 0);
    }
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (matcher_.is_open_track(i)) tracks[i].state = TrackState::lost;
    }
    remove_if([&](std::size_t i) { return is_expired(tracks[i], frame.when); });
    for (const std::uint32_t i : frame.usable) {
      if (matcher_.is_open_detection(i) && frame.detections[i].score >= options_.high_score)
        start(frame, i, TrackState::tracked);
    }
  }

 private:
  void predict(double dt) {
    trace::Span span("track.update.predict");
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].state == TrackState::lost) {
        states[i].stop_aspect();
        states[i].stop_height();
      }
      states[i].predict(dt, coupling);
      tracks[i].box = states[i].box();
    }
  }

  void match(const FrameDetections& frame, float min_score) {
    matcher_.run(
        {.min_iou = options_.min_iou, .alone = {}, .min_kept_iou = 0}, tracks,
        [&](const Detection& d) { return d.score >= min_score; }, [](std::size_t) { return true; },
        [&](std::size_t track) { return tracks[track].box; },
        [&](std::uint32_t detection, std::uint32_t track, double iou) {
          const Detection& d = frame.detections[detection];
          return is_gated(d.box, track) ? Matcher::never
                                        : (1.5 - static_cast<double>(d.score)) + (1.5 - iou);
        },
        [&](std::uint32_t track, std::uint32_t detection) {
          states[track].correct(frame.detections[detection].box, options_.update_gain,
                                aspect_deviation);
          tracks[track].box = states[track].box();
          see(tracks[track], frame, detection);
        });
  }

  bool is_gated(const Box& box, std::uint32_t track) const noexcept {
    return options_.max_distance > 0 &&
           !(states[track].distance(box, aspect_deviation) <= options_.max_distance);
  }

  ByteTrackOptions options_;
  Matcher matcher_;
};

}  // namespace
}  // namespace track

Result<ByteTrack> ByteTrack::create(ByteTrackOptions options) {
  using track::check_option;
  HALYARD_RETURN_IF_ERROR(track::check_share(options.high_score, "high_score: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(track::check_share(options.min_iou, "min_iou: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(check_option(options.update_gain > 0 && options.update_gain <= 1,
                                       "update_gain: must be above 0 and at most 1",
                                       options.update_gain));
  HALYARD_RETURN_IF_ERROR(
      check_option(options.max_distance >= 0 && std::isfinite(options.max_distance),
                   "max_distance: must be finite and not negative", options.max_distance));
  HALYARD_RETURN_IF_ERROR(track::check_common(track::common_options(options)));
  return ByteTrack(std::make_unique<Impl>(std::make_unique<track::ByteTrackHal>(options)));
}

}  // namespace halyard
