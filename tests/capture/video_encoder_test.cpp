// SPDX-License-Identifier: Apache-2.0
// VideoEncoder on a driver of the test: where images lie, packets, controls, ends, failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "capture/fake/fake_codec.h"
#include "halyard/video_codec.h"
#include "support/result.h"
#include "support/special_values.h"
#include "support/value_of.h"

namespace halyard {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::at_once;
using test::FakeCodec;
using test::FakeCodecs;
using test::FakePacket;
using test::value_of;

constexpr milliseconds shortly{50};

class VideoEncoderTest : public ::testing::TestWithParam<bool> {
 protected:
  FakeCodec& add() {
    FakeCodec codec;
    codec.is_encoder = true;
    codec.is_multi = GetParam();
    return codecs_.add(std::move(codec));
  }
  static VideoEncoderOptions small() {
    VideoEncoderOptions options;
    options.width = 64;
    options.height = 32;
    return options;
  }
  static VideoEncoder open(const VideoEncoderOptions& options) {
    return value_of(VideoEncoder::open(options));
  }
  static void fill(const Tensor& image, int value) {
    const auto map = value_of(image.map(Access::write));
    for (std::size_t p = 0; p < map.plane_count(); ++p)
      for (std::size_t row = 0; row < map.plane(p).rows; ++row)
        std::memset(map.plane(p).writable + row * map.plane(p).stride_bytes, value,
                    map.plane(p).row_bytes);
  }
  static Tensor image_with(int value, Memory memory = Memory::mem) {
    Tensor image = value_of(Tensor::create_image(64, 32, PixelFormat::nv12, DType::u8, memory));
    fill(image, value);
    return image;
  }
  static FakePacket packet_of(VideoEncoder& encoder, VideoPacket* whole = nullptr) {
    auto packet = value_of(encoder.next(at_once));
    FakePacket read{0, 0, 0};
    EXPECT_TRUE(packet);
    if (!packet) return read;
    EXPECT_EQ(packet->bytes.size(), sizeof(read));
    std::memcpy(&read, packet->bytes.data(), sizeof(read));
    if (whole != nullptr) *whole = *packet;
    return read;
  }

  FakeCodecs codecs_;
};

TEST_P(VideoEncoderTest, the_drivers_buffers_are_filled_and_encoded_without_a_copy) {
  add();
  VideoEncoder encoder = open(small());
  EXPECT_EQ(encoder.memory(), EncoderMemory::automatic);
  const CopyStats before = copy_stats();
  for (int n = 0; n < 20; ++n) {
    Tensor image = *value_of(encoder.image(at_once));
    EXPECT_EQ(image.width(), 64U);
    fill(image, n + 1);
    ASSERT_TRUE(value_of(encoder.encode(image, microseconds(n))));
    image = Tensor();
    VideoPacket whole;
    const FakePacket packet = packet_of(encoder, &whole);
    EXPECT_EQ(packet.value, static_cast<std::uint32_t>(n + 1));
    EXPECT_EQ(packet.width, 64U);
    EXPECT_EQ(whole.timestamp, microseconds(n));
    EXPECT_EQ(whole.is_key_frame, n % 4 == 0);
    EXPECT_EQ(encoder.stats().held, 1U);
  }
  EXPECT_EQ(encoder.memory(), EncoderMemory::driver_buffers);
  EXPECT_EQ(encoder.stats().copies, 0U);
  EXPECT_EQ(encoder.stats().images, 20U);
  EXPECT_EQ(encoder.stats().packets, 20U);
  EXPECT_EQ(encoder.stats().held, 0U);
  EXPECT_EQ(copy_stats().copies, before.copies);
}

TEST_P(VideoEncoderTest, the_callers_buffers_are_imported_and_kept_until_read) {
  FakeCodec& codec = add();
  VideoEncoderOptions options = small();
  options.memory = EncoderMemory::caller_buffers;
  VideoEncoder encoder = open(options);
  codec.is_paused = true;
  Tensor image = image_with(9, Memory::shm);
  const std::weak_ptr<Buffer> watched = image.buffer();
  ASSERT_TRUE(value_of(encoder.encode(image, microseconds(3))));
  image = Tensor();
  EXPECT_FALSE(watched.expired()) << "the driver has not read it";
  codecs_.run(codec);
  EXPECT_EQ(packet_of(encoder).value, 9U);
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(encoder.stats().copies, 0U);
  EXPECT_FAILS(encoder.image(at_once), Errc::unsupported, "caller_buffers");
  EXPECT_FAILS(encoder.encode(image_with(1), {}), Errc::unsupported, "DMA-BUF");
  const Tensor wide = value_of(Tensor::create_image(64, 32, PixelFormat::nv12,
                                                    {.memory = Memory::shm, .stride_bytes = 128}));
  EXPECT_FAILS(encoder.encode(wide, {}), Errc::unsupported, "64 and");
}

TEST_P(VideoEncoderTest, the_driver_takes_the_callers_stride_where_it_can) {
  add();
  VideoEncoderOptions options = small();
  options.memory = EncoderMemory::caller_buffers;
  VideoEncoder encoder = open(options);
  const Tensor wide = value_of(Tensor::create_image(64, 32, PixelFormat::nv12,
                                                    {.memory = Memory::shm, .stride_bytes = 128}));
  fill(wide, 5);
  ASSERT_TRUE(value_of(encoder.encode(wide, {})));
  EXPECT_EQ(encoder.stride_bytes(), 128U);
  EXPECT_EQ(packet_of(encoder).value, 5U);
}

TEST_P(VideoEncoderTest, other_images_are_copied_and_counted) {
  for (const bool has_export : {true, false}) {
    FakeCodec& codec = add();
    codec.has_export = has_export;
    VideoEncoderOptions options = small();
    options.path = codec.path;
    VideoEncoder encoder = open(options);
    for (int n = 1; n <= 10; ++n) {
      ASSERT_TRUE(value_of(encoder.encode(image_with(n), microseconds(n))));
      EXPECT_EQ(packet_of(encoder).value, static_cast<std::uint32_t>(n));
    }
    EXPECT_EQ(encoder.stats().copies, 10U);
    if (has_export) {
      EXPECT_OK(encoder.image(at_once));
    } else {
      EXPECT_FAILS(encoder.image(at_once), Errc::unsupported, "exports no buffers");
    }
  }
}

TEST_P(VideoEncoderTest, packets_hold_buffers_and_images_wait_for_them) {
  add();
  VideoEncoderOptions options = small();
  options.images = options.packets = 2;
  VideoEncoder encoder = open(options);
  int taken = 0;
  while (value_of(encoder.encode(image_with(1), microseconds(taken), false, at_once)))
    ++taken;
  EXPECT_FALSE(value_of(encoder.image(std::chrono::seconds(20)))) << "packets come first";
  std::vector<VideoPacket> kept;
  while (encoder.is_ready())
    kept.push_back(*value_of(encoder.next(at_once)));
  EXPECT_EQ(kept.size(), 2U);
  EXPECT_FAILS(encoder.next(shortly), Errc::exhausted, "holds all packets");
  std::thread other([&kept] {
    std::this_thread::sleep_for(milliseconds(20));
    kept.pop_back();
  });
  EXPECT_OK(encoder.next(std::chrono::seconds(20)));
  other.join();
  kept.clear();
  while (encoder.is_ready())
    EXPECT_OK(encoder.next(at_once));
  EXPECT_EQ(encoder.stats().packets, static_cast<std::uint64_t>(taken));
}

TEST_P(VideoEncoderTest, the_end_comes_after_all_packets_and_it_goes_on) {
  FakeCodec& codec = add();
  VideoEncoderOptions options = small();
  options.path = add().path;
  VideoEncoder encoder = open(options);
  EXPECT_OK(encoder.drain());
  EXPECT_FALSE(value_of(encoder.next(at_once))) << "nothing was encoded";
  VideoEncoder second = open(small());
  ASSERT_TRUE(value_of(second.encode(image_with(1), {})));
  EXPECT_OK(second.drain());
  EXPECT_FALSE(value_of(second.encode(image_with(2), {}))) << "not before the end";
  EXPECT_EQ(packet_of(second).value, 1U);
  EXPECT_FALSE(value_of(second.next(at_once)));
  ASSERT_TRUE(value_of(second.encode(image_with(3), {})));
  EXPECT_EQ(packet_of(second).value, 3U);
  EXPECT_THAT(codec.log, ::testing::IsSupersetOf({"stop", "off capture"}));
}

TEST_P(VideoEncoderTest, controls_are_set_or_refused_by_name) {
  FakeCodec& codec = add();
  VideoEncoderOptions options = small();
  options.bitrate = 2'000'000;
  options.gop = 7;
  VideoEncoder encoder = open(options);
  EXPECT_EQ(codec.controls[V4L2_CID_MPEG_VIDEO_BITRATE], 2'000'000);
  EXPECT_EQ(codec.controls[V4L2_CID_MPEG_VIDEO_GOP_SIZE], 7);
  EXPECT_OK(encoder.set_control("video_bitrate", 5));
  EXPECT_EQ(value_of(encoder.controls()).size(), 3U);
  for (int n = 0; n < 3; ++n) {
    ASSERT_TRUE(value_of(encoder.encode(image_with(1), {}, n == 2)));
    EXPECT_EQ(packet_of(encoder).is_key, n == 1 ? 0U : 1U);
  }
  FakeCodec& other = add();
  options.path = other.path;
  options.profile = "High";
  EXPECT_FAILS(VideoEncoder::open(options), Errc::unsupported, "profile");
  other.controls.clear();
  options.profile.clear();
  EXPECT_FAILS(VideoEncoder::open(options), Errc::unsupported, "bitrate");
}

TEST_P(VideoEncoderTest, bad_arguments_and_failures_have_their_names) {
  FakeCodec& codec = add();
  VideoEncoderOptions options = small();
  options.width = 0;
  EXPECT_FAILS(VideoEncoder::open(options), Errc::invalid_argument, "width");
  options = small();
  options.rate = 0;
  EXPECT_FAILS(VideoEncoder::open(options), Errc::invalid_argument, "rate");
  options = small();
  options.packets = 33;
  EXPECT_FAILS(VideoEncoder::open(options), Errc::invalid_argument, "packets");
  options = small();
  options.format = PixelFormat::rgb;
  EXPECT_FAILS(VideoEncoder::open(options), Errc::unsupported, "NV12");
  VideoEncoder encoder = open(small());
  EXPECT_FAILS(encoder.encode(Tensor(), {}), Errc::invalid_argument, "size and format");
  EXPECT_FAILS(encoder.next(at_once), Errc::timeout, "in time");
  codec.is_paused = true;
  const Tensor own = *value_of(encoder.image(at_once));
  ASSERT_TRUE(value_of(encoder.encode(own, {})));
  EXPECT_FAILS(encoder.encode(own, {}), Errc::busy, "already");
  encoder.cancel();
  EXPECT_FAILS(encoder.next(shortly), Errc::cancelled, "cancel()");
  codecs_.unplug(codec);
  EXPECT_FAILS(encoder.next(shortly), Errc::device, "gone");
}

INSTANTIATE_TEST_SUITE_P(Planes, VideoEncoderTest, ::testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "multi_planar" : "single_planar");
});

}  // namespace
}  // namespace halyard
