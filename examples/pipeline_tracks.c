// SPDX-License-Identifier: Apache-2.0
// Follows objects through a video, a folder of images, a camera or a topic, in C.
//   pipeline_tracks MODEL SOURCE
#include <halyard/hal.h>
#include <stdio.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, hal_last_error());
  return 1;
}

// A stage: called for each frame, in order, on a thread of the pipeline.
static int keep_last_id(void* user, hal_pipeline_frame* frame) {
  uint64_t* last = user;
  hal_pipeline_track track;
  size_t count = hal_pipeline_frame_track_count(frame, 0);
  if (count > 0 && hal_pipeline_frame_get_track(frame, 0, count - 1, &track) == 0 &&
      track.id > *last)
    *last = track.id;
  return 0;
}

static void look_at(const hal_pipeline* pipeline, const hal_pipeline_frame* frame) {
  hal_pipeline_frame_info info;
  hal_pipeline_track track;
  if (hal_pipeline_frame_get_info(frame, &info) != 0 || info.index % 30 != 0) return;
  printf("frame %zu of %s\n", info.index, hal_pipeline_frame_path(frame));
  for (size_t i = 0; hal_pipeline_frame_get_track(frame, 0, i, &track) == 0; ++i) {
    const char* name = hal_pipeline_label(pipeline, 0, track.box.label);
    printf("  %s %llu: %.0f %.0f %.0f %.0f%s\n", name != NULL ? name : "object",
           (unsigned long long)track.id, (double)track.box.xmin, (double)track.box.ymin,
           (double)track.box.xmax, (double)track.box.ymax, track.detection < 0 ? ", not seen" : "");
  }
}

static int run(const hal_pipeline* pipeline) {
  hal_pipeline_frame* frame = NULL;
  int more = 0;
  while ((more = hal_pipeline_next(pipeline, -1, &frame)) == 1) {
    const char* error = hal_pipeline_frame_error(frame);
    if (error != NULL) fprintf(stderr, "%s\n", error);
    look_at(pipeline, frame);
    hal_pipeline_frame_free(frame);
  }
  return more;
}

int main(int argc, char** argv) {
  hal_pipeline_options options = hal_pipeline_options_default();
  hal_pipeline_stats stats;
  hal_pipeline* pipeline = NULL;
  uint64_t last_id = 0;
  int result = 1;
  if (argc != 3) {
    fprintf(stderr, "usage: pipeline_tracks MODEL SOURCE\n");
    return 2;
  }
  options.tracker = HAL_TRACKER_BYTETRACK;
  pipeline = hal_pipeline_new(&options);
  if (pipeline == NULL || hal_pipeline_add_source(pipeline, argv[2]) < 0 ||
      hal_pipeline_add_model(pipeline, argv[1]) < 0 ||
      hal_pipeline_add_stage(pipeline, "keep_last_id", &keep_last_id, &last_id, true) < 0 ||
      hal_pipeline_start(pipeline) != 0) {
    result = failed(argv[0]);
  } else if (run(pipeline) != 0 || hal_pipeline_get_stats(pipeline, &stats) != 0) {
    result = failed("next");
  } else {
    printf("%llu frames, %llu objects, %.1f ms from reading to result\n",
           (unsigned long long)stats.latency.frames, (unsigned long long)last_id,
           (double)stats.latency.p50_ns / 1e6);
    result = 0;
  }
  hal_pipeline_free(pipeline);
  return result;
}
