// SPDX-License-Identifier: Apache-2.0
// ByteTrack in C. A tracker may be shared by threads: calls wait for each other.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/mask.h"

HAL_BEGIN

// Times are in ns, as passed to update; `location` is x1, y1, x2, y2 of the filter's estimate.
struct hal_track_info {
  uint8_t uuid[16];
  float location[4];
  int32_t count;
  uint64_t created;
  uint64_t last_updated;
};
typedef struct hal_track_info hal_track_info;

/// `track_update`: share of a correction that is applied; `high_thresh`: minimum score that starts
/// a track; `match_thresh`: minimum IoU of a pair. Without detections a track lives track_buffer /
/// frame_rate seconds if frame_rate > 0, else half a second. Shares are clamped to 0..1. errno:
/// EINVAL (NaN, track_buffer below 0), ENOMEM.
hal_bytetrack* hal_bytetrack_new(float track_update, float high_thresh, float match_thresh,
                                 int frame_rate, int track_buffer);
/// As above with 0.25, 0.7, 0.25 and half a second.
hal_bytetrack* hal_bytetrack_new_default(void);
/// Returns one entry for each box; for boxes without a track all members are 0. errno: EINVAL
/// (NULL, a timestamp below the last one or above 2^63 - 1), ENOMEM.
hal_track_info_list* hal_bytetrack_update(hal_bytetrack* tracker, const hal_detect_box_list* boxes,
                                          uint64_t timestamp);
/// First the tracks seen in the last frame, then those that coast. errno: EINVAL (NULL), ENOMEM.
hal_track_info_list* hal_bytetrack_get_active_tracks(const hal_bytetrack* tracker);
/// Number of usable boxes of the last update that are not tracked, because a tracker follows 1000
/// objects at once: the lowest scores beyond 1000 boxes, and boxes that would have started a track
/// when 1000 existed. NULL: 0.
size_t hal_bytetrack_left_out(const hal_bytetrack* tracker);
void hal_bytetrack_free(hal_bytetrack* tracker);

size_t hal_track_info_list_len(const hal_track_info_list* list);  ///< NULL: 0
/// errno: EINVAL (NULL, index beyond the end).
int hal_track_info_list_get(const hal_track_info_list* list, size_t index, hal_track_info* out);
void hal_track_info_list_free(hal_track_info_list* list);

/// Writes "f81d4fae-7dec-41d0-a765-00a0c91e6bf6" and a NUL. errno: EINVAL (NULL, out_len below 37).
int hal_uuid_to_string(const uint8_t (*uuid)[16], char* out_str, size_t out_len);

HAL_END
