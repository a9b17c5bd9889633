// SPDX-License-Identifier: Apache-2.0
// A camera that goes away, fails or stops, and comes back.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "capture/fake/fake_camera.h"
#include "halyard/camera.h"
#include "support/result.h"
#include "support/special_values.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using test::at_once;
using test::FakeCameras;
using test::FakeNode;

constexpr milliseconds some_time{10'000};

class CameraUnplug : public ::testing::Test {
 protected:
  CameraUnplug() : node_(cameras_.add(grey_camera())) {}
  static FakeNode grey_camera() {
    FakeNode node;
    node.formats = {{V4L2_PIX_FMT_GREY, {{64, 32, {30}}}}};
    return node;
  }
  static Camera open(const CameraOptions& options = {}) {
    auto camera = Camera::open("/dev/fake0", options);
    EXPECT_OK(camera);
    return *std::move(camera);
  }
  Result<CameraFrame> failing(Camera& camera, int number) {
    node_.failing = {{VIDIOC_DQBUF, number}};
    auto frame = camera.next(at_once);
    node_.failing.clear();
    return frame;
  }
  FakeCameras cameras_;
  FakeNode& node_;
};

TEST_F(CameraUnplug, each_end_has_its_own_error) {
  Camera camera = open();
  const auto expect = [&](int number, int told, const char* text) {
    const auto frame = failing(camera, number);
    EXPECT_FAILS(frame, Errc::device, text);
    if (!frame) {
      EXPECT_EQ(frame.error().os_errno, told);
    }
  };
  expect(ENODEV, ENODEV, "unplugged");
  expect(EIO, EIO, "input or output error");
  expect(EPIPE, EPIPE, "ended its stream");
  expect(EINVAL, EPIPE, "stream was stopped");
  ASSERT_TRUE(cameras_.produce(node_, 1));
  EXPECT_OK(camera.next(at_once));
}

TEST_F(CameraUnplug, a_wait_ends_when_the_camera_is_unplugged) {
  Camera camera = open();
  std::thread other([&] { cameras_.unplug(node_); });
  EXPECT_FAILS(camera.next(some_time), Errc::device, "unplugged");
  other.join();
  EXPECT_FAILS(camera.next(some_time), Errc::device, "unplugged");
  EXPECT_FAILS(camera.controls(), Errc::device, "unplugged");
  EXPECT_FAILS(camera.set_control("brightness", 1), Errc::device, "unplugged");
}

TEST_F(CameraUnplug, frames_of_an_unplugged_camera_stay_valid) {
  Camera camera = open();
  ASSERT_TRUE(cameras_.produce(node_, 9));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  cameras_.unplug(node_);
  const auto map = frame->image.map(Access::read);
  ASSERT_OK(map);
  EXPECT_EQ(static_cast<int>(*map->data()), 9);
}

TEST_F(CameraUnplug, it_is_opened_again_when_it_is_back) {
  Camera camera = open({.reopens = true});
  ASSERT_TRUE(cameras_.produce(node_, 1));
  ASSERT_OK(camera.next(at_once));
  const int descriptor = camera.fd();
  cameras_.unplug(node_);
  EXPECT_FAILS(camera.next(milliseconds(20)), Errc::timeout, "has not come back");
  EXPECT_FAILS(camera.controls(), Errc::device, "unplugged");
  cameras_.plug(node_, "/dev/fake0");
  std::thread other([&] {
    while (!cameras_.produce(node_, 7))
      std::this_thread::sleep_for(milliseconds(5));
  });
  const auto frame = camera.next(some_time);
  other.join();
  ASSERT_OK(frame);
  EXPECT_EQ(camera.stats().reopened, 1U);
  EXPECT_EQ(camera.stats().frames, 2U);
  EXPECT_EQ(camera.fd(), descriptor);
}

TEST_F(CameraUnplug, it_is_found_under_another_number_by_its_name_and_bus) {
  Camera camera = open({.reopens = true});
  ASSERT_TRUE(cameras_.produce(node_, 1));
  ASSERT_OK(camera.next(at_once));
  cameras_.unplug(node_);
  FakeNode other = grey_camera();
  other.name = "Another Camera";
  cameras_.add(std::move(other)).path = "/dev/fake0";
  EXPECT_FAILS(camera.next(at_once), Errc::timeout, "not plugged in");
  cameras_.plug(node_, "/dev/fake5");
  std::thread maker([&] {
    while (!cameras_.produce(node_, 7))
      std::this_thread::sleep_for(milliseconds(5));
  });
  EXPECT_OK(camera.next(some_time));
  maker.join();
}

TEST_F(CameraUnplug, cancel_ends_the_wait_for_its_return) {
  Camera camera = open({.reopens = true});
  cameras_.unplug(node_);
  EXPECT_FAILS(camera.next(at_once), Errc::timeout);
  std::thread other([&] { camera.cancel(); });
  EXPECT_FAILS(camera.next(milliseconds(-1)), Errc::cancelled, "cancel()");
  other.join();
}

TEST_F(CameraUnplug, old_frames_do_not_reach_the_new_stream) {
  Camera camera = open({.buffers = 2, .reopens = true});
  ASSERT_TRUE(cameras_.produce(node_, 1));
  auto old = camera.next(at_once);
  ASSERT_OK(old);
  EXPECT_FAILS(failing(camera, EIO), Errc::timeout);
  EXPECT_EQ(camera.stats().reopened, 1U) << "at once, and then not before a pause";
  EXPECT_FAILS(camera.next(milliseconds(150)), Errc::timeout, "no frame");
  EXPECT_EQ(camera.stats().reopened, 2U);
  EXPECT_EQ(cameras_.queued(node_), 2U);
  old->image = Tensor();
  EXPECT_EQ(cameras_.queued(node_), 2U);
  EXPECT_EQ(camera.stats().held, 0U);
}

TEST_F(CameraUnplug, images_of_the_caller_wait_for_their_release_after_a_return) {
  std::vector<Tensor> images;
  for (int n = 0; n < 2; ++n)
    images.push_back(*Tensor::create_image(64, 32, PixelFormat::grey, DType::u8, Memory::shm));
  Camera camera = open({.images = images, .reopens = true});
  ASSERT_TRUE(cameras_.produce(node_, 1));
  auto old = camera.next(at_once);
  ASSERT_OK(old);
  EXPECT_FAILS(failing(camera, EIO), Errc::timeout);
  EXPECT_FAILS(camera.next(milliseconds(150)), Errc::timeout);
  EXPECT_EQ(cameras_.queued(node_), 1U) << "the other is still read";
  old->image = Tensor();
  EXPECT_EQ(cameras_.queued(node_), 2U);
}

// Frames end on one thread and controls are read on another, while the camera goes and comes back.
TEST_F(CameraUnplug, frames_end_on_other_threads_while_the_camera_comes_and_goes) {
  Camera camera = open({.reopens = true});
  std::atomic<bool> is_over{false};
  std::thread maker([&] {
    while (!is_over) {
      cameras_.produce(node_, 1);
      std::this_thread::yield();
    }
  });
  std::thread reader([&] {
    while (!is_over) {
      camera.stats();
      camera.controls().has_value();
    }
  });
  for (int n = 0; n < 200; ++n) {
    auto frame = camera.next(some_time);
    ASSERT_OK(frame);
    std::thread([image = std::move(frame->image)]() mutable { image = Tensor(); }).join();
    if (n % 50 == 49) {
      cameras_.unplug(node_);
      cameras_.plug(node_, "/dev/fake0");
    }
  }
  is_over = true;
  maker.join();
  reader.join();
  EXPECT_EQ(camera.stats().held, 0U);
  EXPECT_GE(camera.stats().reopened, 3U);
}

class CameraImagesTest : public CameraUnplug {
 protected:
  static std::vector<Tensor> make(std::size_t count, std::size_t stride = 64) {
    std::vector<Tensor> images;
    ImageOptions options;
    options.memory = Memory::shm;
    options.stride_bytes = stride;
    for (std::size_t n = 0; n < count; ++n)
      images.push_back(*Tensor::create_image(64, 32, PixelFormat::grey, options));
    return images;
  }
};

TEST_F(CameraImagesTest, the_driver_writes_into_the_callers_images) {
  const auto images = make(3, 128);
  Camera camera = open({.images = images});
  EXPECT_EQ(camera.mode().transfer, CameraTransfer::caller_buffers);
  EXPECT_EQ(camera.mode().stride_bytes, 128U);
  EXPECT_EQ(camera.mode().buffers, 3U);
  ASSERT_TRUE(cameras_.produce(node_, 33));
  {
    const auto frame = camera.next(at_once);
    ASSERT_OK(frame);
    EXPECT_EQ(frame->image.buffer()->id(), images[0].buffer()->id());
    const auto map = images[0].map(Access::read);
    ASSERT_OK(map);
    EXPECT_EQ(static_cast<int>(*map->data()), 33);
    EXPECT_EQ(camera.stats().held, 1U);
  }
  EXPECT_EQ(camera.stats().held, 0U) << "the caller's own tensors hold nothing";
  EXPECT_EQ(cameras_.queued(node_), 3U);
}

TEST_F(CameraImagesTest, images_that_the_driver_cannot_use_are_refused) {
  const auto open = [](std::vector<Tensor> images) {
    return Camera::open("/dev/fake0", {.images = std::move(images)});
  };
  EXPECT_FAILS(open(make(1)), Errc::invalid_argument, "2 to 32");
  auto twice = make(2);
  twice[1] = twice[0];
  EXPECT_FAILS(open(twice), Errc::invalid_argument, "share bytes");
  auto mixed = make(2);
  mixed[1] = make(1, 128)[0];
  EXPECT_FAILS(open(mixed), Errc::invalid_argument, "one size");
  std::vector<Tensor> heap;
  for (int n = 0; n < 2; ++n)
    heap.push_back(*Tensor::create_image(64, 32, PixelFormat::grey, DType::u8, Memory::mem));
  EXPECT_FAILS(open(heap), Errc::unsupported, "DMA-BUFs");
  std::vector<Tensor> other;
  for (int n = 0; n < 2; ++n)
    other.push_back(*Tensor::create_image(64, 32, PixelFormat::rgb, DType::u8, Memory::shm));
  EXPECT_FAILS(open(other), Errc::unsupported, "rgb of u8; it offers GREY");
  node_.formats[0].padding = 64;
  EXPECT_FAILS(open(make(2)), Errc::unsupported, "128, not 64 bytes");
  node_.formats[0].padding = 0;
  node_.formats[0].offset_bytes = 4096;
  EXPECT_FAILS(open(make(2)), Errc::unsupported, "larger buffers");
  node_.formats[0].offset_bytes = 0;
  node_.failing = {{VIDIOC_QBUF, EINVAL}};
  EXPECT_FAILS(open(make(2)), Errc::unsupported, "does not take the memory");
  node_.failing = {{VIDIOC_QBUF, EFAULT}};
  EXPECT_FAILS(open(make(2)), Errc::unsupported, "contiguous");
  node_.failing.clear();
  node_.max_buffers = 2;
  EXPECT_FAILS(open(make(3)), Errc::exhausted, "2 of 3");
  node_.has_dmabuf = false;
  EXPECT_FAILS(open(make(2)), Errc::unsupported, "takes no buffers of others");
}

class CameraControls : public CameraUnplug {
 protected:
  CameraControls() {
    node_.controls = {
        {V4L2_CID_BRIGHTNESS, V4L2_CTRL_TYPE_INTEGER, "Brightness", 0, 255, 1, 128},
        {V4L2_CID_AUTO_WHITE_BALANCE, V4L2_CTRL_TYPE_BOOLEAN, "White Balance, Automatic", 0, 1, 1,
         1},
        {V4L2_CID_DO_WHITE_BALANCE, V4L2_CTRL_TYPE_BUTTON, "Do White Balance"},
        {V4L2_CID_GAIN, V4L2_CTRL_TYPE_INTEGER, "Gain", 0, 10, 1, 3, V4L2_CTRL_FLAG_READ_ONLY},
        {V4L2_CID_POWER_LINE_FREQUENCY,
         V4L2_CTRL_TYPE_MENU,
         "Power Line Frequency",
         0,
         2,
         1,
         0,
         0,
         {"Disabled", "", "60 Hz"}}};
  }
};

TEST_F(CameraControls, controls_are_listed_by_name) {
  const Camera camera = open();
  const auto controls = camera.controls();
  ASSERT_OK(controls);
  ASSERT_EQ(controls->size(), 5U);
  std::map<std::string, CameraControl> named;
  for (const CameraControl& control : *controls)
    named[control.name] = control;
  EXPECT_EQ(named["brightness"].value, 128);
  EXPECT_EQ(named["brightness"].maximum, 255);
  EXPECT_EQ(named["white_balance_automatic"].kind, CameraControlKind::boolean);
  EXPECT_EQ(named["do_white_balance"].kind, CameraControlKind::button);
  EXPECT_TRUE(named["gain"].is_read_only);
  const auto& menu = named["power_line_frequency"].menu;
  ASSERT_EQ(menu.size(), 2U) << "a gap";
  EXPECT_EQ(menu[1], (std::pair<std::int64_t, std::string>(2, "60 Hz")));
}

TEST_F(CameraControls, controls_are_read_and_set) {
  Camera camera = open();
  EXPECT_OK(camera.set_control("brightness", 200));
  EXPECT_EQ(*camera.control("brightness"), 200);
  EXPECT_OK(camera.set_control("power_line_frequency", "60 Hz"));
  EXPECT_EQ(*camera.control("power_line_frequency"), 2);
  EXPECT_OK(camera.set_control("do_white_balance", 1));
}

TEST_F(CameraControls, wrong_uses_are_told) {
  Camera camera = open();
  EXPECT_FAILS(camera.control("sharpness"), Errc::not_found, "it has brightness, white_balance");
  EXPECT_FAILS(camera.set_control("brightness", 256), Errc::invalid_argument, "256, not 0 to 255");
  EXPECT_FAILS(camera.set_control("power_line_frequency", 1), Errc::invalid_argument,
               "no such entry");
  EXPECT_FAILS(camera.set_control("power_line_frequency", "50 Hz"), Errc::invalid_argument,
               "it has Disabled, 60 Hz");
  EXPECT_FAILS(camera.set_control("brightness", "high"), Errc::invalid_argument, "no menu");
  EXPECT_FAILS(camera.set_control("gain", 1), Errc::permission, "only be read");
  EXPECT_FAILS(camera.control("do_white_balance"), Errc::unsupported, "no number");
  node_.failing = {{VIDIOC_S_CTRL, EBUSY}};
  EXPECT_FAILS(camera.set_control("brightness", 1), Errc::busy, "while the camera runs");
}

}  // namespace
}  // namespace halyard
