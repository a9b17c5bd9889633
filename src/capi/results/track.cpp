// SPDX-License-Identifier: Apache-2.0
// ByteTrack in C.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "capi/error.h"
#include "capi/lists.h"

using namespace halyard;
using capi::checked;
using capi::guarded;
using capi::is_valid;

namespace {

Result<hal_bytetrack*> tracker_handle(Result<compat::ByteTrack> tracker) {
  if (!tracker) return std::move(tracker).error();
  return new hal_bytetrack{.tracker = *std::move(tracker)};
}

}  // namespace

hal_bytetrack* hal_bytetrack_new(float track_update, float high_thresh, float match_thresh,
                                 int frame_rate, int track_buffer) {
  return guarded<hal_bytetrack*>(nullptr, [&]() -> Result<hal_bytetrack*> {
    compat::ByteTrackOptions options{
        .high_conf = high_thresh, .iou = match_thresh, .update = track_update};
    if (track_buffer < 0)
      return make_error(Errc::invalid_argument, "track_buffer: must not be below 0",
                        std::to_string(track_buffer));
    if (frame_rate > 0) {
      options.lifespan_ns = static_cast<std::uint64_t>(track_buffer) * 1'000'000'000U /
                            static_cast<std::uint64_t>(frame_rate);
    }
    return tracker_handle(compat::ByteTrack::create(options));
  });
}

hal_bytetrack* hal_bytetrack_new_default(void) {
  return guarded<hal_bytetrack*>(nullptr,
                                 [] { return tracker_handle(compat::ByteTrack::create()); });
}

hal_track_info_list* hal_bytetrack_update(hal_bytetrack* tracker, const hal_detect_box_list* boxes,
                                          uint64_t timestamp) {
  return guarded<hal_track_info_list*>(nullptr, [&]() -> Result<hal_track_info_list*> {
    HALYARD_RETURN_IF_ERROR(checked(tracker, "tracker"));
    HALYARD_RETURN_IF_ERROR(checked(boxes, "boxes"));
    auto list = std::make_unique<hal_track_info_list>();
    std::vector<std::optional<compat::TrackInfo>> infos;
    HALYARD_RETURN_IF_ERROR(tracker->tracker.update(boxes->boxes, timestamp, infos));
    for (const auto& info : infos)
      list->tracks.push_back(info.value_or(compat::TrackInfo()));
    return list.release();
  });
}

hal_track_info_list* hal_bytetrack_get_active_tracks(const hal_bytetrack* tracker) {
  return guarded<hal_track_info_list*>(nullptr, [&]() -> Result<hal_track_info_list*> {
    HALYARD_RETURN_IF_ERROR(checked(tracker, "tracker"));
    auto list = std::make_unique<hal_track_info_list>();
    std::vector<compat::ActiveTrack> active;
    tracker->tracker.active(active);
    for (const compat::ActiveTrack& track : active)
      list->tracks.push_back(track.info);
    return list.release();
  });
}

size_t hal_bytetrack_left_out(const hal_bytetrack* tracker) {
  return is_valid(tracker) ? tracker->tracker.left_out() : 0;
}

void hal_bytetrack_free(hal_bytetrack* tracker) {
  if (is_valid(tracker)) delete tracker;
}

int hal_uuid_to_string(const uint8_t (*uuid)[16], char* out_str, size_t out_len) {
  return guarded<int>(-1, [&]() -> Result<int> {
    if (uuid == nullptr || out_str == nullptr)
      return capi::null_argument("uuid or out_str: is NULL");
    Uuid value;
    std::memcpy(value.bytes.data(), *uuid, value.bytes.size());
    const std::string text = to_string(value);
    if (out_len < text.size() + 1)
      return make_error(Errc::invalid_argument, "out_len: must be at least 37",
                        std::to_string(out_len));
    std::memcpy(out_str, text.c_str(), text.size() + 1);
    return 0;
  });
}
