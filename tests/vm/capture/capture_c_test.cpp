// SPDX-License-Identifier: Apache-2.0
// The camera of the C interface on the kernel's test cameras.
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "halyard/hal.h"
#include "vm/capture/capture_fixture.h"

namespace halyard::vm {
namespace {

class CaptureCTest : public CaptureFixture {};

TEST_P(CaptureCTest, frames_controls_and_counts_are_those_of_cpp) {
  std::vector<hal_camera_info> all(static_cast<std::size_t>(hal_camera_list(nullptr, 0)));
  ASSERT_GE(all.size(), 2U);
  EXPECT_EQ(hal_camera_list(all.data(), all.size()), static_cast<int>(all.size()));
  EXPECT_TRUE(all[0].is_usable);
  EXPECT_STREQ(all[0].driver, "vivid");
  std::vector<hal_camera_size> sizes(
      static_cast<std::size_t>(hal_camera_sizes(path().c_str(), nullptr, 0)));
  ASSERT_GT(sizes.size(), 20U);
  EXPECT_EQ(hal_camera_sizes(path().c_str(), sizes.data(), sizes.size()),
            static_cast<int>(sizes.size()));
  EXPECT_EQ(sizes[0].width, width);
  EXPECT_EQ(sizes[0].format, HAL_PIXEL_FORMAT_YUYV);
  EXPECT_GT(sizes[0].max_rate, 29);
  hal_camera_options options = hal_camera_options_default();
  options.format = HAL_PIXEL_FORMAT_NV12;
  options.width = width;
  options.height = height;
  hal_camera* const camera = hal_camera_open(path().c_str(), &options);
  ASSERT_NE(camera, nullptr) << hal_last_error();
  hal_camera_mode mode;
  ASSERT_EQ(hal_camera_get_mode(camera, &mode), 0);
  EXPECT_EQ(mode.format, HAL_PIXEL_FORMAT_NV12);
  EXPECT_EQ(mode.width, width);
  EXPECT_EQ(mode.transfer, HAL_CAMERA_TRANSFER_DRIVER_BUFFERS);
  hal_camera_frame frame;
  ASSERT_EQ(hal_camera_next(camera, -1, &frame), 0) << hal_last_error();
  EXPECT_EQ(hal_tensor_width(frame.image), width);
  EXPECT_GT(frame.timestamp_ns, 0);
  hal_camera_stats stats;
  ASSERT_EQ(hal_camera_get_stats(camera, &stats), 0);
  EXPECT_EQ(stats.held, 1U);
  hal_tensor_free(frame.image);
  ASSERT_EQ(hal_camera_get_stats(camera, &stats), 0);
  EXPECT_EQ(stats.held, 0U);
  EXPECT_EQ(stats.copies, 0U);
  pollfd waiting{hal_camera_fd(camera), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 10'000), 1);
  EXPECT_EQ(hal_camera_cancel(camera), 0);
  EXPECT_EQ(hal_camera_next(camera, 1'000'000, &frame), -1);
  EXPECT_EQ(errno, ECANCELED);
  EXPECT_EQ(hal_camera_open(path().c_str(), nullptr), nullptr);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(hal_camera_set_control(camera, "brightness", 77), 0);
  std::int64_t value = 0;
  EXPECT_EQ(hal_camera_get_control(camera, "brightness", &value), 0);
  EXPECT_EQ(value, 77);
  EXPECT_EQ(hal_camera_set_control(camera, "brightness", 128), 0) << "as it was";
  EXPECT_EQ(hal_camera_set_control_entry(camera, "test_pattern", "100% Red"), 0);
  EXPECT_EQ(hal_camera_set_control(camera, "no_such_control", 1), -1);
  EXPECT_EQ(errno, ENOENT);
  std::vector<hal_camera_control> controls(
      static_cast<std::size_t>(hal_camera_controls(camera, nullptr, 0)));
  ASSERT_GT(controls.size(), 10U);
  EXPECT_EQ(hal_camera_controls(camera, controls.data(), controls.size()),
            static_cast<int>(controls.size()));
  hal_camera_free(camera);
}

TEST_P(CaptureCTest, a_topic_shares_no_more_buffers_than_its_config_allows) {
  hal_camera_options options = hal_camera_options_default();
  options.format = HAL_PIXEL_FORMAT_NV12;
  hal_camera* const camera = hal_camera_open(path().c_str(), &options);
  ASSERT_NE(camera, nullptr) << hal_last_error();
  hal_topic_config config = hal_topic_config_default();
  config.max_shared_frames = 1;
  hal_topic* const topic = hal_topic_create("capture_c", HAL_MESSAGE_TENSOR, &config);
  ASSERT_NE(topic, nullptr) << hal_last_error();
  hal_topic* const stopped = hal_topic_create("capture_c", HAL_MESSAGE_TENSOR, nullptr);
  ASSERT_NE(stopped, nullptr) << hal_last_error();
  hal_topic_stats stats;
  for (int n = 0; n < 5; ++n) {
    hal_camera_frame frame;
    ASSERT_EQ(hal_camera_next(camera, -1, &frame), 0) << hal_last_error();
    EXPECT_EQ(hal_topic_send_tensor(topic, frame.image), 0) << hal_last_error();
    hal_tensor_free(frame.image);
    ASSERT_EQ(hal_topic_get_stats(topic, &stats), 0);
    EXPECT_EQ(stats.copied, static_cast<std::uint64_t>(n));
  }
  hal_topic_free(stopped);
  hal_topic_free(topic);
  hal_camera_free(camera);
}

INSTANTIATE_TEST_SUITE_P(Vivid, CaptureCTest, ::testing::Bool(), planes_name);

}  // namespace
}  // namespace halyard::vm
