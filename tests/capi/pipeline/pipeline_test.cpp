// SPDX-License-Identifier: Apache-2.0
// Pipelines through the C interface.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "capi/owned.h"
#include "halyard/hal.h"
#include "halyard/pipeline.h"
#include "test_paths.h"

namespace {

using namespace halyard::test;

const std::string clip = HALYARD_SOURCE_DIR "/examples/harbour/clip";
const std::string network = HALYARD_SOURCE_DIR "/examples/harbour/harbour.onnx";

hal_tensor* grey(std::uint8_t value) {
  hal_tensor* image =
      hal_tensor_new_image(16, 8, HAL_PIXEL_FORMAT_GREY, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  hal_tensor_map* map = hal_tensor_map_create(image);
  std::memset(hal_tensor_map_data(map), value, hal_tensor_map_size(map));
  hal_tensor_map_unmap(map);
  return image;
}

int pixel(const hal_pipeline_frame* frame) {
  const Owned<hal_tensor> image(hal_pipeline_frame_image(frame));
  hal_tensor_map* map = hal_tensor_map_create(image);
  const int value = *static_cast<const std::uint8_t*>(hal_tensor_map_data_const(map));
  hal_tensor_map_unmap(map);
  return value;
}

hal_pipeline_frame_info info_of(const hal_pipeline_frame* frame) {
  hal_pipeline_frame_info info{};
  EXPECT_EQ(hal_pipeline_frame_get_info(frame, &info), 0) << hal_last_error();
  return info;
}

/// `count` images whose pixels count; the third call fails if `fails`.
struct Counter {
  int count = 10;
  bool fails = false;
  int calls = 0;
  int given = 0;
  static int read(void* user, hal_tensor** out_image, std::int64_t* out_timestamp_ns) {
    Counter& self = *static_cast<Counter*>(user);
    if (self.given == self.count) return 0;
    if (++self.calls == 3 && self.fails) return -ENODEV;
    *out_image = grey(static_cast<std::uint8_t>(self.given));
    *out_timestamp_ns = self.given++ * 1000;
    return 1;
  }
};

/// The frames of a pipeline, until its end.
template <class F>
void for_each_frame(const hal_pipeline* pipeline, F&& use) {
  for (;;) {
    OwnedFrame frame;
    const int done = hal_pipeline_next(pipeline, 20'000'000'000, frame.out());
    ASSERT_GE(done, 0) << hal_last_error();
    if (done == 0) return;
    use(frame.get());
  }
}

TEST(CapiPipeline, gives_frames_of_the_program_in_order) {
  Counter counter;
  const OwnedPipeline pipeline(hal_pipeline_new(nullptr));
  EXPECT_EQ(hal_pipeline_add_reader(pipeline, "own", &Counter::read, nullptr, &counter, false), 0);
  ASSERT_EQ(hal_pipeline_start(pipeline), 0) << hal_last_error();
  int seen = 0;
  for_each_frame(pipeline, [&](hal_pipeline_frame* frame) {
    const auto info = info_of(frame);
    EXPECT_EQ(pixel(frame), seen);
    EXPECT_EQ(info.index, static_cast<std::size_t>(seen));
    EXPECT_EQ(info.ordinal, static_cast<std::uint64_t>(seen));
    EXPECT_EQ(info.timestamp_ns, seen * 1000);
    EXPECT_EQ(info.models, 0U);
    EXPECT_FALSE(info.has_failed);
    EXPECT_STREQ(hal_pipeline_frame_path(frame), "own");
    EXPECT_EQ(hal_pipeline_frame_error(frame), nullptr);
    ++seen;
  });
  EXPECT_EQ(seen, 10);
  EXPECT_EQ(hal_pipeline_wait(pipeline), 0);
  hal_pipeline_stats stats;
  ASSERT_EQ(hal_pipeline_get_stats(pipeline, &stats), 0);
  EXPECT_EQ(stats.latency.frames, 10U);
  EXPECT_EQ(stats.sources, 1U);
  EXPECT_EQ(stats.stages, 5U);
  EXPECT_GT(stats.elapsed_ns, 0);
  hal_pipeline_source_stats source;
  ASSERT_EQ(hal_pipeline_get_source_stats(pipeline, 0, &source), 0);
  EXPECT_STREQ(source.name, "own");
  EXPECT_EQ(source.read, 10U);
  EXPECT_EQ(source.delivered, 10U);
  EXPECT_TRUE(source.has_ended);
  EXPECT_EQ(hal_pipeline_get_source_stats(pipeline, 1, &source), -1);
  EXPECT_EQ(errno, EINVAL);
}

struct StageUser {
  std::vector<std::size_t> seen;
};

int fails_at_two(void* user, hal_pipeline_frame* frame) {
  const auto info = info_of(frame);
  static_cast<StageUser*>(user)->seen.push_back(info.index);
  hal_pipeline_frame_free(frame);  // leaves it alone
  return info.index == 2 ? ENOSPC : 0;
}

int notes(void* user, hal_pipeline_frame* frame) {
  static_cast<StageUser*>(user)->seen.push_back(info_of(frame).index);
  return 0;
}

TEST(CapiPipeline, an_error_of_a_stage_or_a_source_does_not_end_the_run) {
  Counter counter{.count = 5, .fails = true};
  StageUser first, second;
  const OwnedPipeline pipeline(hal_pipeline_new(nullptr));
  hal_pipeline_add_reader(pipeline, "own", &Counter::read, nullptr, &counter, false);
  EXPECT_EQ(hal_pipeline_add_stage(pipeline, "first", &fails_at_two, &first, true), 0);
  EXPECT_EQ(hal_pipeline_add_stage(pipeline, "second", &notes, &second, true), 1);
  ASSERT_EQ(hal_pipeline_start(pipeline), 0);
  std::vector<std::string> errors;
  for_each_frame(pipeline, [&](hal_pipeline_frame* frame) {
    const char* const error = hal_pipeline_frame_error(frame);
    EXPECT_EQ(info_of(frame).has_failed, error != nullptr);
    errors.emplace_back(error == nullptr ? "" : error);
  });
  // The reader's third call has failed, and counts as index 2.
  EXPECT_EQ(first.seen, (std::vector<std::size_t>{0, 1, 3, 4, 5}));
  EXPECT_EQ(second.seen, first.seen);
  hal_pipeline_source_stats source;
  ASSERT_EQ(hal_pipeline_get_source_stats(pipeline, 0, &source), 0);
  EXPECT_EQ(source.errors, 1U);
  EXPECT_NE(std::string(source.last_error).find("No such device"), std::string::npos)
      << source.last_error;
  EXPECT_EQ(errors, std::vector<std::string>(5));
}

TEST(CapiPipeline, a_stages_errno_is_the_frames_error) {
  Counter counter{.count = 4};
  StageUser first, second;
  const OwnedPipeline pipeline(hal_pipeline_new(nullptr));
  hal_pipeline_add_reader(pipeline, "own", &Counter::read, nullptr, &counter, false);
  hal_pipeline_add_stage(pipeline, "first", &fails_at_two, &first, true);
  hal_pipeline_add_stage(pipeline, "second", &notes, &second, false);
  ASSERT_EQ(hal_pipeline_start(pipeline), 0);
  std::map<std::size_t, std::string> errors;
  for_each_frame(pipeline, [&](hal_pipeline_frame* frame) {
    if (const char* const error = hal_pipeline_frame_error(frame))
      errors[info_of(frame).index] = error;
  });
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(errors[2].starts_with("first: stage: returned an error")) << errors[2];
  EXPECT_NE(errors[2].find("No space left"), std::string::npos) << errors[2];
  EXPECT_EQ(second.seen.size(), 3U);
  hal_pipeline_stage_stats stage;
  ASSERT_EQ(hal_pipeline_get_stage_stats(pipeline, 5, &stage), 0);
  EXPECT_STREQ(stage.name, "first");
  EXPECT_EQ(stage.frames, 4U);
  EXPECT_EQ(stage.errors, 1U);
  EXPECT_EQ(hal_pipeline_get_stage_stats(pipeline, 7, &stage), -1);
}

/// A reader that waits until it is cancelled.
struct Waiting {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_cancelled = false;
  static int read(void* user, hal_tensor** /*out_image*/, std::int64_t* /*out_timestamp_ns*/) {
    Waiting& self = *static_cast<Waiting*>(user);
    std::unique_lock lock(self.mutex);
    self.changed.wait(lock, [&] { return self.is_cancelled; });
    return 0;
  }
  static void cancel(void* user) {
    Waiting& self = *static_cast<Waiting*>(user);
    const std::lock_guard lock(self.mutex);
    self.is_cancelled = true;
    self.changed.notify_all();
  }
};

TEST(CapiPipeline, stop_cancels_a_reader_and_next_times_out) {
  Waiting waiting;
  const OwnedPipeline pipeline(hal_pipeline_new(nullptr));
  hal_pipeline_add_reader(pipeline, "waits", &Waiting::read, &Waiting::cancel, &waiting, true);
  OwnedFrame frame;
  EXPECT_EQ(hal_pipeline_next(pipeline, 0, frame.out()), -1);
  EXPECT_EQ(errno, EINVAL) << "not started";
  ASSERT_EQ(hal_pipeline_start(pipeline), 0);
  EXPECT_EQ(hal_pipeline_next(pipeline, 1'000'000, frame.out()), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  EXPECT_FALSE(hal_pipeline_is_paused(pipeline));
  EXPECT_EQ(hal_pipeline_set_paused(pipeline, true), 0);
  EXPECT_TRUE(hal_pipeline_is_paused(pipeline));
  EXPECT_EQ(hal_pipeline_start(pipeline), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(hal_pipeline_add_source(pipeline, clip.c_str()), -1);
  EXPECT_NE(std::string(hal_last_error()).find("was started"), std::string::npos);
  EXPECT_EQ(hal_pipeline_stop(pipeline), 0);
  EXPECT_TRUE(waiting.is_cancelled);
  EXPECT_EQ(hal_pipeline_next(pipeline, -1, frame.out()), 0);
}

TEST(CapiPipeline, wait_runs_stages_without_results) {
  Counter counter{.count = 30};
  StageUser user;
  auto options = hal_pipeline_options_default();
  options.has_results = false;
  options.in_flight = 2;
  const OwnedPipeline pipeline(hal_pipeline_new(&options));
  hal_pipeline_add_reader(pipeline, "own", &Counter::read, nullptr, &counter, false);
  hal_pipeline_add_stage(pipeline, "notes", &notes, &user, true);
  ASSERT_EQ(hal_pipeline_start(pipeline), 0);
  EXPECT_EQ(hal_pipeline_wait(pipeline), 0);
  EXPECT_EQ(user.seen.size(), 30U);
  OwnedFrame frame;
  EXPECT_EQ(hal_pipeline_next(pipeline, 0, frame.out()), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_pipeline_drain(pipeline), 0);
}

TEST(CapiPipeline, a_frame_outlives_its_pipeline) {
  Counter counter{.count = 1};
  OwnedPipeline pipeline(hal_pipeline_new(nullptr));
  hal_pipeline_add_reader(pipeline, "own", &Counter::read, nullptr, &counter, false);
  ASSERT_EQ(hal_pipeline_start(pipeline), 0);
  OwnedFrame frame;
  ASSERT_EQ(hal_pipeline_next(pipeline, -1, frame.out()), 1);
  pipeline = OwnedPipeline();
  EXPECT_EQ(pixel(frame.get()), 0);
  EXPECT_EQ(hal_pipeline_frame_track_count(frame.get(), 0), 0U);
}

TEST(CapiPipeline, refuses_what_it_cannot_run) {
  auto options = hal_pipeline_options_default();
  options.tracker = 9;
  EXPECT_EQ(hal_pipeline_new(&options), nullptr);
  EXPECT_EQ(errno, EINVAL);
  options = hal_pipeline_options_default();
  options.on_overload = -1;
  EXPECT_EQ(hal_pipeline_new(&options), nullptr);
  options = hal_pipeline_options_default();
  options.in_flight = 65;
  const OwnedPipeline pipeline(hal_pipeline_new(&options));
  EXPECT_EQ(hal_pipeline_start(pipeline), -1);
  EXPECT_NE(std::string(hal_last_error()).find("sources: must be 1..64"), std::string::npos);
  EXPECT_EQ(hal_pipeline_add_source(pipeline, "missing.png"), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(hal_pipeline_add_source(pipeline, clip.c_str()), 0);
  EXPECT_EQ(hal_pipeline_start(pipeline), -1);
  EXPECT_NE(std::string(hal_last_error()).find("in_flight: must be 1..64"), std::string::npos);
  EXPECT_EQ(hal_pipeline_add_reader(pipeline, "x", nullptr, nullptr, nullptr, false), -1);
  EXPECT_EQ(hal_pipeline_add_stage(pipeline, nullptr, &notes, nullptr, true), -1);
  EXPECT_EQ(hal_pipeline_add_model(pipeline, "missing.onnx"), -1);
  EXPECT_EQ(hal_pipeline_label(pipeline, 0, 0), nullptr);
}

#ifdef HALYARD_HAVE_OPENVINO
TEST(CapiPipeline, finds_and_tracks_what_the_cpp_pipeline_does) {
  auto options = hal_pipeline_options_default();
  options.tracker = HAL_TRACKER_BYTETRACK;
  const OwnedPipeline pipeline(hal_pipeline_new(&options));
  ASSERT_EQ(hal_pipeline_add_source(pipeline, clip.c_str()), 0) << hal_last_error();
  ASSERT_EQ(hal_pipeline_add_model(pipeline, network.c_str()), 0) << hal_last_error();
  EXPECT_STREQ(hal_pipeline_label(pipeline, 0, 0), "boat");
  ASSERT_EQ(hal_pipeline_start(pipeline), 0);
  halyard::PipelineOptions same;
  same.sources.push_back(halyard::PipelineSource::open(clip).value());
  auto preset = halyard::Preset::ultralytics();
  preset.decode = {};
  same.models.push_back(halyard::PipelineModel::open(network, {}, preset).value());
  same.tracker = halyard::ByteTrackOptions();
  same.has_results = true;
  auto other = halyard::Pipeline::create(std::move(same)).value();
  ASSERT_TRUE(other.start());
  std::set<std::uint64_t> ids;
  std::size_t count = 0;
  for_each_frame(pipeline, [&](hal_pipeline_frame* frame) {
    const auto taken = other.next().value();
    const halyard::ModelResult& wanted = (*taken)->models[0];
    const Owned<hal_detect_box_list> boxes(hal_pipeline_frame_boxes(frame, 0));
    ASSERT_EQ(hal_detect_box_list_len(boxes), wanted.detections.size());
    for (std::size_t i = 0; i < wanted.detections.size(); ++i, ++count) {
      hal_detect_box box;
      ASSERT_EQ(hal_detect_box_list_get(boxes, i, &box), 0);
      EXPECT_NEAR(box.xmin, wanted.detections[i].box.x1, 0.01);
      EXPECT_NEAR(box.score, wanted.detections[i].score, 1e-5);
      EXPECT_EQ(box.label, static_cast<std::size_t>(wanted.detections[i].label));
    }
    ASSERT_EQ(hal_pipeline_frame_track_count(frame, 0), wanted.tracks.size());
    for (std::size_t i = 0; i < wanted.tracks.size(); ++i) {
      hal_pipeline_track track;
      ASSERT_EQ(hal_pipeline_frame_get_track(frame, 0, i, &track), 0);
      EXPECT_EQ(track.id, wanted.tracks[i].id);
      EXPECT_EQ(track.detection, wanted.tracks[i].detection);
      EXPECT_NEAR(track.box.ymax, wanted.tracks[i].box.y2, 0.01);
      ids.insert(track.id);
    }
    EXPECT_FALSE(hal_pipeline_frame_is_skipped(frame, 0));
    EXPECT_TRUE(hal_pipeline_frame_is_skipped(frame, 1));
    EXPECT_EQ(hal_pipeline_frame_boxes(frame, 1), nullptr);
  });
  EXPECT_GT(count, 100U);
  EXPECT_GT(ids.size(), 3U);
}
#endif

}  // namespace
