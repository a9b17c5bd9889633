// SPDX-License-Identifier: Apache-2.0
// Frames of a camera in slots of a pool: written there by the driver, or by the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <set>
#include <vector>

#include "capture/fake/fake_camera.h"
#include "halyard/camera.h"
#include "halyard/codec.h"
#include "halyard/pool.h"
#include "support/result.h"
#include "support/special_values.h"
#include "support/value_of.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using test::at_once;
using test::FakeCameras;
using test::FakeNode;
using test::value_of;

int pixel_of(const Tensor& image, std::size_t plane = 0) {
  const auto map = value_of(image.map(Access::read));
  return static_cast<int>(*map.plane(plane).data);
}

class CameraPool : public ::testing::Test {
 protected:
  FakeNode& add(std::uint32_t fourcc, std::size_t planes = 1, std::uint32_t padding = 0) {
    return cameras_.add(test::node_of(fourcc, planes, padding));
  }
  Camera open(std::uint32_t buffers = 2, bool reopens = false) const {
    return value_of(
        Camera::open("/dev/fake0", {.buffers = buffers, .pool = pool_, .reopens = reopens}));
  }
  static std::shared_ptr<TensorPool> make_pool(std::uint32_t slots = 16) {
    TensorPoolConfig config = TensorPoolConfig::small();
    config.max_slots = slots;
    const auto process = static_cast<std::uint32_t>(::getpid());
    return value_of(TensorPool::create((slots << 24U) + process, config));
  }
  std::size_t slots() const { return pool_->stats().allocated_slots; }

  FakeCameras cameras_;
  std::shared_ptr<TensorPool> pool_ = make_pool();
};

TEST_F(CameraPool, the_driver_writes_each_frame_into_a_slot_of_its_own) {
  for (const std::size_t planes : {1U, 2U}) {
    SCOPED_TRACE(planes);
    FakeNode& node = add(planes == 1 ? V4L2_PIX_FMT_NV12 : V4L2_PIX_FMT_NV12M, planes, 64);
    const CopyStats before = copy_stats();
    {
      Camera camera = value_of(Camera::open(node.path, {.buffers = 2, .pool = pool_}));
      EXPECT_EQ(camera.mode().transfer, CameraTransfer::caller_buffers);
      EXPECT_EQ(camera.mode().stride_bytes, 128U);
      EXPECT_EQ(slots(), 2U);
      std::vector<Tensor> kept;
      for (std::uint8_t n = 0; n < 5; ++n) {
        ASSERT_TRUE(cameras_.produce(node, n));
        kept.push_back(value_of(camera.next(at_once)).image);
      }
      for (std::uint8_t n = 0; n < 5; ++n) {
        EXPECT_EQ(pixel_of(kept[n]), n) << "it is not written again";
        if (planes == 2) {
          EXPECT_EQ(pixel_of(kept[n], 1), n + 1);
        }
        EXPECT_TRUE(TensorHandle::is_handle(kept[n]));
      }
      EXPECT_EQ(slots(), 7U) << "five frames, and two for the driver";
      EXPECT_EQ(camera.stats().held, 0U);
      kept.clear();
      EXPECT_EQ(slots(), 2U);
    }
    EXPECT_EQ(slots(), 0U);
    EXPECT_EQ(copy_stats().copies, before.copies);
    cameras_.unplug(node);
  }
}

TEST_F(CameraPool, waits_for_a_slot_and_tells_that_there_is_none) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  pool_ = make_pool(3);
  Camera camera = open();
  std::vector<Tensor> kept;
  for (int n = 0; n < 3; ++n) {
    ASSERT_TRUE(cameras_.produce(node, 1));
    kept.push_back(value_of(camera.next(at_once)).image);
  }
  EXPECT_FALSE(cameras_.produce(node, 2)) << "the driver has nothing to fill";
  EXPECT_FAILS(camera.next(milliseconds(20)), Errc::exhausted, "the pool has no free slot");
  pollfd polled{camera.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 10'000), 1) << "it asks to be called again";
  kept.erase(kept.begin());
  EXPECT_FAILS(camera.next(milliseconds(20)), Errc::timeout, "no frame");
  ASSERT_TRUE(cameras_.produce(node, 3));
  const auto frame = value_of(camera.next(at_once));
  EXPECT_EQ(pixel_of(frame.image), 3);
  EXPECT_EQ(frame.lost, 1U);
  kept.clear();
  EXPECT_FAILS(camera.next(at_once), Errc::timeout);
  EXPECT_EQ(cameras_.queued(node), 2U);
  EXPECT_EQ(::poll(&polled, 1, 0), 0);
}

TEST_F(CameraPool, slots_get_their_place_at_the_driver_again_so_that_pages_stay_pinned) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open();
  std::vector<Tensor> kept(5);
  const auto pass = [&](std::size_t frames) {
    for (std::size_t n = 0; n < frames; ++n) {
      ASSERT_TRUE(cameras_.produce(node, 1));
      kept[n * n % 5] = value_of(camera.next(at_once)).image;
    }
  };
  pass(20);
  const int pins = node.pins;
  EXPECT_LE(pins, 8) << "two for the driver, five frames, and the one that is replaced";
  pass(500);
  EXPECT_EQ(node.pins, pins);
}

TEST_F(CameraPool, more_slots_than_places_at_the_driver) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  pool_ = make_pool(64);
  Camera camera = open();
  std::vector<Tensor> kept;
  for (std::uint8_t n = 0; n < 50; ++n) {
    ASSERT_TRUE(cameras_.produce(node, n));
    kept.push_back(value_of(camera.next(at_once)).image);
  }
  for (std::uint8_t n = 0; n < 50; ++n)
    EXPECT_EQ(pixel_of(kept[n]), n);
  EXPECT_EQ(slots(), 52U);
}

TEST_F(CameraPool, frames_that_are_not_returned_keep_their_slot) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = value_of(Camera::open(node.path, {.pool = pool_, .latest_only = true}));
  for (std::uint8_t n = 0; n < 3; ++n)
    ASSERT_TRUE(cameras_.produce(node, n));
  EXPECT_EQ(pixel_of(value_of(camera.next(at_once)).image), 2);
  ASSERT_TRUE(cameras_.produce(node, 9, V4L2_BUF_FLAG_ERROR));
  EXPECT_FAILS(camera.next(at_once), Errc::timeout);
  EXPECT_EQ(camera.stats().dropped, 2U);
  EXPECT_EQ(camera.stats().corrupt, 1U);
  EXPECT_EQ(cameras_.queued(node), 4U);
  EXPECT_EQ(slots(), 4U);
}

TEST_F(CameraPool, drivers_that_cannot_write_into_it_cost_a_counted_copy_into_a_slot) {
  for (const int pointer_errno : {0, EINVAL, EFAULT}) {
    SCOPED_TRACE(pointer_errno);
    FakeNode& node = add(V4L2_PIX_FMT_NV12);
    node.has_userptr = pointer_errno != 0;
    node.pointer_errno = pointer_errno;
    Camera camera = value_of(Camera::open(node.path, {.buffers = 2, .pool = pool_}));
    EXPECT_EQ(camera.mode().transfer, CameraTransfer::copied);
    EXPECT_EQ(slots(), 0U);
    ASSERT_TRUE(cameras_.produce(node, 7));
    const CopyStats before = copy_stats();
    const auto frame = value_of(camera.next(at_once));
    EXPECT_EQ(pixel_of(frame.image), 7);
    EXPECT_TRUE(TensorHandle::is_handle(frame.image));
    EXPECT_EQ(copy_stats().copies, before.copies + 1);
    EXPECT_EQ(camera.stats().copies, 1U);
    EXPECT_EQ(cameras_.queued(node), 2U);
  }
}

TEST_F(CameraPool, a_buffer_that_must_be_larger_than_the_image_is_copied) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY, 2);
  node.formats[0].planes = 1;
  node.formats[0].offset_bytes = 4096;
  Camera camera = open();
  EXPECT_EQ(camera.mode().transfer, CameraTransfer::copied);
  EXPECT_EQ(slots(), 0U);
}

TEST_F(CameraPool, decoded_and_expanded_images_lie_in_it) {
  FakeNode& coded = add(V4L2_PIX_FMT_MJPEG);
  FakeNode& deep = add(V4L2_PIX_FMT_Y10);
  Camera jpegs = open();
  Camera samples = value_of(Camera::open(deep.path, {.pool = pool_}));
  EXPECT_EQ(jpegs.mode().transfer, CameraTransfer::decoded);
  EXPECT_EQ(samples.mode().transfer, CameraTransfer::expanded);
  const auto colour = value_of(Tensor::create_image(64, 32, PixelFormat::rgb));
  ASSERT_TRUE(cameras_.produce(coded, value_of(encode_jpeg(colour))));
  ASSERT_TRUE(cameras_.produce(deep, 1));
  EXPECT_TRUE(TensorHandle::is_handle(value_of(jpegs.next(at_once)).image));
  EXPECT_TRUE(TensorHandle::is_handle(value_of(samples.next(at_once)).image));
  EXPECT_EQ(slots(), 0U);
}

TEST_F(CameraPool, a_camera_that_comes_back_gets_new_slots) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open(2, true);
  ASSERT_TRUE(cameras_.produce(node, 5));
  const auto kept = value_of(camera.next(at_once));
  for (int n = 0; n < 3; ++n) {
    cameras_.unplug(node);
    EXPECT_FAILS(camera.next(at_once), Errc::timeout);
    EXPECT_EQ(slots(), 1U) << "of the frame";
    cameras_.plug(node, "/dev/fake0");
    EXPECT_FAILS(camera.next(milliseconds(500)), Errc::timeout);
    EXPECT_EQ(slots(), 3U);
    ASSERT_TRUE(cameras_.produce(node, 6));
    EXPECT_EQ(pixel_of(value_of(camera.next(at_once)).image), 6);
  }
  EXPECT_EQ(pixel_of(kept.image), 5);
  EXPECT_EQ(camera.stats().reopened, 3U);
}

TEST_F(CameraPool, wrong_options_are_named_and_nothing_is_kept) {
  add(V4L2_PIX_FMT_GREY);
  pool_ = make_pool(3);
  EXPECT_FAILS(Camera::open("/dev/fake0", {.pool = pool_}), Errc::exhausted, "slot");
  EXPECT_EQ(slots(), 0U);
  const std::vector<Tensor> images(
      2, value_of(Tensor::create_image(64, 32, PixelFormat::grey, DType::u8, Memory::shm)));
  EXPECT_FAILS(Camera::open("/dev/fake0", {.images = images, .pool = pool_}),
               Errc::invalid_argument, "images, pool");
}

}  // namespace
}  // namespace halyard
