// SPDX-License-Identifier: Apache-2.0
// What cameras there are, what they offer, and which of it open() chooses.
#include <gtest/gtest.h>

#include <cerrno>

#include "capture/fake/fake_camera.h"
#include "halyard/camera.h"
#include "halyard/capture.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::FakeCameras;
using test::FakeNode;
using ::testing::Test;

FakeNode webcam() {
  FakeNode node;
  node.name = "HD Webcam";
  node.driver = "uvcvideo";
  node.bus = "usb-0000:00:14.0-1";
  node.formats = {{V4L2_PIX_FMT_YUYV, {{640, 480, {30, 15}}, {1280, 720, {10}}}},
                  {V4L2_PIX_FMT_MJPEG, {{640, 480, {30}}, {1920, 1080, {30}}}},
                  {v4l2_fourcc('H', '2', '6', '4'), {{1920, 1080, {60}}}}};
  return node;
}

FakeNode sensor() {
  FakeNode node;
  node.caps = V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING;
  node.formats = {{V4L2_PIX_FMT_SRGGB12, {{3280, 2464, {20}, 16}}},
                  {V4L2_PIX_FMT_NV12M, {{3840, 2160, {60}, 16}}, 2},
                  {V4L2_PIX_FMT_NV12, {{3840, 2160, {60}, 16}}}};
  return node;
}

class CameraOpen : public Test {
 protected:
  FakeCameras cameras_;
};

TEST_F(CameraOpen, cameras_are_listed_with_formats_sizes_and_rates) {
  cameras_.add(webcam());
  cameras_.add({.caps = V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING});
  cameras_.add({.name = "Closed", .open_errno = EACCES});
  const auto found = list_cameras();
  ASSERT_EQ(found.size(), 2U) << "a node without images is no camera";
  EXPECT_EQ(found[0].path, "/dev/fake0");
  EXPECT_EQ(found[0].name, "HD Webcam");
  EXPECT_EQ(found[0].driver, "uvcvideo");
  EXPECT_EQ(found[0].bus, "usb-0000:00:14.0-1");
  EXPECT_FALSE(found[0].is_multiplanar);
  ASSERT_EQ(found[0].formats.size(), 3U);
  const CameraFormat& yuyv = found[0].formats[0];
  EXPECT_EQ(yuyv.layout, (PixelLayout{PixelFormat::yuyv}));
  EXPECT_EQ(yuyv.description, "A Format");
  ASSERT_EQ(yuyv.sizes.size(), 2U);
  EXPECT_EQ(yuyv.sizes[0].rates, (std::vector<double>{30, 15}));
  EXPECT_TRUE(found[0].formats[1].is_jpeg);
  EXPECT_TRUE(found[0].formats[1].is_readable());
  EXPECT_FALSE(found[0].formats[2].is_readable());
  EXPECT_OK(found[0].usable);
  EXPECT_EQ(found[1].name, "Closed");
  EXPECT_FAILS(found[1].usable, Errc::permission, "video");
}

TEST_F(CameraOpen, one_camera_is_described_by_its_path) {
  cameras_.add(sensor());
  const auto info = camera_info("/dev/fake0");
  ASSERT_OK(info);
  EXPECT_TRUE(info->is_multiplanar);
  EXPECT_EQ(info->formats[0].sample_bits, 12);
  EXPECT_TRUE(info->formats[1].sizes[0].contains(640, 480));
  EXPECT_FALSE(info->formats[1].sizes[0].contains(641, 480));
  EXPECT_FAILS(camera_info("/dev/fake7"), Errc::not_found, "/dev/fake7");
}

TEST_F(CameraOpen, without_wishes_the_size_and_rate_decide_then_the_format) {
  cameras_.add(webcam());
  const auto camera = Camera::open("/dev/fake0");
  ASSERT_OK(camera);
  EXPECT_EQ(camera->mode().fourcc, V4L2_PIX_FMT_MJPEG) << "the only one with 1080p";
  EXPECT_EQ(camera->mode().width, 1920U);
  EXPECT_EQ(camera->mode().height, 1080U);
  EXPECT_DOUBLE_EQ(camera->mode().rate, 30);
  EXPECT_EQ(camera->mode().transfer, CameraTransfer::decoded);
}

TEST_F(CameraOpen, ranges_of_sizes_are_cut_to_1080_rows_and_colours_precede_a_mosaic) {
  cameras_.add(sensor());
  const auto camera = Camera::open(0);
  ASSERT_OK(camera);
  EXPECT_EQ(camera->mode().fourcc, V4L2_PIX_FMT_NV12);
  EXPECT_EQ(camera->mode().width, 1920U);
  EXPECT_EQ(camera->mode().height, 1072U) << "steps of 16";
  EXPECT_EQ(camera->mode().colorimetry.encoding, ColorEncoding::bt709) << "as the driver says";
  EXPECT_EQ(camera->mode().colorimetry.range, ColorRange::limited);
}

TEST_F(CameraOpen, at_a_given_size_the_best_format_wins) {
  cameras_.add(webcam());
  const auto camera = Camera::open("/dev/fake0", {.width = 640, .height = 480, .rate = 15});
  ASSERT_OK(camera);
  EXPECT_EQ(camera->mode().fourcc, V4L2_PIX_FMT_YUYV);
  EXPECT_DOUBLE_EQ(camera->mode().rate, 15);
  EXPECT_EQ(camera->mode().transfer, CameraTransfer::driver_buffers);
  EXPECT_EQ(camera->mode().buffers, 4U);
}

TEST_F(CameraOpen, a_code_chooses_planes_in_separate_buffers) {
  cameras_.add(sensor());
  const auto camera = Camera::open("/dev/fake0", {.fourcc = "NM12", .width = 640, .height = 480});
  ASSERT_OK(camera);
  EXPECT_EQ(camera->mode().fourcc, V4L2_PIX_FMT_NV12M);
  EXPECT_EQ(camera->mode().layout, (PixelLayout{PixelFormat::nv12}));
}

TEST_F(CameraOpen, what_is_not_offered_is_refused_with_what_is) {
  cameras_.add(webcam());
  const auto open = [](const CameraOptions& options) {
    return Camera::open("/dev/fake0", options);
  };
  EXPECT_FAILS(open({.format = PixelFormat::rgb}), Errc::unsupported,
               "rgb of u8; it offers YUYV, MJPG, H264");
  EXPECT_FAILS(open({.fourcc = "NV12"}), Errc::unsupported, "it offers YUYV, MJPG, H264");
  EXPECT_FAILS(open({.fourcc = "H264"}), Errc::unsupported, "H264; it offers");
  EXPECT_FAILS(open({.fourcc = "YUYV", .width = 800, .height = 600}), Errc::unsupported,
               "800x600 YUYV; it offers 640x480, 1280x720");
  EXPECT_FAILS(open({.width = 1280, .height = 720, .rate = 30}), Errc::unsupported,
               "30 at 1280x720; it offers 10");
  EXPECT_FAILS(open({.rate = 90}), Errc::unsupported, "it offers 30, 15");
}

TEST_F(CameraOpen, options_are_checked) {
  cameras_.add(webcam());
  const auto open = [](const CameraOptions& options) {
    return Camera::open("/dev/fake0", options);
  };
  EXPECT_FAILS(open({.width = 640}), Errc::invalid_argument, "640x0");
  EXPECT_FAILS(open({.width = 70000, .height = 2}), Errc::invalid_argument, "65535");
  EXPECT_FAILS(open({.rate = -1}), Errc::invalid_argument, "rate");
  EXPECT_FAILS(open({.rate = 1001}), Errc::invalid_argument, "rate");
  EXPECT_FAILS(open({.buffers = 1}), Errc::invalid_argument, "2 to 32");
  EXPECT_FAILS(open({.buffers = 33}), Errc::invalid_argument, "2 to 32");
  EXPECT_FAILS(open({.fourcc = "YUYV2"}), Errc::invalid_argument, "fourcc");
  EXPECT_FAILS(open({.images = {Tensor()}}), Errc::invalid_argument, "images");
  EXPECT_EQ(cameras_.nodes().size(), 1U);
}

TEST_F(CameraOpen, a_rate_that_the_driver_does_not_keep_is_told) {
  FakeNode& node = cameras_.add(webcam());
  node.kept_rate = 7.5;
  EXPECT_FAILS(Camera::open("/dev/fake0", {.width = 640, .height = 480, .rate = 15}),
               Errc::unsupported, "7.5, not 15");
  const auto camera = Camera::open("/dev/fake0", {.width = 640, .height = 480});
  ASSERT_OK(camera);
  EXPECT_DOUBLE_EQ(camera->mode().rate, 7.5) << "none was asked for";
}

TEST_F(CameraOpen, each_failure_has_its_own_message) {
  FakeNode& node = cameras_.add(webcam());
  const auto failing = [&](unsigned long request, int number) {
    node.failing = {{request, number}};
    auto camera = Camera::open("/dev/fake0", {.fourcc = "YUYV"});
    node.failing.clear();
    return camera;
  };
  EXPECT_FAILS(failing(VIDIOC_S_FMT, EBUSY), Errc::busy, "another program uses it");
  EXPECT_FAILS(failing(VIDIOC_REQBUFS, EBUSY), Errc::busy, "another program uses it");
  EXPECT_FAILS(failing(VIDIOC_STREAMON, ENOSPC), Errc::exhausted, "bandwidth");
  EXPECT_FAILS(failing(VIDIOC_STREAMON, EIO), Errc::device, "input or output error");
  EXPECT_FAILS(failing(VIDIOC_REQBUFS, ENOMEM), Errc::no_memory, "no memory");
  EXPECT_FAILS(failing(VIDIOC_QUERYCAP, ENOTTY), Errc::unsupported, "no V4L2 camera");
  EXPECT_FAILS(failing(VIDIOC_S_FMT, ENODEV), Errc::device, "unplugged");
  node.open_errno = EBUSY;
  EXPECT_FAILS(Camera::open("/dev/fake0"), Errc::busy, "/dev/fake0");
  node.open_errno = EACCES;
  EXPECT_FAILS(Camera::open("/dev/fake0"), Errc::permission, "/dev/fake0");
  EXPECT_FAILS(Camera::open("/dev/fake9"), Errc::not_found, "no such device");
  EXPECT_FAILS(Camera::open(3), Errc::not_found, "3 of 1");
  EXPECT_FALSE(node.is_streaming);
}

TEST_F(CameraOpen, a_driver_that_gives_one_buffer_is_refused) {
  FakeNode& node = cameras_.add(webcam());
  node.max_buffers = 1;
  EXPECT_FAILS(Camera::open("/dev/fake0", {.fourcc = "YUYV"}), Errc::no_memory, "2 buffers");
}

TEST_F(CameraOpen, a_path_of_a_source_may_be_a_camera) {
  FakeNode& node = cameras_.add(webcam());
  node.formats.erase(node.formats.begin() + 1);
  for (const char* path : {"/dev/fake0", "camera:0", "camera:/dev/fake0"}) {
    SCOPED_TRACE(path);
    auto source = FrameSource::open(path);
    ASSERT_OK(source);
    EXPECT_TRUE(source->is_video());
    EXPECT_FALSE(source->frame_count());
    cameras_.produce(node, 40);
    const auto frame = source->next();
    ASSERT_OK(frame);
    ASSERT_TRUE(*frame);
    EXPECT_EQ((*frame)->source, "/dev/fake0");
    EXPECT_EQ((*frame)->index, 0U);
    EXPECT_EQ((*frame)->timestamp.count(), 0);
    EXPECT_EQ((*frame)->image.format(), PixelFormat::yuyv);
  }
  EXPECT_FAILS(FrameSource::open("camera:"), Errc::invalid_argument, "a number or a path");
  EXPECT_FAILS(FrameSource::open("camera:x"), Errc::invalid_argument, "a number or a path");
  EXPECT_FAILS(FrameSource::open("camera:5"), Errc::not_found, "fewer cameras");
}

TEST_F(CameraOpen, a_source_asks_whether_to_stop_while_a_camera_is_silent) {
  cameras_.add(webcam());
  FrameSourceOptions options;
  int asked = 0;
  options.load.is_cancelled = [&asked] { return ++asked > 2; };
  {
    auto source = FrameSource::open("/dev/fake0", options);
    ASSERT_OK(source);
    EXPECT_FAILS(source->next(), Errc::cancelled, "/dev/fake0");
  }
  options.load.is_cancelled = [] { return false; };
  options.network_timeout = std::chrono::milliseconds(150);
  auto source = FrameSource::open("/dev/fake0", options);
  ASSERT_OK(source);
  EXPECT_FAILS(source->next(), Errc::timeout, "no frame");
}

}  // namespace
}  // namespace halyard
