// SPDX-License-Identifier: Apache-2.0
// OC-SORT.
#include "halyard/trace.h"
#include "track/matcher.h"
#include "track/method.h"
#include "track/observations.h"

namespace halyard {
namespace track {
namespace {

constexpr float least_low_score = 0.1F;

struct OcState {
  explicit OcState(const Box& box) noexcept : past(box) {}
  Observed past;
  std::uint32_t streak = 0;  // associations in a row
};

class OcSortMethod final : public MethodOf<OcState> {
 public:
  explicit OcSortMethod(const OcSort::Options& options)
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
      if (matcher_.is_open_detection(i) && is_high(frame.detections[i]))
        start(frame, i, state_after(0));
    }
  }

 private:
  bool is_high(const Detection& d) const noexcept { return d.score >= options_.high_score; }

  // In the first frames nothing can have been seen often, and all is believed.
  TrackState state_after(std::uint32_t streak) const noexcept {
    return streak >= options_.min_hits || frames_ <= options_.min_hits ? TrackState::tracked
                                                                       : TrackState::tentative;
  }

  void predict(double dt) {
    trace::Span span("track.update.predict");
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      states[i].past.predict(dt);
      tracks[i].box = states[i].past.box();
    }
  }

  void match(const Frame& frame) {
    const auto high = [&](const Detection& d) { return is_high(d); };
    const auto low = [&](const Detection& d) { return d.score >= least_low_score && !is_high(d); };
    const auto predicted = [&](std::size_t track) { return tracks[track].box; };
    const auto last_seen = [&](std::size_t track) { return states[track].past.last(); };
    const auto minus_iou = [](std::uint32_t, std::uint32_t, double iou) { return -iou; };
    {
      trace::Span span("track.update.match_high");
      pass(frame, high, predicted, [&](std::uint32_t detection, std::uint32_t track, double iou) {
        return -(iou + momentum(frame.detections[detection], states[track].past));
      });
    }
    if (options_.has_low_pass) {
      trace::Span span("track.update.match_low");
      pass(frame, low, predicted, minus_iou);
    }
    trace::Span span("track.update.recover");
    pass(frame, high, last_seen, minus_iou);
  }

  double momentum(const Detection& d, const Observed& past) const noexcept {
    const Direction way = direction_between(past.before(options_.direction_frames), d.box);
    return static_cast<double>(options_.inertia) * d.score * agreement(past.direction(), way);
  }

  template <class Admits, class BoxOf, class Cost>
  void pass(const Frame& frame, Admits admits, BoxOf box, Cost cost) {
    matcher_.run(
        {.least_iou = options_.min_iou, .alone = 0, .least_kept_iou = 0}, tracks, admits,
        [](std::size_t) { return true; }, box, cost,
        [&](std::uint32_t track, std::uint32_t detection) {
          const Box& seen = frame.detections[detection].box;
          states[track].past.see(seen, options_.direction_frames);
          tracks[track].box = seen;
          see(tracks[track], frame, detection);
        });
  }

  OcSort::Options options_;
  Matcher matcher_;
  std::uint32_t frames_ = 0;  // counted up to min_hits + 1
};

}  // namespace
}  // namespace track

Result<OcSort> OcSort::create(Options options) {
  using track::check_option;
  HALYARD_CHECK(check_option(track::is_share(options.high_score), "high_score: must be in [0, 1]",
                             options.high_score));
  HALYARD_CHECK(check_option(track::is_share(options.min_iou), "min_iou: must be in [0, 1]",
                             options.min_iou));
  HALYARD_CHECK(check_option(track::is_share(options.inertia), "inertia: must be in [0, 1]",
                             options.inertia));
  HALYARD_CHECK(check_option(
      options.direction_frames >= 1 && options.direction_frames < track::Observed::most_frames,
      "direction_frames: must be in 1..7", options.direction_frames));
  HALYARD_CHECK(check_option(options.min_hits <= 1'000'000, "min_hits: must be at most 1000000",
                             options.min_hits));
  HALYARD_CHECK(track::check_common(track::common_of(options)));
  return OcSort(std::make_unique<Impl>(std::make_unique<track::OcSortMethod>(options)));
}

}  // namespace halyard
