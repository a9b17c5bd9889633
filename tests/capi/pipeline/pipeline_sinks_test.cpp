// SPDX-License-Identifier: Apache-2.0
// The library's own stages through the C interface: drawings, lines, videos and topics.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <string>

#include "capi/owned.h"
#include "halyard/codec.h"
#include "halyard/detection_message.h"
#include "halyard/hal.h"
#include "halyard/image_message.h"
#include "halyard/topic.h"
#include "support/folder.h"
#include "test_paths.h"

namespace {

using namespace halyard::test;

const std::string sink_clip = HALYARD_SOURCE_DIR "/examples/harbour/clip";
const std::string photo = sink_clip + "/frame_0000.jpg";
const std::string sink_network = HALYARD_SOURCE_DIR "/examples/harbour/harbour.onnx";

std::string text_of(const std::string& path) {
  const auto bytes = halyard::read_file(path).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The first frame, when the pipeline has ended.
hal_pipeline_frame* run(hal_pipeline* pipeline) {
  EXPECT_EQ(hal_pipeline_start(pipeline), 0) << hal_last_error();
  hal_pipeline_frame *first = nullptr, *next = nullptr;
  EXPECT_EQ(hal_pipeline_next(pipeline, -1, &first), 1) << hal_last_error();
  EXPECT_EQ(hal_pipeline_next(pipeline, -1, &next), 0);
  EXPECT_EQ(hal_pipeline_wait(pipeline), 0) << hal_last_error();
  return first;
}

TEST(CapiPipelineSinks, bad_arguments_have_their_errno) {
  const Folder folder;
  const OwnedPipeline pipeline(hal_pipeline_new(nullptr));
  for (const float opacity : {-0.1F, 1.1F, NAN}) {
    EXPECT_EQ(hal_pipeline_add_drawing(pipeline, opacity), -1);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(hal_pipeline_add_drawing(nullptr, 0.5F), -1);
  EXPECT_EQ(hal_pipeline_add_json_lines(pipeline, nullptr), -1);
  EXPECT_EQ(hal_pipeline_add_json_lines(pipeline, ""), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_pipeline_add_json_lines(pipeline, (folder / "none/x").c_str()), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(hal_pipeline_add_topic(pipeline, nullptr), -1);
  EXPECT_EQ(hal_pipeline_add_topic(pipeline, "no spaces"), -1);
  EXPECT_EQ(errno, EINVAL);
#ifdef HALYARD_HAVE_FFMPEG
  EXPECT_EQ(hal_pipeline_add_video(pipeline, (folder / "x.txt").c_str(), 25), -1);
  EXPECT_EQ(errno, ENOTSUP);
  EXPECT_EQ(hal_pipeline_add_video(pipeline, (folder / "x.mp4").c_str(), 0), -1);
  EXPECT_EQ(errno, EINVAL);
#endif
}

TEST(CapiPipelineSinks, nothing_is_added_after_the_start) {
  const Folder folder;
  const OwnedPipeline pipeline(hal_pipeline_new(nullptr));
  ASSERT_EQ(hal_pipeline_add_source(pipeline, photo.c_str()), 0);
  const OwnedFrame frame(run(pipeline));
  EXPECT_EQ(hal_pipeline_add_drawing(pipeline, 0.5F), -1);
  EXPECT_EQ(hal_pipeline_add_json_lines(pipeline, (folder / "x").c_str()), -1);
  EXPECT_EQ(hal_pipeline_add_video(pipeline, (folder / "x.mp4").c_str(), 25), -1);
  EXPECT_EQ(hal_pipeline_add_topic(pipeline, "sinks-late"), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_pipeline_frame_drawn(frame), nullptr);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(hal_pipeline_frame_drawn(nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

#ifdef HALYARD_HAVE_OPENVINO
TEST(CapiPipelineSinks, all_of_them_get_what_was_found) {
  const Folder folder;
  auto images = halyard::Topic<halyard::Image>::create("sinks-all").value();
  auto found = halyard::Topic<halyard::DetectionMessage>::create("sinks-all/detections").value();
  const OwnedPipeline pipeline(hal_pipeline_new(nullptr));
  ASSERT_EQ(hal_pipeline_add_source(pipeline, photo.c_str()), 0);
  ASSERT_EQ(hal_pipeline_add_model(pipeline, sink_network.c_str()), 0) << hal_last_error();
  ASSERT_EQ(hal_pipeline_add_drawing(pipeline, 0.5F), 0) << hal_last_error();
  ASSERT_EQ(hal_pipeline_add_json_lines(pipeline, (folder / "seen.jsonl").c_str()), 0);
  ASSERT_EQ(hal_pipeline_add_topic(pipeline, "sinks-all"), 0) << hal_last_error();
#ifdef HALYARD_HAVE_FFMPEG
  ASSERT_EQ(hal_pipeline_add_video(pipeline, (folder / "seen.mp4").c_str(), 25), 0);
#endif
  const OwnedFrame frame(run(pipeline));
  const Owned<hal_detect_box_list> boxes(hal_pipeline_frame_boxes(frame, 0));
  const std::size_t count = hal_detect_box_list_len(boxes);
  EXPECT_GT(count, 3U);
  const Owned<hal_tensor> drawn(hal_pipeline_frame_drawn(frame));
  EXPECT_EQ(hal_tensor_width(drawn), 640U);
  EXPECT_EQ(hal_tensor_pixel_format(drawn), HAL_PIXEL_FORMAT_RGB);
  const std::string line = text_of(folder / "seen.jsonl");
  EXPECT_TRUE(line.starts_with("{\"source\":")) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto image = images.recv();
  ASSERT_TRUE(image);
  EXPECT_EQ((*image).width(), 640U);
  const auto message = found.recv();
  ASSERT_TRUE(message);
  EXPECT_EQ((*message).entries.size(), count);
#ifdef HALYARD_HAVE_FFMPEG
  const OwnedPipeline player(hal_pipeline_new(nullptr));
  ASSERT_EQ(hal_pipeline_add_source(player, (folder / "seen.mp4").c_str()), 0) << hal_last_error();
  const OwnedFrame played(run(player));
  EXPECT_EQ(hal_pipeline_frame_error(played), nullptr);
#endif
}
#endif

}  // namespace
