// SPDX-License-Identifier: Apache-2.0
// The fake plugin of cameras, loaded by the library and told by the test what to do.
#pragma once

#include <gtest/gtest.h>
#include <linux/videodev2.h>

#include <cstdlib>
#include <string>

#include "base/system/shared_object.h"
#include "capture/fake/fake_camera.h"
#include "capture/fakes/camera_plugin.h"
#include "halyard/c/capture_plugin.h"
#include "halyard/camera.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard::test {

/// Folder of the fakes.
inline std::string fake_plugin(const std::string& file) {
  return std::string(HALYARD_FAKE_CAMERAS) + "/" + file;
}

/// Names the plugin in the environment, and gives it back as new. There is no V4L2 camera.
class CameraPlugin : public ::testing::Test {
 protected:
  static constexpr char variable[] = "HALYARD_CAMERA_PLUGINS";

  void SetUp() override {
    ::setenv(variable, fake_plugin("fake.so").c_str(), 1);
    const auto object = SharedObject::open(fake_plugin("fake.so"), "the fake");
    ASSERT_OK(object);
    stack_ = object->function<FakeStackFunction>("fake_stack")();
    ASSERT_EQ(stack_->opened, stack_->closed) << "of the test before";
    reset();
  }
  void TearDown() override {
    EXPECT_EQ(stack_->opened, stack_->closed) << "each camera was closed";
    ::unsetenv(variable);
  }
  void reset() {
    const FakeStack fresh;
    stack_->ids = fresh.ids;
    stack_->fourccs = {V4L2_PIX_FMT_NV12, V4L2_PIX_FMT_YUYV, v4l2_fourcc('B', 'G', '2', '4'),
                       v4l2_fourcc('H', '2', '6', '4')};
    stack_->rate = fresh.rate;
    stack_->buffers = stack_->planes = stack_->answered_width = 0;
    stack_->arrangement = FakePlanes::joined;
    stack_->padding = 0;
    stack_->reason = fresh.reason;
    stack_->camera = stack_->open = stack_->configure = stack_->buffer = stack_->start =
        stack_->take = stack_->set_control = HAL_CAPTURE_OK;
    stack_->has_no_fd = stack_->has_bad_memory = false;
    stack_->brightness = fresh.brightness;
  }
  bool produce(int value, std::uint32_t sequence = 0, std::uint32_t flags = 0,
               const std::vector<std::uint8_t>& bytes = {}) {
    return stack_->produce(value, sequence, flags, bytes);
  }
  static Camera open(const CameraOptions& options = {}) {
    auto camera = Camera::open("fake:0", options);
    EXPECT_OK(camera);
    return *std::move(camera);
  }

  FakeCameras no_v4l2_;
  FakeStack* stack_ = nullptr;
};

}  // namespace halyard::test
