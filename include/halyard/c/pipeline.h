// SPDX-License-Identifier: Apache-2.0
// Pipelines in C: frames of several sources through networks, trackers and functions of the
// program, side by side. All of it is ours. include/halyard/pipeline.h has the rules in full.
//
// A pipeline is put together (add), started once, and ended by the end of all sources, drain or
// stop. Threads may share it after hal_pipeline_start(); stages call none of wait, drain, stop and
// free. For all timeouts, 0 does not wait and a negative one waits for ever.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/mask.h"

HAL_BEGIN

typedef struct hal_pipeline hal_pipeline;
typedef struct hal_pipeline_frame hal_pipeline_frame;

// What happens to frames that come faster than the pipeline serves them.
enum hal_overload_policy HAL_ENUM_INT {
  HAL_OVERLOAD_WAIT = 0,            // the source is not read: no frame is lost
  HAL_OVERLOAD_DROP_OLDEST = 1,     // results are of new frames
  HAL_OVERLOAD_SKIP_INFERENCE = 2,  // the frame passes the networks by
};
typedef enum hal_overload_policy hal_overload_policy;

// The tracker of each source and model, with its default options.
enum hal_tracker_kind HAL_ENUM_INT {
  HAL_TRACKER_NONE = 0,
  HAL_TRACKER_BYTETRACK = 1,
  HAL_TRACKER_BYTETRACK_PAPER = 2,
  HAL_TRACKER_OCSORT = 3,
  HAL_TRACKER_SORT = 4,
};
typedef enum hal_tracker_kind hal_tracker_kind;

// Fill it with hal_pipeline_options_default() first.
struct hal_pipeline_options {
  int32_t on_overload;    ///< hal_overload_policy; HAL_OVERLOAD_WAIT
  int32_t tracker;        ///< hal_tracker_kind; HAL_TRACKER_NONE
  size_t in_flight;       ///< frames between the sources and the end, 1..64; 4
  size_t queue_depth;     ///< frames of each source that wait before it, 1..64; 1
  bool has_results;       ///< hal_pipeline_next() returns the frames; true. False: they end at once
  float score_threshold;  ///< 0..1; 0.25
  float iou_threshold;    ///< 0..1; 0.45
  size_t max_detections;  ///< of a frame; 300
  const char* device;     ///< the engine's name of the device; NULL: "CPU"
  uint32_t threads;       ///< of inference; 0: the engine's choice
  size_t tile_width;      ///< runs networks on tiles of that size in pixels; 0: on the frame
  size_t tile_height;
  float tile_overlap;  ///< share of a tile that its neighbour covers too, 0 up to below 1; 0.2
};
typedef struct hal_pipeline_options hal_pipeline_options;

struct hal_pipeline_frame_info {
  size_t source;         ///< index of the source, in the order in which they were added
  size_t index;          ///< number of the frame in its source, from 0 on
  uint64_t ordinal;      ///< number over all sources, in the order of stages, without gaps
  int64_t timestamp_ns;  ///< by the source's clock
  size_t models;
  bool has_failed;  ///< hal_pipeline_frame_error() has the reason
};
typedef struct hal_pipeline_frame_info hal_pipeline_frame_info;

// One object over time. Boxes are in pixels of the upright image.
struct hal_pipeline_track {
  uint64_t id;         ///< from 1 on, never used again by the tracker of one source and model
  hal_detect_box box;  ///< the tracker's estimate; score and label of the last detection
  int32_t detection;   ///< index of the box of this frame, -1: not seen in it
  uint32_t updates;    ///< detections so far
  int64_t created_ns;
  int64_t last_seen_ns;
  bool is_tentative;  ///< too new to be trusted
};
typedef struct hal_pipeline_track hal_pipeline_track;

// A stage's frames so far; times in ns, percentiles within 2 percent.
struct hal_pipeline_stage_stats {
  char name[64];  ///< cut off if it is longer
  uint64_t frames;
  uint64_t errors;
  int64_t p50_ns;
  int64_t p99_ns;
  int64_t max_ns;
  int64_t total_ns;
};
typedef struct hal_pipeline_stage_stats hal_pipeline_stage_stats;

struct hal_pipeline_source_stats {
  char name[256];  ///< cut off if it is longer
  uint64_t read;
  uint64_t errors;     ///< of reading
  uint64_t dropped;    ///< by DROP_OLDEST, while paused, or by stop
  uint64_t skipped;    ///< by SKIP_INFERENCE
  uint64_t failed;     ///< with an error of a stage
  uint64_t delivered;  ///< passed the last stage, the failed ones included
  bool has_ended;
  char last_error[256];
};
typedef struct hal_pipeline_source_stats hal_pipeline_source_stats;

struct hal_pipeline_stats {
  size_t sources;                    ///< hal_pipeline_get_source_stats() has each
  size_t stages;                     ///< hal_pipeline_get_stage_stats() has each
  hal_pipeline_stage_stats latency;  ///< from a frame's reading to behind the last stage
  uint64_t detections;
  int64_t elapsed_ns;
  size_t in_flight;
  uint64_t copies;  ///< of images, in the whole process, since the start
  uint64_t copied_bytes;
};
typedef struct hal_pipeline_stats hal_pipeline_stats;

// ---- Putting it together. After the start these functions fail with EINVAL.

hal_pipeline_options hal_pipeline_options_default(void);
/// `options` NULL: the default. errno: EINVAL (not an enumerator), ENOMEM.
hal_pipeline* hal_pipeline_new(const hal_pipeline_options* options);
/// Stops it. Frames that were taken stay valid.
void hal_pipeline_free(hal_pipeline* pipeline);
/// Adds a file, a folder, a camera, an address or "topic:NAME". Returns its index. errno: EINVAL
/// (NULL, not UTF-8, an empty folder), ENOENT, EACCES, EBADMSG (neither image nor video), ENOTSUP.
int hal_pipeline_add_source(hal_pipeline* pipeline, const char* path);

/// Returns the next frame: 1, and at `out_image` a tensor, which then belongs to the pipeline, and
/// at `out_timestamp_ns` its time. 0: the end. A negative errno: an error, which is counted; the
/// next call continues. Called on one thread of the pipeline.
typedef int (*hal_pipeline_read_callback)(void* user, hal_tensor** out_image,
                                          int64_t* out_timestamp_ns);
/// Makes a call of read that waits return; called by stop, on another thread.
typedef void (*hal_pipeline_cancel_callback)(void* user);
/// Adds frames of the program. `cancel` may be NULL: `read` does not wait for long. `is_live`:
/// frames that are not read are lost. `user` must stay valid until the pipeline and all its frames
/// are freed. errno: EINVAL (NULL), ENOMEM.
int hal_pipeline_add_reader(hal_pipeline* pipeline, const char* name,
                            hal_pipeline_read_callback read, hal_pipeline_cancel_callback cancel,
                            void* user, bool is_live);
/// Adds a network, which sees every frame. Returns its index. errno: EINVAL (NULL, thresholds),
/// ENOENT, EACCES, EBADMSG (not a model), ENOTSUP (no engine, not one image input, outputs of no
/// known kind), EIO.
int hal_pipeline_add_model(hal_pipeline* pipeline, const char* path);

/// A step after tracking. `frame` is valid during the call and not freed. 0, or an errno: the frame
/// passes later stages by, and the run continues.
typedef int (*hal_pipeline_stage_callback)(void* user, hal_pipeline_frame* frame);
/// `in_order`: one call at a time, in the order of frames; else several frames at the same time, on
/// several threads. `user` as above. errno: EINVAL (NULL), ENOMEM.
int hal_pipeline_add_stage(hal_pipeline* pipeline, const char* name,
                           hal_pipeline_stage_callback stage, void* user, bool in_order);

// Sinks: stages of the library, behind those that were added before, for the networks that were
// added before. What they write is theirs alone: a second pipeline needs another path or name.

/// Draws what was found on an upright RGB copy of each frame: boxes, or with a tracker the tracks
/// with their identities; masks at `mask_opacity`, 0 (none) to 1. hal_pipeline_frame_drawn() has
/// the image, and the sinks below send it. errno: EINVAL, ENOENT (no font is installed), ENOMEM.
int hal_pipeline_add_drawing(hal_pipeline* pipeline, float mask_opacity);
/// Writes a line of JSON for each frame and network (docs/json.md, "frame") to a file, which is
/// emptied now and may be followed. An error of writing ends the run. errno: EINVAL (NULL, not
/// UTF-8, empty), ENOENT, EACCES, that of open(2).
int hal_pipeline_add_json_lines(hal_pipeline* pipeline, const char* path);
/// Writes a video of `rate` frames a second: .mp4, .mkv, .mov, .avi. It gets its name at the end of
/// the run. An error of writing ends the run. errno: EINVAL (NULL, the rate), ENOTSUP (extension;
/// no FFmpeg), ENOENT, EACCES.
int hal_pipeline_add_video(hal_pipeline* pipeline, const char* path, double rate);
/// Publishes each frame on the topic `name`, and what was found on `name`/detections: `halyard
/// serve topic:NAME` shows both in a browser. errno: EINVAL (NULL, the name), EEXIST (of another
/// type), EACCES.
int hal_pipeline_add_topic(hal_pipeline* pipeline, const char* name);

// ---- Running

/// errno: EINVAL (no source, more than 64; a number outside its range), EEXIST (started before),
/// ENOMEM, EAGAIN or ENOSPC (the system starts no more threads), ENOTSUP (in a child of fork()).
int hal_pipeline_start(hal_pipeline* pipeline);
/// 1: the caller owns `out`, and gives it back by hal_pipeline_frame_free(); until then it counts
/// as in flight. 0: `out` is NULL; all sources have ended, or stop was called. errno: EINVAL (NULL,
/// not started, has_results is false), ETIMEDOUT, ENOMEM, ENOTSUP.
int hal_pipeline_next(const hal_pipeline* pipeline, int64_t timeout_ns, hal_pipeline_frame** out);
/// Waits until all sources have ended and all frames have passed. With has_results, frames must be
/// taken meanwhile. errno: EINVAL (NULL, not started), ENOTSUP.
int hal_pipeline_wait(const hal_pipeline* pipeline);
/// Reads no more frames, lets those on their way pass, and waits as above.
int hal_pipeline_drain(const hal_pipeline* pipeline);
/// Reads no more frames and drops those on their way.
int hal_pipeline_stop(const hal_pipeline* pipeline);
/// Holds the sources; frames of live ones are dropped meanwhile.
int hal_pipeline_set_paused(const hal_pipeline* pipeline, bool is_paused);
bool hal_pipeline_is_paused(const hal_pipeline* pipeline);  ///< NULL: false
/// errno: EINVAL (NULL, not started).
int hal_pipeline_get_stats(const hal_pipeline* pipeline, hal_pipeline_stats* out);
/// errno: as above; EINVAL also for an index beyond the end.
int hal_pipeline_get_source_stats(const hal_pipeline* pipeline, size_t source,
                                  hal_pipeline_source_stats* out);
/// "load", "convert", "model", "decode", "track", then the program's. errno: as above.
int hal_pipeline_get_stage_stats(const hal_pipeline* pipeline, size_t stage,
                                 hal_pipeline_stage_stats* out);
/// The name of a class; NULL if it has none. Valid as long as the pipeline.
const char* hal_pipeline_label(const hal_pipeline* pipeline, size_t model, size_t label);

// ---- Frames

/// Not for the frames of stages, which it leaves alone.
void hal_pipeline_frame_free(hal_pipeline_frame* frame);
/// errno: EINVAL (NULL).
int hal_pipeline_frame_get_info(const hal_pipeline_frame* frame, hal_pipeline_frame_info* out);
/// The file, or the source's name; NULL for NULL. Valid as long as the frame.
const char* hal_pipeline_frame_path(const hal_pipeline_frame* frame);
/// "STAGE: reason" of the first stage that failed; NULL: all have succeeded. Valid as long as the
/// frame.
const char* hal_pipeline_frame_error(const hal_pipeline_frame* frame);
/// Another handle of the image, which the caller frees; it may be kept beyond the frame. errno:
/// EINVAL (NULL), ENOMEM.
hal_tensor* hal_pipeline_frame_image(const hal_pipeline_frame* frame);
/// As hal_pipeline_frame_image(), of what hal_pipeline_add_drawing() drew. errno: EINVAL (NULL),
/// ENOENT (nothing was drawn), ENOMEM.
hal_tensor* hal_pipeline_frame_drawn(const hal_pipeline_frame* frame);
/// Whether the network has not seen the frame; NULL, or a model that does not exist: true.
bool hal_pipeline_frame_is_skipped(const hal_pipeline_frame* frame, size_t model);
/// What the network has found, best first, in pixels of the upright image. The caller frees it.
/// errno: EINVAL (NULL, a model that does not exist), ENOMEM.
hal_detect_box_list* hal_pipeline_frame_boxes(const hal_pipeline_frame* frame, size_t model);
/// Number of live tracks; NULL, or a model that does not exist: 0.
size_t hal_pipeline_frame_track_count(const hal_pipeline_frame* frame, size_t model);
/// By id. errno: EINVAL (NULL, a model that does not exist, an index beyond the end).
int hal_pipeline_frame_get_track(const hal_pipeline_frame* frame, size_t model, size_t index,
                                 hal_pipeline_track* out);

HAL_END
