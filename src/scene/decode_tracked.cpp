// SPDX-License-Identifier: Apache-2.0
// Decodes, tracks, and sorts the data of each object into the order of the tracks.
#include <algorithm>
#include <utility>

#include "halyard/scene.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

template <class T>
void swap_rows(std::vector<T>& values, std::size_t each, std::size_t a, std::size_t b) {
  if (values.empty()) return;
  const auto row = [&](std::size_t i) {
    return values.begin() + static_cast<std::ptrdiff_t>(i * each);
  };
  std::swap_ranges(row(a), row(a + 1), row(b));
}

void swap_rows(Decoded& decoded, std::size_t a, std::size_t b) {
  swap_rows(decoded.detections, 1, a, b);
  swap_rows(decoded.rotated, 1, a, b);
  swap_rows(decoded.keypoints, decoded.keypoints_each, a, b);
  swap_rows(decoded.masks.coefficients, decoded.masks.channels, a, b);
  swap_rows(decoded.masks.stored, decoded.masks.channels, a, b);
}

}  // namespace

// In place: filling row k moves its old content to the row that the new content came from. live[k]
// keeps that row until the end, so a row that was moved is found by following these entries.
void follow(std::span<Track> live, Decoded& decoded) {
  for (std::size_t i = 0; i < live.size(); ++i) {
    auto from = static_cast<std::size_t>(live[i].detection);
    while (from < i)
      from = static_cast<std::size_t>(live[from].detection);
    live[i].detection = static_cast<std::int32_t>(from);
    if (from != i) swap_rows(decoded, i, from);
  }
  decoded.keep_first(live.size());
  for (std::size_t i = 0; i < live.size(); ++i)
    live[i].detection = static_cast<std::int32_t>(i);
}

Status decode_tracked(const Decoder& decoder, Tracker& tracker, std::span<const Tensor> outputs,
                      std::chrono::nanoseconds when, TrackedFrame& out, std::size_t batch) {
  trace::Span span("scene.decode_tracked");
  HALYARD_RETURN_IF_ERROR(decoder.decode_into(outputs, out.decoded, batch));
  HALYARD_RETURN_IF_ERROR(tracker.update(out.decoded.detections, when, out.tracks));
  out.live = seen_first(out.tracks);
  follow(std::span(out.tracks).first(out.live), out.decoded);
  std::vector<Detection>& detections = out.decoded.detections;
  detections.resize(out.tracks.size());
  for (std::size_t i = 0; i < detections.size(); ++i) {
    const Track& track = out.tracks[i];
    detections[i] = {track.box, track.score, track.label, i < out.live ? detections[i].anchor : -1};
  }
  span.arg("live", out.live).arg("tracks", out.tracks.size());
  return {};
}

}  // namespace halyard
