// SPDX-License-Identifier: Apache-2.0
// The OC-SORT tracker.
#include "track/observations.h"
#include "track/streaks.h"

namespace halyard {
namespace track {
namespace {

constexpr float min_low_score = 0.1F;

class OcSortMethod final : public StreakMethod<Observed> {
 public:
  explicit OcSortMethod(const OcSortOptions& options)
      : StreakMethod(common_options(options), options.min_hits, options.high_score),
        options_(options) {}

 private:
  bool is_high(const Detection& d) const noexcept { return d.score >= options_.high_score; }

  void match(const FrameDetections& frame) override {
    const auto high = [&](const Detection& d) { return is_high(d); };
    const auto low = [&](const Detection& d) { return d.score >= min_low_score && !is_high(d); };
    const auto predicted = [&](std::size_t track) { return tracks[track].box; };
    const auto last_seen = [&](std::size_t track) { return states[track].filter.last(); };
    const auto minus_iou = [](std::uint32_t, std::uint32_t, double iou) { return -iou; };
    {
      trace::Span span("track.update.match_high");
      pass(frame, high, predicted, [&](std::uint32_t detection, std::uint32_t track, double iou) {
        return -(iou + momentum(frame.detections[detection], states[track].filter));
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
  void pass(const FrameDetections& frame, Admits admits, BoxOf box, Cost cost) {
    matcher_.run(
        {.min_iou = options_.min_iou, .alone = 0, .min_kept_iou = 0}, tracks, admits,
        [](std::size_t) { return true; }, box, cost,
        [&](std::uint32_t track, std::uint32_t detection) {
          const Box& seen = frame.detections[detection].box;
          states[track].filter.see(seen, options_.direction_frames);
          tracks[track].box = seen;
          see(tracks[track], frame, detection);
        });
  }

  OcSortOptions options_;
};

}  // namespace
}  // namespace track

Result<OcSort> OcSort::create(OcSortOptions options) {
  HALYARD_RETURN_IF_ERROR(track::check_share(options.high_score, "high_score: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(track::check_share(options.min_iou, "min_iou: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(track::check_share(options.inertia, "inertia: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(track::check_option(
      options.direction_frames >= 1 && options.direction_frames < track::Observed::max_frames,
      "direction_frames: must be in 1..7", options.direction_frames));
  HALYARD_RETURN_IF_ERROR(track::check_hits(options.min_hits));
  HALYARD_RETURN_IF_ERROR(track::check_common(track::common_options(options)));
  return OcSort(std::make_unique<Impl>(std::make_unique<track::OcSortMethod>(options)));
}

}  // namespace halyard
