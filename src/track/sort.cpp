// SPDX-License-Identifier: Apache-2.0
// The SORT tracker.
#include "track/area_filter.h"
#include "track/streaks.h"

namespace halyard {
namespace track {
namespace {

class SortMethod final : public StreakMethod<AreaFilter> {
 public:
  explicit SortMethod(const SortOptions& options)
      : StreakMethod(common_options(options), options.min_hits, options.min_score),
        options_(options) {}

 private:
  void match(const FrameDetections& frame) override {
    trace::Span span("track.update.match");
    matcher_.run(
        {.min_iou = 0, .alone = 0, .min_kept_iou = options_.min_iou}, tracks,
        [&](const Detection& d) { return d.score >= options_.min_score; },
        [](std::size_t) { return true; }, [&](std::size_t track) { return tracks[track].box; },
        [](std::uint32_t, std::uint32_t, double iou) { return -iou; },
        [&](std::uint32_t track, std::uint32_t detection) {
          states[track].filter.correct(frame.detections[detection].box);
          tracks[track].box = states[track].filter.box();
          see(tracks[track], frame, detection);
        });
  }

  SortOptions options_;
};

}  // namespace
}  // namespace track

Result<Sort> Sort::create(SortOptions options) {
  HALYARD_RETURN_IF_ERROR(track::check_share(options.min_score, "min_score: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(track::check_share(options.min_iou, "min_iou: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(track::check_hits(options.min_hits));
  HALYARD_RETURN_IF_ERROR(track::check_common(track::common_options(options)));
  return Sort(std::make_unique<Impl>(std::make_unique<track::SortMethod>(options)));
}

}  // namespace halyard
