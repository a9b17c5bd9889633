// SPDX-License-Identifier: Apache-2.0
// Plugins of cameras: how they are found, what they may answer, and each refusal.
#include "capture/camera_plugin.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "halyard/capture.h"
#include "halyard/pool.h"
#include "test_paths.h"

namespace halyard {
namespace {

using test::CameraPlugin;
using test::fake_plugin;
using test::FakePlanes;

TEST_F(CameraPlugin, its_cameras_are_listed_with_formats_and_controls) {
  const auto cameras = list_cameras();
  ASSERT_EQ(cameras.size(), 2U);
  EXPECT_EQ(cameras[0].path, "fake:front");
  EXPECT_EQ(cameras[1].path, "fake:usb/2");
  EXPECT_EQ(cameras[0].name, "Fake Sensor");
  EXPECT_EQ(cameras[0].driver, "fake");
  ASSERT_EQ(cameras[0].formats.size(), 4U);
  EXPECT_EQ(cameras[0].formats[0].layout, (PixelLayout{PixelFormat::nv12}));
  EXPECT_EQ(cameras[0].formats[2].layout, (PixelLayout{PixelFormat::rgb})) << "DRM's BGR888";
  EXPECT_EQ(cameras[0].formats[2].fourcc, V4L2_PIX_FMT_RGB24);
  EXPECT_FALSE(cameras[0].formats[3].is_readable());
  ASSERT_EQ(cameras[0].controls.size(), 2U);
  EXPECT_EQ(cameras[0].controls[0].name, "brightness");
  EXPECT_TRUE(cameras[0].controls[1].is_read_only);
}

TEST_F(CameraPlugin, a_camera_is_named_by_its_number_or_id) {
  for (const char* const path : {"fake:1", "fake:usb/2"}) {
    const auto info = camera_info(path);
    ASSERT_OK(info);
    EXPECT_EQ(info->path, "fake:usb/2");
    const auto camera = Camera::open(path);
    ASSERT_OK(camera);
    EXPECT_EQ(camera->mode().path, "fake:usb/2");
  }
  EXPECT_EQ(Camera::open(1)->mode().path, "fake:usb/2");
  EXPECT_FAILS(Camera::open("fake:2"), Errc::not_found, "front, usb/2");
  EXPECT_FAILS(Camera::open("fake:"), Errc::not_found, "front, usb/2");
  EXPECT_FAILS(camera_info("fake:back"), Errc::not_found, "front, usb/2");
  stack_->ids.clear();
  EXPECT_FAILS(Camera::open("fake:0"), Errc::not_found, "there is none");
}

TEST_F(CameraPlugin, without_libcameras_plugin_the_error_tells_what_brings_it) {
  EXPECT_FAILS(Camera::open("libcamera:0"), Errc::unsupported, "install-deps.sh libcamera");
  EXPECT_FAILS(camera_info("libcamera:0"), Errc::unsupported, "install-deps.sh libcamera");
  EXPECT_FAILS(FrameSource::open("libcamera:0"), Errc::unsupported, "install-deps.sh libcamera");
  EXPECT_FAILS(FrameSource::open("other:0"), Errc::not_found, "other:0");
  const auto plugins = list_camera_plugins();
  ASSERT_EQ(plugins.size(), 2U);
  EXPECT_EQ(plugins[0].name, "fake");
  EXPECT_EQ(plugins[0].version, "7.1");
  EXPECT_OK(plugins[0].usable);
  EXPECT_EQ(plugins[1].name, "libcamera");
  EXPECT_FAILS(plugins[1].usable, Errc::unsupported, "install-deps.sh libcamera");
}

TEST_F(CameraPlugin, files_that_are_no_plugins_are_refused_with_the_reason) {
  ::setenv(variable, HALYARD_FAKE_CAMERAS, 1);
  const auto plugins = list_camera_plugins();
  const auto usable = [&plugins](const std::string& file) -> Status {
    for (const auto& one : plugins)
      if (one.path == fake_plugin(file)) return one.usable;
    return make_error(Errc::not_found, "it is not listed");
  };
  EXPECT_OK(usable("fake.so"));
  EXPECT_FAILS(usable("fault1.so"), Errc::version, "this is 1");
  EXPECT_FAILS(usable("fault2.so"), Errc::malformed, "name");
  EXPECT_FAILS(usable("fault3.so"), Errc::malformed, "control and set_control");
  EXPECT_FAILS(usable("fault4.so"), Errc::unsupported, "hal_capture_plugin_get");
  EXPECT_FAILS(usable("fault5.so"), Errc::version, "another version");
  ::setenv(variable, "fake.so:/nowhere/libcamera.so", 1);
  const auto others = list_camera_plugins();
  ASSERT_EQ(others.size(), 2U);
  EXPECT_FAILS(others[0].usable, Errc::invalid_argument, "absolute");
  EXPECT_FAILS(others[1].usable, Errc::unsupported, "/nowhere/libcamera.so");
  EXPECT_FAILS(Camera::open("libcamera:0"), Errc::unsupported, "/nowhere/libcamera.so");
}

TEST_F(CameraPlugin, what_it_does_not_offer_is_refused_with_what_it_offers) {
  EXPECT_FAILS(Camera::open("fake:0", {.fourcc = "MJPG"}), Errc::unsupported,
               "NV12, YUYV, RGB3, H264");
  EXPECT_FAILS(Camera::open("fake:0", {.width = 640, .height = 480}), Errc::unsupported, "64x32");
  EXPECT_FAILS(Camera::open("fake:0", {.rate = 30}), Errc::unsupported, "25, not 30");
  EXPECT_EQ(stack_->asked_rate, 30);
  stack_->rate = 0;
  EXPECT_FAILS(Camera::open("fake:0", {.rate = 30}), Errc::unsupported, "nobody can set it");
  EXPECT_OK(Camera::open("fake:0")) << "without a wish any rate will do";
  stack_->answered_width = 128;
  EXPECT_FAILS(Camera::open("fake:0"), Errc::unsupported, "128x32, not 64x32");
  stack_->answered_width = 0;
  const auto image = Tensor::create_image(64, 32, PixelFormat::nv12);
  ASSERT_OK(image);
  const auto another = Tensor::create_image(64, 32, PixelFormat::nv12);
  const auto pool = TensorPool::create(static_cast<std::uint32_t>(::getpid()));
  ASSERT_OK(pool);
  EXPECT_FAILS(Camera::open("fake:0", {.pool = *pool}), Errc::unsupported, "pool: a plugin's");
  EXPECT_FAILS(Camera::open("fake:0", {.images = {*image, *another}}), Errc::unsupported,
               "its own buffers only");
}

TEST_F(CameraPlugin, results_of_its_functions_become_errors_with_its_reason) {
  const std::pair<int, Errc> results[] = {
      {HAL_CAPTURE_FAILED, Errc::device},       {HAL_CAPTURE_GONE, Errc::device},
      {HAL_CAPTURE_NOT_FOUND, Errc::not_found}, {HAL_CAPTURE_BUSY, Errc::busy},
      {HAL_CAPTURE_DENIED, Errc::permission},   {HAL_CAPTURE_UNSUPPORTED, Errc::unsupported},
      {HAL_CAPTURE_NO_MEMORY, Errc::no_memory}, {99, Errc::device}};
  for (const auto& [result, code] : results) {
    for (int* const failing :
         {&stack_->camera, &stack_->open, &stack_->configure, &stack_->start}) {
      *failing = result;
      EXPECT_FAILS(Camera::open("fake:0"), code, "a reason");
      *failing = HAL_CAPTURE_OK;
    }
  }
  stack_->buffer = HAL_CAPTURE_FAILED;
  EXPECT_FAILS(Camera::open("fake:0"), Errc::device, "does not give a buffer");
  stack_->buffer = HAL_CAPTURE_OK;
  stack_->open = HAL_CAPTURE_BUSY;
  const auto cameras = list_cameras();
  ASSERT_EQ(cameras.size(), 2U);
  EXPECT_FAILS(cameras[0].usable, Errc::busy, "a reason");
  stack_->camera = HAL_CAPTURE_FAILED;
  EXPECT_TRUE(list_cameras().empty());
}

TEST_F(CameraPlugin, wrong_answers_are_errors) {
  for (const std::uint32_t count : {1U, 33U, 4'000'000'000U}) {
    stack_->buffers = count;
    EXPECT_FAILS(Camera::open("fake:0"), Errc::device, "number of buffers");
  }
  stack_->buffers = 0;
  for (const std::uint32_t planes : {3U, 7U}) {
    stack_->planes = planes;
    EXPECT_FAILS(Camera::open("fake:0"), Errc::device, "planes");
  }
  stack_->planes = 0;
  stack_->has_no_fd = true;
  EXPECT_FAILS(Camera::open("fake:0"), Errc::device, "no descriptor");
  stack_->has_no_fd = false;
  stack_->has_bad_memory = true;
  EXPECT_FALSE(Camera::open("fake:0").has_value()) << "an eventfd is no memory";
  stack_->has_bad_memory = false;
  stack_->reason = std::string(300, 'x') + "\n";
  stack_->configure = HAL_CAPTURE_FAILED;
  EXPECT_FAILS(Camera::open("fake:0"), Errc::device, std::string(256, 'x'));
}

TEST_F(CameraPlugin, controls_are_read_and_set_by_name) {
  Camera camera = open();
  EXPECT_EQ(*camera.control("brightness"), 50);
  EXPECT_OK(camera.set_control("brightness", 70));
  EXPECT_EQ(*camera.control("brightness"), 70);
  EXPECT_FAILS(camera.set_control("brightness", 101), Errc::invalid_argument, "0 to 100");
  EXPECT_FAILS(camera.set_control("brightness", "dark"), Errc::invalid_argument, "no menu");
  EXPECT_FAILS(camera.set_control("locked", 1), Errc::permission, "locked");
  EXPECT_FAILS(camera.control("gain"), Errc::not_found, "brightness, locked");
  stack_->set_control = HAL_CAPTURE_UNSUPPORTED;
  EXPECT_FAILS(camera.set_control("brightness", 1), Errc::unsupported, "a reason");
}

}  // namespace
}  // namespace halyard
