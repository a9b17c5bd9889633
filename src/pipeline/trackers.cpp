// SPDX-License-Identifier: Apache-2.0
#include "pipeline/trackers.h"

#include <utility>

namespace halyard::pipeline {
namespace {

template <class Made>
Result<Tracker> as_tracker(Result<Made> made) {
  if (!made) return made.error();
  return Tracker(*std::move(made));
}

Result<Tracker> make_tracker(const TrackerOptions& options) {
  if (const auto* byte_track = std::get_if<ByteTrackOptions>(&options))
    return as_tracker(ByteTrack::create(*byte_track));
  if (const auto* paper = std::get_if<ByteTrackPaperOptions>(&options))
    return as_tracker(ByteTrack::paper(*paper));
  if (const auto* oc_sort = std::get_if<OcSortOptions>(&options))
    return as_tracker(OcSort::create(*oc_sort));
  return as_tracker(Sort::create(std::get<SortOptions>(options)));
}

void coast(const Tracker& tracker, std::vector<Track>& tracks) {
  tracks = tracker.tracks();
  for (Track& track : tracks)
    track.detection = -1;
}

}  // namespace

Result<Trackers> Trackers::create(const TrackerOptions& options, std::size_t sources,
                                  std::size_t models) {
  Trackers out;
  if (std::holds_alternative<std::monostate>(options)) return out;
  HALYARD_RETURN_IF_ERROR(make_tracker(options));  // the options are checked without models, too
  out.models_ = models;
  for (std::size_t i = 0; i < sources * models; ++i) {
    HALYARD_TRY(auto tracker, make_tracker(options));
    out.trackers_.push_back(std::move(tracker));
  }
  return out;
}

Status Trackers::update(PipelineFrame& frame) {
  Status out;
  for (std::size_t i = 0; i < frame.models.size() && !is_empty(); ++i) {
    ModelResult& result = frame.models[i];
    Tracker& tracker = trackers_[frame.source * models_ + i];
    if (result.is_skipped || frame.error) {
      coast(tracker, result.tracks);
      continue;
    }
    const Status updated = tracker.update(result.detections, frame.frame.timestamp, result.tracks);
    result.left_out = tracker.left_out();
    if (updated) continue;
    coast(tracker, result.tracks);
    if (out) out = updated;
  }
  return out;
}

}  // namespace halyard::pipeline
