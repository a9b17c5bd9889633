// SPDX-License-Identifier: Apache-2.0
// Frames of a plugin's camera: their memory, who holds it, and losses.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "capture/camera_plugin.h"
#include "halyard/capture.h"
#include "halyard/codec.h"
#include "support/descriptors.h"
#include "support/special_values.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using test::at_once;
using test::FakePlanes;

class PluginFrames : public test::CameraPlugin {
 protected:
  static int byte_of(const Tensor& image, std::size_t plane = 0, std::size_t row = 0) {
    const auto map = image.map(Access::read);
    EXPECT_OK(map);
    if (!map) return -1;
    return static_cast<int>(map->plane(plane).data[row * map->plane(plane).stride_bytes]);
  }
};

TEST_F(PluginFrames, an_image_is_the_plugins_buffer_and_returns_to_it) {
  stack_->padding = 64;
  Camera camera = open();
  EXPECT_EQ(camera.mode().transfer, CameraTransfer::driver_buffers);
  EXPECT_EQ(camera.mode().stride_bytes, 128U);
  EXPECT_EQ(camera.mode().rate, 25);
  EXPECT_EQ(camera.mode().buffers, 4U);
  const CopyStats before = copy_stats();
  ASSERT_TRUE(produce(40, 5));
  EXPECT_EQ(stack_->queued.size(), 3U);
  {
    const auto frame = camera.next(at_once);
    ASSERT_OK(frame);
    EXPECT_EQ(frame->image.format(), PixelFormat::nv12);
    EXPECT_EQ(frame->image.size(), (Size{64, 32}));
    EXPECT_TRUE(frame->image.planes_adjacent());
    EXPECT_GE(frame->image.buffer()->fd(), 0);
    EXPECT_EQ(byte_of(frame->image, 1, 15), 40);
    EXPECT_EQ(frame->timestamp, std::chrono::seconds(1));
    EXPECT_EQ(frame->image.colorimetry().encoding, ColorEncoding::bt709);
    EXPECT_EQ(camera.stats().held, 1U);
  }
  EXPECT_EQ(stack_->queued.size(), 4U) << "the buffer is back";
  EXPECT_EQ(copy_stats().copies, before.copies);
}

TEST_F(PluginFrames, planes_may_lie_apart_or_in_objects_of_their_own) {
  for (const FakePlanes arrangement : {FakePlanes::apart, FakePlanes::in_two_objects}) {
    stack_->arrangement = arrangement;
    const bool is_one = arrangement == FakePlanes::apart;
    Camera camera = open();
    ASSERT_TRUE(produce(20));
    const auto frame = camera.next(at_once);
    ASSERT_OK(frame);
    EXPECT_EQ(frame->image.is_in_one_buffer(), is_one);
    EXPECT_FALSE(frame->image.planes_adjacent());
    EXPECT_EQ(byte_of(frame->image, 0, 31), 20);
    EXPECT_EQ(byte_of(frame->image, 1, 15), is_one ? 20 : 120);
  }
}

TEST_F(PluginFrames, each_format_is_read) {
  stack_->fourccs.push_back(V4L2_PIX_FMT_Y10);
  for (const auto& [fourcc, format] :
       {std::pair("YUYV", PixelFormat::yuyv), std::pair("RGB3", PixelFormat::rgb)}) {
    Camera camera = open({.fourcc = fourcc});
    ASSERT_TRUE(produce(7));
    const auto frame = camera.next(at_once);
    ASSERT_OK(frame);
    EXPECT_EQ(frame->image.format(), format);
    EXPECT_EQ(byte_of(frame->image, 0, 31), 7);
  }
  Camera camera = open({.fourcc = "Y10"});
  EXPECT_EQ(camera.mode().transfer, CameraTransfer::expanded);
  ASSERT_TRUE(produce(0xFF));
  EXPECT_EQ(stack_->queued.size(), 3U);
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(frame->image.dtype(), DType::u16);
  EXPECT_EQ(byte_of(frame->image), 0xFF);
  EXPECT_EQ(stack_->queued.size(), 4U) << "a copy holds no buffer";
  EXPECT_EQ(camera.stats().copies, 1U);
}

TEST_F(PluginFrames, jpegs_are_decoded_and_damaged_ones_are_skipped) {
  stack_->fourccs = {v4l2_fourcc('M', 'J', 'P', 'G')};
  auto image = Tensor::create_image(64, 32, PixelFormat::grey);
  ASSERT_OK(image);
  const auto jpeg = encode_image(*image, ImageFileType::jpeg);
  ASSERT_OK(jpeg);
  Camera camera = open();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(jpeg->data());
  ASSERT_TRUE(produce(0, 0, 0, {0xFF, 0xD8, 0xFF, 1}));
  ASSERT_TRUE(produce(0, 1, 0, {bytes, bytes + jpeg->size()}));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(frame->image.size(), (Size{64, 32}));
  EXPECT_EQ(camera.stats().corrupt, 1U);
}

TEST_F(PluginFrames, gaps_damage_and_old_frames_are_counted) {
  Camera camera = open({.buffers = 8, .latest_only = true});
  ASSERT_TRUE(produce(1, 10));
  ASSERT_TRUE(produce(2, 11, HAL_CAPTURE_FRAME_DAMAGED));
  ASSERT_TRUE(produce(3, 12, 100)) << "100 bytes, too few";
  ASSERT_TRUE(produce(4, 15));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(byte_of(frame->image), 4);
  EXPECT_EQ(frame->lost, 2U);
  const CameraStats stats = camera.stats();
  EXPECT_EQ(stats.corrupt, 2U);
  EXPECT_EQ(stats.dropped, 1U);
  EXPECT_EQ(stats.lost, 2U);
  EXPECT_EQ(stack_->queued.size(), 7U);
}

TEST_F(PluginFrames, a_caller_who_holds_all_buffers_is_told) {
  Camera camera = open({.buffers = 2});
  std::vector<CameraFrame> held;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(produce(i, static_cast<std::uint32_t>(i)));
    held.push_back(*camera.next(at_once));
  }
  EXPECT_FALSE(produce(9));
  EXPECT_FAILS(camera.next(at_once), Errc::exhausted, "2 buffers");
  std::thread([&held] { held.clear(); }).join();
  EXPECT_FAILS(camera.next(at_once), Errc::timeout, "fake:front");
  ASSERT_TRUE(produce(9));
  EXPECT_OK(camera.next(at_once));
}

TEST_F(PluginFrames, a_wait_ends_by_a_frame_or_by_cancel) {
  Camera camera = open();
  pollfd ready{camera.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  std::thread other([this] {
    std::this_thread::sleep_for(milliseconds(20));
    produce(3);
  });
  EXPECT_OK(camera.next(std::chrono::seconds(30)));
  other.join();
  std::thread canceller([&camera] {
    std::this_thread::sleep_for(milliseconds(20));
    camera.cancel();
  });
  EXPECT_FAILS(camera.next(milliseconds(-1)), Errc::cancelled, "cancel()");
  canceller.join();
  EXPECT_FAILS(camera.next(milliseconds(5)), Errc::timeout, "5 ms");
}

TEST_F(PluginFrames, an_unplugged_camera_is_an_error_after_its_last_frame) {
  Camera camera = open();
  ASSERT_TRUE(produce(1));
  stack_->unplug();
  const auto last = camera.next(at_once);
  ASSERT_OK(last);
  const auto gone = camera.next(at_once);
  EXPECT_FAILS(gone, Errc::device, "unplugged");
  EXPECT_EQ(gone.error().os_errno, ENODEV);
  stack_->take = HAL_CAPTURE_FAILED;
  const auto failed = camera.next(at_once);
  EXPECT_FAILS(failed, Errc::device, "a reason");
  EXPECT_EQ(failed.error().os_errno, EIO);
  stack_->take = HAL_CAPTURE_OK;
}

TEST_F(PluginFrames, a_camera_that_comes_back_is_opened_again_by_its_id) {
  auto opened = Camera::open("fake:1", {.reopens = true});
  ASSERT_OK(opened);
  Camera camera = *std::move(opened);
  ASSERT_TRUE(produce(1));
  const auto kept = camera.next(at_once);
  ASSERT_OK(kept);
  stack_->unplug();
  stack_->ids = {"front"};
  EXPECT_FAILS(camera.next(at_once), Errc::timeout, "away");
  EXPECT_FAILS(camera.controls(), Errc::device, "unplugged");
  stack_->ids = {"usb/2", "front"};
  EXPECT_FAILS(camera.next(std::chrono::milliseconds(400)), Errc::timeout, "no frame");
  EXPECT_EQ(camera.stats().reopened, 1U);
  ASSERT_TRUE(produce(2));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(byte_of(frame->image), 2);
  EXPECT_EQ(byte_of(kept->image), 1) << "an image of the time before keeps its memory";
  EXPECT_EQ(camera.stats().held, 2U);
}

TEST_F(PluginFrames, a_buffer_that_the_plugin_does_not_have_is_an_error) {
  Camera camera = open();
  stack_->claim(4);
  EXPECT_FAILS(camera.next(at_once), Errc::device, "does not have");
  ASSERT_TRUE(produce(1));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  stack_->claim(0);
  EXPECT_FAILS(camera.next(at_once), Errc::device, "does not have") << "an image holds it";
}

TEST_F(PluginFrames, images_outlive_their_camera_and_nothing_leaks) {
  const std::size_t before = test::open_descriptors();
  for (int round = 0; round < 20; ++round) {
    Tensor image;
    {
      Camera camera = open();
      ASSERT_TRUE(produce(round));
      auto frame = camera.next(at_once);
      ASSERT_OK(frame);
      image = std::move(frame->image);
      ASSERT_TRUE(produce(99)) << "a frame that nobody takes";
    }
    EXPECT_EQ(byte_of(image), round);
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_F(PluginFrames, a_source_reads_it_like_any_camera) {
  auto source = FrameSource::open("fake:front");
  ASSERT_OK(source);
  EXPECT_TRUE(source->is_live());
  EXPECT_EQ(source->rate(), 25);
  EXPECT_EQ(stack_->queued.size(), 8U);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(produce(i, static_cast<std::uint32_t>(i)));
    const auto frame = source->next();
    ASSERT_OK(frame);
    ASSERT_TRUE(frame->has_value());
    EXPECT_EQ((*frame)->source, "fake:front");
    EXPECT_EQ((*frame)->index, static_cast<std::size_t>(i));
  }
}

TEST_F(PluginFrames, a_child_of_fork_leaves_the_camera_alone) {
  Camera camera = open();
  ASSERT_TRUE(produce(1));
  auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_refused = code_of(camera.next(at_once)) == Errc::unsupported &&
                            code_of(camera.controls()) == Errc::unsupported;
    const bool is_read = byte_of(frame->image) == 1;
    {
      const Camera ended = std::move(camera);
      frame = make_error(Errc::cancelled, "released");
    }
    ::_exit(is_refused && is_read && stack_->closed + 1 == stack_->opened ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace halyard
