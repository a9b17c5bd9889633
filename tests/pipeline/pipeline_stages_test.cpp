// SPDX-License-Identifier: Apache-2.0
// The ready-made stages: what they draw, write and publish.
#include "halyard/pipeline_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "halyard/codec.h"
#include "halyard/detection_message.h"
#include "halyard/frame_record.h"
#include "halyard/image_message.h"
#include "halyard/palette.h"
#include "halyard/topic.h"
#include "sources.h"
#include "support/folder.h"

namespace halyard::test {
namespace {

using ::testing::HasSubstr;

const Folder& files() {
  static const Folder folder;
  return folder;
}

/// A frame with two detections and a track, as a pipeline leaves it.
PipelineFrame found_frame(std::size_t index = 3) {
  PipelineFrame out;
  out.frame = frame_of(grey_image(40, {64, 48}), index, "clip.mp4");
  ModelResult& result = out.models.emplace_back();
  result.detections = {{{10, 8, 30, 28}, 0.875F, 1, 0}, {{40, 20, 60, 44}, 0.5F, 0, 1}};
  result.decoded.detections = result.detections;
  Track track;
  track.id = 7;
  track.box = result.detections[0].box;
  track.label = 1;
  track.detection = 0;
  result.tracks.push_back(track);
  return out;
}

PipelineModel labelled() {
  PipelineModel out;
  out.name = "harbour";
  out.labels = {"buoy", "boat"};
  return out;
}

std::uint8_t grey_at(const Tensor& rgb, std::size_t x, std::size_t y, std::size_t channel) {
  const auto map = rgb.map(Access::read).value();
  const MappedPlane& plane = map.plane(0);
  return static_cast<std::uint8_t>(plane.data[y * plane.stride_bytes + 3 * x + channel]);
}

TEST(PipelineStages, draws_boxes_on_an_upright_copy) {
  const PipelineModel model = labelled();
  auto stages = draw_stages({&model, 1}).value();
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].order, StageOrder::any_order);
  EXPECT_EQ(stages[1].order, StageOrder::in_order);
  PipelineFrame frame = found_frame();
  frame.frame.image.set_orientation({Flip::none, Rotation::cw90});
  for (PipelineStage& stage : stages)
    ASSERT_OK(stage.run(frame));
  EXPECT_EQ(frame.drawn.size(), (Size{48, 64}));
  EXPECT_EQ(frame.drawn.format(), PixelFormat::rgb);
  EXPECT_EQ(grey_at(frame.drawn, 5, 60, 0), 40) << "outside of all boxes";
  const bool is_drawn =
      grey_at(frame.drawn, 10, 20, 0) != 40 || grey_at(frame.drawn, 10, 20, 1) != 40;
  EXPECT_TRUE(is_drawn) << "the left edge of the first box";
}

/// The pixel has the colour of the palette's entry.
bool has_color(const Tensor& rgb, std::size_t x, std::size_t y, std::uint64_t entry) {
  const Color want = palette_color(entry);
  return grey_at(rgb, x, y, 0) == want.r && grey_at(rgb, x, y, 1) == want.g &&
         grey_at(rgb, x, y, 2) == want.b;
}

/// found_frame() with a rotated box and a keypoint of each detection, in a network's input of twice
/// the size.
PipelineFrame shaped_frame() {
  PipelineFrame out = found_frame();
  ModelResult& result = out.models[0];
  result.placement = Placement::letterbox({64, 48}, {128, 96});
  result.decoded.rotated = {{20, 80, 24, 12, 0}, {100, 64, 24, 12, 1.5707964F}};
  result.decoded.keypoints_each = 2;
  result.decoded.keypoints = {{{20, 80}, 0.9F}, {{2, 90}, 0.1F}, {{100, 64}, 0.5F}, {{4, 4}, 0}};
  result.decoded.classes = {{1, 0.75F}};
  return out;
}

TEST(PipelineStages, draws_rotated_boxes_and_keypoints_in_the_frames_pixels) {
  const PipelineModel model = labelled();
  for (const bool has_tracks : {false, true}) {
    auto stages = draw_stages({&model, 1}, {.has_tracks = has_tracks}).value();
    PipelineFrame frame = shaped_frame();
    frame.models[0].decoded.classes.clear();
    for (PipelineStage& stage : stages)
      ASSERT_OK(stage.run(frame));
    const std::uint64_t first = has_tracks ? 7 : 1;
    EXPECT_TRUE(has_color(frame.drawn, 10, 40, first)) << "its keypoint";
    EXPECT_TRUE(has_color(frame.drawn, 4, 40, first)) << "the left side of its box";
    EXPECT_FALSE(has_color(frame.drawn, 7, 40, first)) << "between both";
    EXPECT_FALSE(has_color(frame.drawn, 1, 45, first)) << "a keypoint that is not visible";
    // Of the second one, which has no track, nothing is drawn with tracks.
    EXPECT_EQ(has_color(frame.drawn, 50, 32, 0), !has_tracks) << "its keypoint";
    EXPECT_EQ(has_color(frame.drawn, 50, 26, 0), !has_tracks) << "the upper side of its box";
  }
}

TEST(PipelineStages, writes_the_classes_of_the_image_into_its_corner) {
  const PipelineModel model = labelled();
  auto stages = draw_stages({&model, 1}).value();
  PipelineFrame frame;
  frame.frame = frame_of(grey_image(40, {320, 240}), 0, "a.jpg");
  frame.models.emplace_back().decoded.classes = {{1, 0.75F}};
  for (PipelineStage& stage : stages)
    ASSERT_OK(stage.run(frame));
  EXPECT_TRUE(has_color(frame.drawn, 9, 9, 1)) << "the tag";
  EXPECT_EQ(grey_at(frame.drawn, 160, 120, 0), 40);
}

TEST(PipelineStages, tells_a_missing_font_before_the_first_frame) {
  const PipelineModel model = labelled();
  DrawStageOptions options;
  options.overlay.font = "/nothing.ttf";
  EXPECT_FAILS(draw_stages({&model, 1}, options), Errc::not_found, "font");
}

TEST(PipelineStages, refuses_an_opacity_that_is_no_share) {
  for (const float opacity : {-0.1F, 1.1F, std::nanf("")}) {
    DrawStageOptions options;
    options.mask_opacity = opacity;
    EXPECT_FAILS(draw_stages({}, options), Errc::invalid_argument, "mask_opacity");
  }
}

TEST(PipelineStages, writes_a_line_of_json_for_each_frame) {
  const PipelineModel model = labelled();
  std::vector<std::string> lines;
  PipelineStage stage = json_lines_stage({&model, 1}, [&](std::string_view line) -> Status {
    if (lines.size() == 1) return make_error(Errc::os, "disk: is full");
    lines.emplace_back(line);
    return {};
  });
  EXPECT_TRUE(stage.stops_run);
  PipelineFrame frame = found_frame();
  frame.times.push_back({"model", {}, std::chrono::microseconds(1500)});
  ASSERT_OK(stage.run(frame));
  EXPECT_FAILS(stage.run(frame), Errc::os, "disk");
  const auto json = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(json["source"], "clip.mp4");
  EXPECT_EQ(json["index"], 3);
  EXPECT_EQ(json["width"], 64);
  ASSERT_EQ(json["detections"].size(), 2U);
  EXPECT_EQ(json["detections"][0]["label"], "boat");
  EXPECT_EQ(json["detections"][0]["score"], 0.875);
  EXPECT_EQ(json["detections"][0]["track"], 7);
  EXPECT_TRUE(json["detections"][1]["track"].is_null());
  EXPECT_EQ(json["timing_us"]["model"], 1500.0);
}

TEST(PipelineStages, lines_in_a_file_can_be_followed) {
  PipelineModel model;
  model.labels = {"boat", "buoy"};
  const std::string path = files() / "seen.jsonl";
  ASSERT_OK(write_file(path, std::as_bytes(std::span("an older run", 12))));
  const auto text = [&] {
    const auto bytes = read_file(path).value();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  auto stage = json_lines_stage({&model, 1}, path).value();
  EXPECT_EQ(text(), "");
  PipelineFrame first = found_frame(3), second = found_frame(4);
  EXPECT_OK(stage.run(first));
  const std::string line = text();
  EXPECT_TRUE(line.ends_with("}\n"));
  EXPECT_EQ(nlohmann::json::parse(line)["index"], 3);
  EXPECT_OK(stage.run(second));
  EXPECT_EQ(nlohmann::json::parse(text().substr(line.size()))["index"], 4);
  EXPECT_TRUE(stage.stops_run);
}

TEST(PipelineStages, a_file_of_lines_that_cannot_be_written_is_told) {
  EXPECT_FAILS(json_lines_stage({}, std::string()), Errc::invalid_argument, "path");
  EXPECT_FAILS(json_lines_stage({}, files() / "none/x"), Errc::not_found, "path");
  PipelineModel model;
  auto full = json_lines_stage({&model, 1}, std::string("/dev/full")).value();
  PipelineFrame frame = found_frame();
  EXPECT_FAILS(full.run(frame), Errc::os, "/dev/full");
}

TEST(PipelineStages, what_was_drawn_may_be_kept) {
  auto stages = draw_stages({}).value();
  PipelineFrame frame = found_frame();
  EXPECT_OK(stages[0].run(frame));
  const Tensor kept = frame.drawn;
  frame.drawn = {};
  frame.frame.image = grey_image(200, {64, 48});
  EXPECT_OK(stages[0].run(frame));
  EXPECT_NE(kept.buffer()->id(), frame.drawn.buffer()->id());
  const auto pixels = kept.map(Access::read).value();
  EXPECT_EQ(std::to_integer<int>(*pixels.plane(0).data), 40);
}

TEST(PipelineStages, a_video_appears_at_the_end_and_not_after_an_error) {
  if (VideoWriter::extensions().empty()) GTEST_SKIP() << "built without FFmpeg";
  const Folder folder;
  for (const bool has_error : {false, true}) {
    const std::string path = folder / (has_error ? "failed.mp4" : "whole.mp4");
    PipelineOptions options = options_for(counting_source(12));
    options.stages = video_stages(path, 25).value();
    options.stages.push_back(in_order([&](PipelineFrame& frame) -> Status {
      EXPECT_FALSE(std::filesystem::exists(path));
      if (has_error && frame.ordinal == 5) return make_error(Errc::device, "stage: broken");
      return {};
    }));
    options.stages.back().stops_run = true;
    auto pipeline = Pipeline::create(std::move(options)).value();
    ASSERT_OK(pipeline.start());
    EXPECT_EQ(bool(pipeline.wait()), !has_error);
    pipeline = Pipeline::create(options_for(counting_source(1))).value();
    EXPECT_EQ(std::filesystem::exists(path), !has_error);
    if (has_error) continue;
    auto video = FrameSource::open(path).value();
    std::size_t frames = 0;
    while (video.next().value())
      ++frames;
    EXPECT_EQ(frames, 12U);
  }
}

TEST(PipelineStages, a_video_that_cannot_be_written_is_told_at_once) {
  EXPECT_FAILS(video_stages(files() / "x.wrong", 25), Errc::unsupported, "");
  if (VideoWriter::extensions().empty()) return;
  EXPECT_FAILS(video_stages(files() / "x.mp4", 0), Errc::invalid_argument, "rate");
  EXPECT_FAILS(video_stages("/nowhere/x.mp4", 25), Errc::not_found, "");
}

TEST(PipelineStages, publishes_frames_and_detections) {
  const PipelineModel model = labelled();
  PipelineStage stage = topic_stage("stages-test", {&model, 1}).value();
  auto images = Topic<Image>::create("stages-test").value();
  auto found = Topic<DetectionMessage>::create("stages-test/detections").value();
  PipelineFrame frame = found_frame();
  ASSERT_OK(stage.run(frame));
  const auto image = images.recv_for(std::chrono::seconds(10));
  ASSERT_TRUE(image);
  EXPECT_EQ(image->width(), 64U);
  EXPECT_EQ(image->encoding(), ImageEncoding::mono8);
  EXPECT_EQ(image->timestamp_ns(),
            static_cast<std::uint64_t>((3 * frame_time) / std::chrono::nanoseconds(1)));
  const auto message = found.recv_for(std::chrono::seconds(10));
  ASSERT_TRUE(message);
  EXPECT_EQ(frame_id_of(message->header), "harbour");
  EXPECT_EQ(message->index, 3U);
  EXPECT_EQ(message->width, 64U);
  ASSERT_EQ(message->entries.size(), 2U);
  EXPECT_EQ(message->entries[0].track, 7U);
  EXPECT_EQ(message->entries[1].track, 0U);
  EXPECT_EQ(message->entries[1].box, (Box{40, 20, 60, 44}));
}

TEST(PipelineStages, publishes_an_image_that_is_not_upright_as_rgb) {
  PipelineStage stage = topic_stage("stages-upright", {}).value();
  auto images = Topic<Image>::create("stages-upright").value();
  PipelineFrame frame = found_frame();
  frame.frame.image.set_orientation({Flip::none, Rotation::cw90});
  ASSERT_OK(stage.run(frame));
  const auto image = images.recv_for(std::chrono::seconds(10));
  ASSERT_TRUE(image);
  EXPECT_EQ(image->width(), 48U);
  EXPECT_EQ(image->height(), 64U);
  EXPECT_EQ(image->encoding(), ImageEncoding::rgb8);
}

TEST(FrameRecord, names_the_model_that_does_not_exist) {
  FrameRecord record;
  EXPECT_FAILS(make_record(found_frame(), 1, {}, record), Errc::invalid_argument, "model");
  EXPECT_EQ(label_of({}, 7), "class 7");
}

}  // namespace
}  // namespace halyard::test
