// SPDX-License-Identifier: Apache-2.0
// SORT.
#include "halyard/trace.h"
#include "track/area_filter.h"
#include "track/matcher.h"
#include "track/method.h"

namespace halyard {
namespace track {
namespace {

struct SortState {
  explicit SortState(const Box& box) noexcept : filter(box) {}
  AreaFilter filter;
  std::uint32_t streak = 0;  // associations in a row
};

class SortMethod final : public MethodOf<SortState> {
 public:
  explicit SortMethod(const Sort::Options& options)
      : MethodOf(common_of(options)), options_(options), matcher_(options.is_class_aware) {}

  void update(const Frame& frame) override {
    if (frames_ <= options_.min_hits) ++frames_;
    predict(frame.dt);
    matcher_.begin(frame, tracks.size());
    match(frame);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (matcher_.is_open_track(i)) {
        tracks[i].state = TrackState::lost;
        states[i].streak = 0;
      } else {
        ++states[i].streak;
        tracks[i].state = state_after(states[i].streak);
      }
    }
    remove_if([&](std::size_t i) { return is_expired(tracks[i], frame.when); });
    for (const std::uint32_t i : frame.usable) {
      if (matcher_.is_open_detection(i) && frame.detections[i].score >= options_.min_score)
        start(frame, i, state_after(0));
    }
  }

 private:
  // In the first frames nothing can have been seen often, and all is believed.
  TrackState state_after(std::uint32_t streak) const noexcept {
    return streak >= options_.min_hits || frames_ <= options_.min_hits ? TrackState::tracked
                                                                       : TrackState::tentative;
  }

  void predict(double dt) {
    trace::Span span("track.update.predict");
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      states[i].filter.predict(dt);
      tracks[i].box = states[i].filter.box();
    }
  }

  void match(const Frame& frame) {
    trace::Span span("track.update.match");
    matcher_.run(
        {.least_iou = 0, .alone = 0, .least_kept_iou = options_.min_iou}, tracks,
        [&](const Detection& d) { return d.score >= options_.min_score; },
        [](std::size_t) { return true; }, [&](std::size_t track) { return tracks[track].box; },
        [](std::uint32_t, std::uint32_t, double iou) { return -iou; },
        [&](std::uint32_t track, std::uint32_t detection) {
          states[track].filter.correct(frame.detections[detection].box);
          tracks[track].box = states[track].filter.box();
          see(tracks[track], frame, detection);
        });
  }

  Sort::Options options_;
  Matcher matcher_;
  std::uint32_t frames_ = 0;  // counted up to min_hits + 1
};

}  // namespace
}  // namespace track

Result<Sort> Sort::create(Options options) {
  using track::check_option;
  HALYARD_CHECK(check_option(track::is_share(options.min_score), "min_score: must be in [0, 1]",
                             options.min_score));
  HALYARD_CHECK(check_option(track::is_share(options.min_iou), "min_iou: must be in [0, 1]",
                             options.min_iou));
  HALYARD_CHECK(check_option(options.min_hits <= 1'000'000, "min_hits: must be at most 1000000",
                             options.min_hits));
  HALYARD_CHECK(track::check_common(track::common_of(options)));
  return Sort(std::make_unique<Impl>(std::make_unique<track::SortMethod>(options)));
}

}  // namespace halyard
