// SPDX-License-Identifier: Apache-2.0
// Cameras in C without a camera: what is refused, with which errno.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "halyard/hal.h"

namespace {

int errno_of_open(const char* path, const hal_camera_options* options) {
  errno = 0;
  EXPECT_EQ(hal_camera_open(path, options), nullptr);
  return errno;
}

TEST(CameraInC, what_is_no_camera_is_refused) {
  EXPECT_EQ(errno_of_open("/dev/null", nullptr), ENOTSUP);
  EXPECT_NE(std::string(hal_last_error()).find("no V4L2 camera"), std::string::npos);
  EXPECT_EQ(errno_of_open("/dev/video12345", nullptr), ENOENT);
  EXPECT_EQ(errno_of_open(nullptr, nullptr), EINVAL);
  EXPECT_EQ(errno_of_open("", nullptr), EINVAL);
}

TEST(CameraInC, options_are_checked) {
  hal_camera_options options = hal_camera_options_default();
  EXPECT_EQ(options.format, HAL_CAMERA_ANY_FORMAT);
  EXPECT_EQ(options.buffers, 4U);
  const auto refused = [&] { return errno_of_open("/dev/null", &options) == EINVAL; };
  options.buffers = 1;
  EXPECT_TRUE(refused());
  options = hal_camera_options_default();
  options.format = 1000;
  EXPECT_TRUE(refused());
  options = hal_camera_options_default();
  options.width = 640;
  EXPECT_TRUE(refused());
  options = hal_camera_options_default();
  options.fourcc = "YUYV2";
  EXPECT_TRUE(refused());
  options = hal_camera_options_default();
  options.image_count = 2;
  EXPECT_TRUE(refused());
  const hal_tensor* images[2] = {nullptr, nullptr};
  options.images = images;
  EXPECT_TRUE(refused());
  options = hal_camera_options_default();
  options.pool = reinterpret_cast<const hal_pool*>(&images);
  EXPECT_TRUE(refused());
  EXPECT_NE(std::string(hal_last_error()).find("options.pool"), std::string::npos);
  hal_pool* const pool = hal_pool_create(4712, nullptr);
  hal_tensor* const image =
      hal_tensor_new_image(64, 32, HAL_PIXEL_FORMAT_GREY, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  images[0] = images[1] = image;
  options.pool = pool;
  options.images = images;
  options.image_count = 2;
  EXPECT_TRUE(refused());
  EXPECT_NE(std::string(hal_last_error()).find("images, pool"), std::string::npos);
  hal_tensor_free(image);
  hal_pool_free(pool);
}

TEST(CameraInC, calls_without_a_camera_fail) {
  hal_camera_mode mode;
  hal_camera_stats stats;
  hal_camera_frame frame;
  std::int64_t value = 0;
  const auto is_invalid = [](int result) { return result == -1 && errno == EINVAL; };
  EXPECT_TRUE(is_invalid(hal_camera_get_mode(nullptr, &mode)));
  EXPECT_TRUE(is_invalid(hal_camera_next(nullptr, 0, &frame)));
  EXPECT_TRUE(is_invalid(hal_camera_fd(nullptr)));
  EXPECT_TRUE(is_invalid(hal_camera_cancel(nullptr)));
  EXPECT_TRUE(is_invalid(hal_camera_get_stats(nullptr, &stats)));
  EXPECT_TRUE(is_invalid(hal_camera_controls(nullptr, nullptr, 0)));
  EXPECT_TRUE(is_invalid(hal_camera_get_control(nullptr, "gain", &value)));
  EXPECT_TRUE(is_invalid(hal_camera_set_control(nullptr, "gain", 1)));
  EXPECT_TRUE(is_invalid(hal_camera_set_control_entry(nullptr, "gain", "high")));
  EXPECT_TRUE(is_invalid(hal_camera_list(nullptr, 1)));
  EXPECT_GE(hal_camera_list(nullptr, 0), 0);
  EXPECT_TRUE(is_invalid(hal_camera_sizes(nullptr, nullptr, 0)));
  EXPECT_TRUE(is_invalid(hal_camera_sizes("/dev/null", nullptr, 1)));
  EXPECT_EQ(hal_camera_sizes("/dev/video12345", nullptr, 0), -1);
  EXPECT_EQ(errno, ENOENT);
  hal_camera_free(nullptr);
}

}  // namespace
