// SPDX-License-Identifier: Apache-2.0
// Frames of a camera: their bytes, who holds their buffers, and what is counted.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "capture/fake/fake_camera.h"
#include "halyard/camera.h"
#include "halyard/codec.h"
#include "support/descriptors.h"
#include "support/result.h"
#include "support/special_values.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using test::at_once;
using test::FakeCameras;
using test::FakeNode;

int byte_of(const Tensor& image, std::size_t plane = 0, std::size_t at = 0) {
  const auto map = image.map(Access::read);
  EXPECT_OK(map);
  return map ? static_cast<int>(map->plane(plane).data[at]) : -1;
}

int sample_of(const Tensor& image, std::size_t at) {
  const auto map = image.map(Access::read);
  EXPECT_OK(map);
  std::uint16_t value = 0;
  if (map) std::memcpy(&value, map->plane(0).data + 2 * at, 2);
  return value;
}

class CameraFrames : public ::testing::Test {
 protected:
  FakeNode& add(std::uint32_t fourcc, std::size_t planes = 1, std::uint32_t padding = 0) {
    return cameras_.add(test::node_of(fourcc, planes, padding));
  }
  static Camera open(const CameraOptions& options = {}) {
    auto camera = Camera::open("/dev/fake0", options);
    EXPECT_OK(camera);
    return *std::move(camera);
  }
  FakeCameras cameras_;
};

TEST_F(CameraFrames, an_image_is_the_drivers_buffer_and_returns_to_it) {
  FakeNode& node = add(V4L2_PIX_FMT_NV12, 1, 32);
  Camera camera = open();
  const CopyStats before = copy_stats();
  EXPECT_EQ(cameras_.queued(node), 4U);
  ASSERT_TRUE(cameras_.produce(node, 40));
  {
    const auto frame = camera.next(at_once);
    ASSERT_OK(frame);
    EXPECT_EQ(frame->image.format(), PixelFormat::nv12);
    EXPECT_EQ(frame->image.width(), 64U);
    EXPECT_EQ(frame->image.height(), 32U);
    EXPECT_EQ(frame->image.row_stride_bytes(), 96U);
    EXPECT_EQ(byte_of(frame->image, 0, 5), 40);
    EXPECT_EQ(byte_of(frame->image, 1, 5), 40);
    EXPECT_EQ(frame->image.colorimetry().encoding, ColorEncoding::bt709);
    EXPECT_EQ(frame->sequence, 0U);
    EXPECT_EQ(frame->lost, 0U);
    EXPECT_EQ(frame->timestamp, std::chrono::seconds(7));
    EXPECT_EQ(camera.stats().held, 1U);
    EXPECT_EQ(cameras_.queued(node), 3U);
    EXPECT_FALSE(frame->image.buffer()->fd() < 0);
  }
  EXPECT_EQ(cameras_.queued(node), 4U);
  EXPECT_EQ(camera.stats().held, 0U);
  EXPECT_EQ(camera.stats().frames, 1U);
  EXPECT_EQ(camera.stats().copies, 0U);
  EXPECT_EQ(copy_stats().copies, before.copies);
}

TEST_F(CameraFrames, every_use_of_an_image_holds_its_buffer) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open();
  ASSERT_TRUE(cameras_.produce(node, 1));
  auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  Tensor part = *frame->image.slice({0, 0, 16, 16});
  frame->image = Tensor();
  EXPECT_EQ(camera.stats().held, 1U);
  auto map = part.map(Access::read);
  ASSERT_OK(map);
  part = Tensor();
  EXPECT_EQ(camera.stats().held, 1U);
  *map = TensorMap();
  EXPECT_EQ(camera.stats().held, 0U);
  EXPECT_EQ(cameras_.queued(node), 4U);
}

TEST_F(CameraFrames, buffers_keep_their_identity_from_frame_to_frame) {
  FakeNode& node = add(V4L2_PIX_FMT_NV12M, 2);
  Camera camera = open({.buffers = 2});
  std::vector<std::uint64_t> ids;
  for (int n = 0; n < 4; ++n) {
    ASSERT_TRUE(cameras_.produce(node, 10));
    const auto frame = camera.next(at_once);
    ASSERT_OK(frame);
    EXPECT_EQ(byte_of(frame->image, 0), 10);
    EXPECT_EQ(byte_of(frame->image, 1), 11) << "the second buffer";
    EXPECT_FALSE(frame->image.is_in_one_buffer());
    ids.push_back(frame->image.buffer()->id());
  }
  EXPECT_EQ(ids[0], ids[2]);
  EXPECT_EQ(ids[1], ids[3]);
  EXPECT_NE(ids[0], ids[1]);
}

TEST_F(CameraFrames, pixels_may_begin_behind_an_offset) {
  FakeNode& node = add(V4L2_PIX_FMT_NV12M, 2);
  node.formats[0].offset_bytes = 128;
  Camera camera = open();
  ASSERT_TRUE(cameras_.produce(node, 10));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(frame->image.offset_bytes(), 128U);
}

TEST_F(CameraFrames, all_buffers_held_is_told_and_a_release_on_another_thread_ends_the_wait) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open({.buffers = 2});
  std::vector<CameraFrame> kept;
  for (int n = 0; n < 2; ++n) {
    ASSERT_TRUE(cameras_.produce(node, 1));
    auto frame = camera.next(at_once);
    ASSERT_OK(frame);
    kept.push_back(*std::move(frame));
  }
  EXPECT_FALSE(cameras_.produce(node, 2)) << "the driver drops it";
  EXPECT_FAILS(camera.next(milliseconds(20)), Errc::exhausted, "2 buffers");
  std::thread other([&] {
    kept.pop_back();
    EXPECT_TRUE(cameras_.produce(node, 3));
  });
  const auto frame = camera.next(std::chrono::seconds(10));
  other.join();
  ASSERT_OK(frame);
  EXPECT_EQ(byte_of(frame->image), 3);
  EXPECT_EQ(frame->lost, 1U);
}

TEST_F(CameraFrames, frames_outlive_the_camera) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  const std::size_t before = test::open_descriptors();
  Tensor image;
  {
    Camera camera = open();
    ASSERT_TRUE(cameras_.produce(node, 77));
    auto frame = camera.next(at_once);
    ASSERT_OK(frame);
    image = std::move(frame->image);
  }
  EXPECT_FALSE(node.is_streaming);
  EXPECT_EQ(cameras_.queued(node), 0U);
  EXPECT_EQ(byte_of(image), 77);
  image = Tensor();
  EXPECT_EQ(cameras_.queued(node), 0U) << "a stopped driver is left alone";
  EXPECT_EQ(test::open_descriptors(), before + 1) << "the test's own";
}

TEST_F(CameraFrames, nothing_is_left_behind_after_many_frames_and_openings) {
  FakeNode& node = add(V4L2_PIX_FMT_NV12M, 2);
  std::size_t before = 0;
  for (int n = 0; n < 20; ++n) {
    Camera camera = open();
    for (int k = 0; k < 20; ++k) {
      ASSERT_TRUE(cameras_.produce(node, 1));
      ASSERT_OK(camera.next(at_once));
    }
    if (n == 0) before = test::open_descriptors();
    EXPECT_EQ(test::open_descriptors(), before);
  }
}

TEST_F(CameraFrames, gaps_in_the_drivers_count_are_lost_frames) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open();
  node.sequence = 0xFFFFFFFE;
  ASSERT_TRUE(cameras_.produce(node, 1));
  ASSERT_OK(camera.next(at_once));
  node.sequence = 2;  // 0xFFFFFFFF, 0 and 1 are missing
  ASSERT_TRUE(cameras_.produce(node, 1));
  auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(frame->lost, 3U);
  EXPECT_EQ(frame->sequence, 4U);
  node.sequence = 1;  // a driver that begins again
  ASSERT_TRUE(cameras_.produce(node, 1));
  frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(frame->lost, 0U);
  EXPECT_EQ(frame->sequence, 5U);
  EXPECT_EQ(camera.stats().lost, 3U);
}

TEST_F(CameraFrames, latest_only_drops_the_older_ones_of_those_that_wait) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open({.latest_only = true});
  for (int n = 0; n < 3; ++n)
    ASSERT_TRUE(cameras_.produce(node, static_cast<std::uint8_t>(10 + n)));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(byte_of(frame->image), 12);
  EXPECT_EQ(frame->sequence, 2U);
  EXPECT_EQ(frame->lost, 0U);
  EXPECT_EQ(camera.stats().dropped, 2U);
  EXPECT_EQ(cameras_.queued(node), 3U);
}

TEST_F(CameraFrames, damaged_and_short_frames_are_counted_and_skipped) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open();
  ASSERT_TRUE(cameras_.produce(node, 1, V4L2_BUF_FLAG_ERROR));
  const std::vector<std::byte> few(64 * 31);
  ASSERT_TRUE(cameras_.produce(node, few));
  ASSERT_TRUE(cameras_.produce(node, 9));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(byte_of(frame->image), 9);
  EXPECT_EQ(camera.stats().corrupt, 2U);
  EXPECT_EQ(cameras_.queued(node), 3U);
}

TEST_F(CameraFrames, a_time_that_is_not_monotonic_is_replaced) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  node.is_monotonic = false;
  Camera camera = open();
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  ASSERT_TRUE(cameras_.produce(node, 1));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_GE(frame->timestamp, before);
  EXPECT_LE(frame->timestamp, std::chrono::steady_clock::now().time_since_epoch());
}

TEST_F(CameraFrames, no_frame_is_a_timeout) {
  add(V4L2_PIX_FMT_GREY);
  Camera camera = open();
  EXPECT_FAILS(camera.next(at_once), Errc::timeout, "/dev/fake0");
  EXPECT_FAILS(camera.next(milliseconds(30)), Errc::timeout, "30 ms");
}

TEST_F(CameraFrames, cancel_ends_one_wait) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open();
  std::thread other([&] { camera.cancel(); });
  EXPECT_FAILS(camera.next(milliseconds(-1)), Errc::cancelled, "cancel()");
  other.join();
  ASSERT_TRUE(cameras_.produce(node, 1));
  EXPECT_OK(camera.next(at_once));
  camera.cancel();
  EXPECT_FAILS(camera.next(at_once), Errc::cancelled, "cancel()");
}

TEST_F(CameraFrames, the_descriptor_is_readable_while_a_frame_waits) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open();
  pollfd waiting{camera.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  ASSERT_TRUE(cameras_.produce(node, 1));
  EXPECT_EQ(::poll(&waiting, 1, 0), 1);
  ASSERT_OK(camera.next(at_once));
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  camera.cancel();
  EXPECT_EQ(::poll(&waiting, 1, 0), 1);
}

TEST_F(CameraFrames, a_driver_that_exports_nothing_costs_a_copy_that_is_counted) {
  FakeNode& node = add(V4L2_PIX_FMT_NV12, 1, 32);
  node.has_export = false;
  Camera camera = open({.memory = Memory::mem});
  EXPECT_EQ(camera.mode().transfer, CameraTransfer::copied);
  const CopyStats before = copy_stats();
  ASSERT_TRUE(cameras_.produce(node, 40));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(byte_of(frame->image, 1), 40);
  EXPECT_EQ(frame->image.colorimetry().encoding, ColorEncoding::bt709);
  EXPECT_EQ(camera.stats().copies, 1U);
  EXPECT_EQ(copy_stats().copies, before.copies + 1);
  EXPECT_EQ(cameras_.queued(node), 4U) << "the image holds no buffer";
}

TEST_F(CameraFrames, ten_bits_become_sixteen) {
  FakeNode& node = add(V4L2_PIX_FMT_Y10);
  Camera camera = open({.format = PixelFormat::grey, .dtype = DType::u16, .memory = Memory::mem});
  EXPECT_EQ(camera.mode().transfer, CameraTransfer::expanded);
  std::vector<std::byte> pixels(64 * 32 * 2);
  const std::array<std::uint16_t, 4> values{0, 1023, 512, 0xFFFF};
  std::memcpy(pixels.data(), values.data(), sizeof(values));
  ASSERT_TRUE(cameras_.produce(node, pixels));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(frame->image.dtype(), DType::u16);
  EXPECT_EQ(sample_of(frame->image, 0), 0);
  EXPECT_EQ(sample_of(frame->image, 1), 65535);
  EXPECT_EQ(sample_of(frame->image, 2), 512 * 64 + 32);
  EXPECT_EQ(sample_of(frame->image, 3), 65535) << "bits above the tenth are ignored";
  EXPECT_EQ(camera.stats().copies, 1U);
}

std::vector<std::byte> jpeg(std::size_t width, std::size_t height) {
  auto image = *Tensor::create_image(width, height, PixelFormat::nv12, DType::u8, Memory::mem);
  image.set_colorimetry(Colorimetry::jpeg());
  return *encode_jpeg(image);
}

// Cameras leave out the Huffman tables, which are those of the standard.
std::vector<std::byte> without_tables(const std::vector<std::byte>& file) {
  std::vector<std::byte> out(file.begin(), file.begin() + 2);
  std::size_t at = 2;
  while (at + 4 <= file.size() && file[at + 1] != std::byte{0xDA}) {
    const std::size_t size = 2 + std::to_integer<std::size_t>(file[at + 2]) * 256 +
                             std::to_integer<std::size_t>(file[at + 3]);
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at);
    if (file[at + 1] != std::byte{0xC4})
      out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    at += size;
  }
  out.insert(out.end(), file.begin() + static_cast<std::ptrdiff_t>(at), file.end());
  return out;
}

TEST_F(CameraFrames, jpegs_are_decoded_and_bad_ones_skipped) {
  FakeNode& node = add(V4L2_PIX_FMT_MJPEG);
  Camera camera = open({.memory = Memory::mem});
  const auto good = jpeg(64, 32);
  const auto half = std::vector<std::byte>(good.begin(), good.begin() + 300);
  ASSERT_TRUE(cameras_.produce(node, half));
  ASSERT_TRUE(cameras_.produce(node, jpeg(32, 32)));
  const std::vector<std::byte> noise(100, std::byte{0x55});
  ASSERT_TRUE(cameras_.produce(node, noise));
  auto padded = good;
  padded.resize(padded.size() + 64);
  ASSERT_TRUE(cameras_.produce(node, padded));
  const auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  EXPECT_EQ(frame->image.format(), PixelFormat::nv12);
  EXPECT_EQ(frame->image.width(), 64U);
  EXPECT_EQ(frame->image.colorimetry(), Colorimetry::jpeg());
  EXPECT_EQ(byte_of(frame->image), 0);
  EXPECT_EQ(camera.stats().corrupt, 3U);
  EXPECT_EQ(camera.stats().copies, 0U) << "decoding is no copy";
  EXPECT_EQ(cameras_.queued(node), 4U);
  ASSERT_TRUE(cameras_.produce(node, without_tables(good)));
  const auto bare = camera.next(at_once);
  ASSERT_OK(bare);
  EXPECT_EQ(byte_of(bare->image), 0);
}

TEST_F(CameraFrames, a_child_of_fork_may_use_frames_but_not_the_camera) {
  FakeNode& node = add(V4L2_PIX_FMT_GREY);
  Camera camera = open();
  ASSERT_TRUE(cameras_.produce(node, 5));
  auto frame = camera.next(at_once);
  ASSERT_OK(frame);
  const pid_t child = ::fork();
  if (child == 0) {
    int bad = byte_of(frame->image) == 5 ? 0 : 1;
    const std::size_t queued = cameras_.queued(node);
    frame->image = Tensor();
    if (cameras_.queued(node) != queued) bad |= 2;
    if (code_of(camera.next(at_once)) != Errc::unsupported) bad |= 4;
    if (code_of(camera.controls()) != Errc::unsupported) bad |= 8;
    { const Camera ended = std::move(camera); }
    if (!node.is_streaming) bad |= 16;
    ::_exit(bad);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(camera.stats().held, 1U);
}

}  // namespace
}  // namespace halyard
