// SPDX-License-Identifier: Apache-2.0
// ByteTrack, mode `paper`.
#include "halyard/trace.h"
#include "track/kalman.h"
#include "track/matcher.h"
#include "track/tracker.h"

namespace halyard {
namespace track {
namespace {

constexpr float paper_aspect_deviation = 1e-1F;  // of a measured aspect
constexpr float paper_coupling = 1;
constexpr double duplicate_iou = 0.85;

class ByteTrackPaper final : public MethodOf<BoxFilter> {
 public:
  explicit ByteTrackPaper(const ByteTrackPaperOptions& options)
      : MethodOf(common_options(options)), options_(options), matcher_(options.is_class_aware) {}

  void update(const FrameDetections& frame) override {
    predict(frame.dt);
    matcher_.begin(frame, tracks.size());
    match_all(frame);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (matcher_.is_open_track(i) && tracks[i].state == TrackState::tracked)
        tracks[i].state = TrackState::lost;
    }
    // A tentative track has one frame to be seen again. If it is not, it is removed.
    remove_if([&](std::size_t i) {
      return tracks[i].state == TrackState::tentative || is_expired(tracks[i], frame.when);
    });
    start_tracks(frame);
    remove_duplicates();
    is_first_ = false;
  }

 private:
  void predict(double dt) {
    trace::Span span("track.update.predict");
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].state == TrackState::lost) states[i].stop_height();
      states[i].predict(dt, paper_coupling);
      tracks[i].box = states[i].box();
    }
  }

  void match_all(const FrameDetections& frame) {
    const auto is_high = [&](const Detection& d) { return d.score >= options_.high_score; };
    const auto is_low = [&](const Detection& d) {
      return d.score >= options_.low_score && d.score < options_.high_score;
    };
    {
      trace::Span span("track.update.match_high");
      match(frame, is_high, options_.first_limit, options_.is_score_fused,
            [](TrackState state) { return state != TrackState::tentative; });
    }
    {
      trace::Span span("track.update.match_low");
      match(frame, is_low, options_.second_limit, false,
            [](TrackState state) { return state == TrackState::tracked; });
    }
    trace::Span span("track.update.match_tentative");
    match(frame, is_high, options_.tentative_limit, options_.is_score_fused,
          [](TrackState state) { return state == TrackState::tentative; });
  }

  template <class Admits, class AdmitsState>
  void match(const FrameDetections& frame, Admits admits, double limit, bool is_fused,
             AdmitsState admits_state) {
    matcher_.run(
        {.min_iou = 0, .alone = limit, .min_kept_iou = 0}, tracks, admits,
        [&](std::size_t track) { return admits_state(tracks[track].state); },
        [&](std::size_t track) { return tracks[track].box; },
        [&](std::uint32_t detection, std::uint32_t, double iou) {
          return 1 -
                 (is_fused ? iou * static_cast<double>(frame.detections[detection].score) : iou);
        },
        [&](std::uint32_t track, std::uint32_t detection) {
          states[track].correct(frame.detections[detection].box, 1, paper_aspect_deviation);
          tracks[track].box = states[track].box();
          see(tracks[track], frame, detection);
        });
  }

  void start_tracks(const FrameDetections& frame) {
    const float minimum = std::max(options_.start_score, options_.high_score);
    for (const std::uint32_t i : frame.usable) {
      if (matcher_.is_open_detection(i) && frame.detections[i].score >= minimum)
        start(frame, i, is_first_ ? TrackState::tracked : TrackState::tentative);
    }
  }

  // If a tracked and a lost track overlap, the one that has lived longer is kept.
  void remove_duplicates() {
    seen_.clear();
    lost_.clear();
    seen_boxes_.clear();
    lost_boxes_.clear();
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].state == TrackState::tracked) {
        seen_.push_back(i);
        seen_boxes_.push_back(tracks[i].box);
      } else if (tracks[i].state == TrackState::lost) {
        lost_.push_back(i);
        lost_boxes_.push_back(tracks[i].box);
      }
    }
    if (seen_.empty() || lost_.empty()) return;
    is_duplicate_.assign(tracks.size(), 0);
    for (const OverlapPair& o : duplicates_.find(seen_boxes_, lost_boxes_, duplicate_iou)) {
      const Track& seen = tracks[seen_[o.row]];
      const Track& lost = tracks[lost_[o.column]];
      if (common_.is_class_aware && seen.label != lost.label) continue;
      const bool has_seen_longer =
          elapsed_ns(seen.last_seen, seen.created) > elapsed_ns(lost.last_seen, lost.created);
      is_duplicate_[has_seen_longer ? lost_[o.column] : seen_[o.row]] = 1;
    }
    remove_if([&](std::size_t i) { return is_duplicate_[i] != 0; });
  }

  ByteTrackPaperOptions options_;
  Matcher matcher_;
  bool is_first_ = true;
  OverlapFinder duplicates_;
  std::vector<std::uint32_t> seen_, lost_;
  std::vector<Box> seen_boxes_, lost_boxes_;
  std::vector<char> is_duplicate_;
};

}  // namespace
}  // namespace track

Result<ByteTrack> ByteTrack::paper(ByteTrackPaperOptions options) {
  using track::check_option;
  const auto limit = [](float value, const char* what) {
    return check_option(value > 0 && value <= 1, what, value);
  };
  HALYARD_RETURN_IF_ERROR(track::check_share(options.high_score, "high_score: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(track::check_share(options.low_score, "low_score: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(
      track::check_share(options.start_score, "start_score: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(limit(options.first_limit, "first_limit: must be above 0 and at most 1"));
  HALYARD_RETURN_IF_ERROR(
      limit(options.second_limit, "second_limit: must be above 0 and at most 1"));
  HALYARD_RETURN_IF_ERROR(
      limit(options.tentative_limit, "tentative_limit: must be above 0 and at most 1"));
  HALYARD_RETURN_IF_ERROR(track::check_common(track::common_options(options)));
  return ByteTrack(std::make_unique<Impl>(std::make_unique<track::ByteTrackPaper>(options)));
}

}  // namespace halyard
