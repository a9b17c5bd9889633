// SPDX-License-Identifier: Apache-2.0
// VideoDecoder on a driver of the test: the order of its calls, buffers, changes, ends, failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "capture/fake/fake_codec.h"
#include "halyard/video_codec.h"
#include "support/descriptors.h"
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

constexpr milliseconds soon{50};

int value_at(const Tensor& image, std::size_t plane = 0, std::size_t at = 0) {
  const auto map = image.map(Access::read);
  EXPECT_OK(map);
  return map ? static_cast<int>(map->plane(plane).data[at]) : -1;
}

class VideoDecoderTest : public ::testing::TestWithParam<bool> {
 protected:
  FakeCodec& add(std::vector<std::uint32_t> raw = {V4L2_PIX_FMT_NV12}) {
    FakeCodec codec;
    codec.is_multi = GetParam();
    codec.raw = std::move(raw);
    return codecs_.add(std::move(codec));
  }
  static VideoDecoder open(const VideoDecoderOptions& options = {}) {
    return value_of(VideoDecoder::open(options));
  }
  static Result<bool> send(VideoDecoder& decoder, const FakePacket& packet, int number = 0,
                           milliseconds timeout = at_once) {
    const auto bytes = packet.bytes();
    return decoder.send({bytes, microseconds(number), false, nullptr}, timeout);
  }
  static FakePacket shade(std::uint32_t value) { return {64, 32, value}; }
  static DecodedImage image_of(VideoDecoder& decoder) {
    auto image = value_of(decoder.next(at_once));
    EXPECT_TRUE(image);
    return image ? *std::move(image) : DecodedImage();
  }

  FakeCodecs codecs_;
};

TEST_P(VideoDecoderTest, images_are_the_drivers_buffers_and_return_to_it) {
  FakeCodec& codec = add();
  VideoDecoder decoder = open();
  EXPECT_EQ(decoder.path(), "/dev/fake0");
  EXPECT_FALSE(decoder.format());
  EXPECT_FALSE(decoder.is_ready());
  const CopyStats before = copy_stats();
  for (int n = 0; n < 20; ++n) {
    ASSERT_TRUE(value_of(send(decoder, shade(static_cast<std::uint32_t>(n + 1)), 1000 * n)));
    const DecodedImage image = image_of(decoder);
    EXPECT_EQ(image.timestamp, milliseconds(n));
    EXPECT_EQ(value_at(image.image), n + 1);
    EXPECT_EQ(value_at(image.image, 1, 63), n + 1);
    EXPECT_EQ(decoder.stats().held, 1U);
    EXPECT_EQ(codecs_.queued(codec), decoder.format()->buffers - 1);
  }
  EXPECT_EQ(codecs_.queued(codec), decoder.format()->buffers);
  EXPECT_EQ(decoder.stats().images, 20U);
  EXPECT_EQ(decoder.stats().packets, 20U);
  EXPECT_EQ(decoder.stats().held, 0U);
  EXPECT_EQ(decoder.stats().copies, 0U);
  EXPECT_EQ(copy_stats().copies, before.copies);
  EXPECT_EQ(decoder.format()->colorimetry.encoding, ColorEncoding::bt709);
}

TEST_P(VideoDecoderTest, the_queues_are_set_up_in_the_order_of_the_protocol) {
  FakeCodec& codec = add();
  VideoDecoder decoder = open();
  EXPECT_THAT(codec.log, ::testing::ElementsAre("on output"));
  value_of(send(decoder, shade(1)));
  image_of(decoder);
  EXPECT_OK(decoder.drain());
  EXPECT_EQ(value_of(decoder.next(at_once)), std::nullopt);
  EXPECT_THAT(codec.log, ::testing::ElementsAre("on output", "on capture", "stop"));
  ASSERT_TRUE(value_of(send(decoder, shade(2))));
  EXPECT_EQ(value_at(image_of(decoder).image), 2);
  EXPECT_OK(decoder.flush());
  EXPECT_THAT(codec.log,
              ::testing::ElementsAre("on output", "on capture", "stop", "off capture", "on capture",
                                     "off output", "on output", "off capture", "on capture"));
}

TEST_P(VideoDecoderTest, a_changed_size_is_followed_and_older_images_stay) {
  FakeCodec& codec = add();
  codec.align = 16;
  VideoDecoder decoder = open();
  value_of(send(decoder, {72, 40, 7}));
  const DecodedImage kept = image_of(decoder);
  EXPECT_EQ(kept.image.width(), 72U);
  EXPECT_EQ(kept.image.height(), 40U);
  EXPECT_EQ(decoder.format()->coded_width, 80U);
  EXPECT_EQ(decoder.format()->coded_height, 48U);
  EXPECT_EQ(decoder.format()->visible, (Region{0, 0, 72, 40}));
  EXPECT_EQ(kept.image.row_stride_bytes(), 80U);
  value_of(send(decoder, {72, 40, 8}));
  value_of(send(decoder, {128, 64, 9}));
  value_of(send(decoder, {128, 64, 10}));
  EXPECT_EQ(value_at(image_of(decoder).image), 8) << "images of before the change come first";
  const DecodedImage larger = image_of(decoder);
  EXPECT_EQ(larger.image.width(), 128U);
  EXPECT_EQ(value_at(larger.image, 1), 9);
  EXPECT_EQ(value_at(image_of(decoder).image), 10);
  EXPECT_EQ(value_at(kept.image, 1), 7);
  EXPECT_EQ(decoder.stats().formats, 2U);
  EXPECT_EQ(decoder.stats().held, 2U);
}

TEST_P(VideoDecoderTest, a_driver_that_wants_its_old_buffers_back_gets_the_time) {
  FakeCodec& codec = add();
  VideoDecoder decoder = open();
  value_of(send(decoder, shade(1)));
  std::optional<DecodedImage> kept = image_of(decoder);
  codec.refuses_release = true;
  EXPECT_OK(send(decoder, {128, 64, 2}));
  EXPECT_FAILS(decoder.next(soon), Errc::busy, "images of the old format back");
  codec.refuses_release = false;
  kept.reset();
  EXPECT_EQ(value_at(image_of(decoder).image), 2);
}

TEST_P(VideoDecoderTest, packets_wait_while_the_caller_keeps_the_images) {
  add();
  VideoDecoder decoder = open({.packets = 2, .images = 1});
  std::vector<Tensor> kept;
  int sent = 0;
  while (value_of(send(decoder, shade(1), sent)))
    ++sent;
  EXPECT_TRUE(decoder.is_ready());
  while (decoder.is_ready())
    kept.push_back(image_of(decoder).image);
  EXPECT_EQ(kept.size(), decoder.format()->buffers);
  EXPECT_FAILS(decoder.next(soon), Errc::exhausted, "holds all images");
  while (send(decoder, shade(1), sent, soon))
    ++sent;
  EXPECT_FAILS(send(decoder, shade(1), sent, soon), Errc::exhausted, "holds all images");
  std::thread releases([&kept] {
    std::this_thread::sleep_for(milliseconds(20));
    kept.pop_back();
  });
  EXPECT_OK(decoder.next(std::chrono::seconds(20))) << "the release ends the wait";
  releases.join();
  kept.clear();
  while (decoder.is_ready())
    image_of(decoder);
  EXPECT_EQ(decoder.stats().images, static_cast<std::uint64_t>(sent)) << "none is lost";
}

TEST_P(VideoDecoderTest, the_end_comes_after_all_images) {
  FakeCodec& codec = add();
  VideoDecoder decoder = open();
  codec.is_paused = true;
  for (int n = 0; n < 3; ++n)
    ASSERT_TRUE(value_of(send(decoder, shade(5), n)));
  EXPECT_OK(decoder.drain());
  EXPECT_OK(decoder.drain());
  EXPECT_FALSE(value_of(send(decoder, shade(6)))) << "not before the end";
  codecs_.run(codec);
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(image_of(decoder).timestamp, microseconds(n));
  EXPECT_EQ(value_of(decoder.next(at_once)), std::nullopt);
  EXPECT_EQ(value_of(decoder.next(at_once)), std::nullopt);
  EXPECT_TRUE(decoder.is_ready());
}

TEST_P(VideoDecoderTest, nothing_sent_ends_at_once_and_noise_is_malformed) {
  add();
  VideoDecoder decoder = open();
  EXPECT_OK(decoder.drain());
  EXPECT_EQ(value_of(decoder.next(at_once)), std::nullopt);
  ASSERT_TRUE(value_of(send(decoder, {64, 32, 0, FakePacket::Kind::nothing})));
  EXPECT_OK(decoder.drain());
  EXPECT_FAILS(decoder.next(soon), Errc::malformed, "no stream");
  EXPECT_EQ(decoder.stats().refused, 1U);
}

TEST_P(VideoDecoderTest, a_seek_drops_what_waits) {
  FakeCodec& codec = add();
  VideoDecoder decoder = open();
  value_of(send(decoder, shade(1)));
  const DecodedImage kept = image_of(decoder);
  for (int n = 0; n < 3; ++n)
    value_of(send(decoder, shade(2), n));
  EXPECT_TRUE(decoder.is_ready());
  EXPECT_OK(decoder.flush());
  EXPECT_FALSE(decoder.is_ready());
  EXPECT_EQ(codecs_.queued(codec), decoder.format()->buffers - 1);
  value_of(send(decoder, shade(3), 9));
  const DecodedImage after = image_of(decoder);
  EXPECT_EQ(value_at(after.image), 3);
  EXPECT_EQ(after.timestamp, microseconds(9));
  EXPECT_EQ(value_at(kept.image), 1);
  EXPECT_OK(decoder.drain());
  EXPECT_OK(decoder.flush());
  EXPECT_TRUE(value_of(send(decoder, shade(4)))) << "a seek ends the drain";
}

TEST_P(VideoDecoderTest, a_seek_in_the_middle_of_a_change_sets_the_new_size_up) {
  add();
  VideoDecoder decoder = open();
  value_of(send(decoder, shade(1)));
  image_of(decoder);
  value_of(send(decoder, {128, 64, 2}));
  EXPECT_OK(decoder.flush());
  value_of(send(decoder, {128, 64, 3}));
  EXPECT_EQ(image_of(decoder).image.width(), 128U);
}

TEST_P(VideoDecoderTest, damaged_images_are_counted_and_skipped) {
  FakeCodec& codec = add();
  VideoDecoder decoder = open();
  value_of(send(decoder, shade(1)));
  value_of(send(decoder, {64, 32, 2, FakePacket::Kind::damaged}));
  value_of(send(decoder, {64, 32, 3, FakePacket::Kind::image, 1}));
  EXPECT_FALSE(image_of(decoder).is_key_frame);
  const DecodedImage third = image_of(decoder);
  EXPECT_EQ(value_at(third.image), 3);
  EXPECT_TRUE(third.is_key_frame);
  EXPECT_EQ(decoder.stats().damaged, 1U);
  EXPECT_EQ(codecs_.queued(codec), decoder.format()->buffers - 1);
}

TEST_P(VideoDecoderTest, the_format_can_be_chosen_among_those_of_the_driver) {
  add({V4L2_PIX_FMT_YUV420, V4L2_PIX_FMT_NV12});
  VideoDecoder decoder = open({.format = PixelFormat::nv12});
  value_of(send(decoder, shade(1)));
  EXPECT_EQ(image_of(decoder).image.format(), PixelFormat::nv12);
  add({V4L2_PIX_FMT_YUV420, V4L2_PIX_FMT_NV12});
  VideoDecoder other = open({.path = "/dev/fake1"});
  value_of(send(other, shade(1)));
  EXPECT_EQ(image_of(other).image.format(), PixelFormat::i420) << "else it is the driver's choice";
}

TEST_P(VideoDecoderTest, a_format_that_is_not_offered_names_those_that_are) {
  add();
  VideoDecoder decoder = open({.format = PixelFormat::rgb});
  EXPECT_OK(send(decoder, shade(1)));
  EXPECT_FAILS(decoder.next(at_once), Errc::unsupported, "it has NV12");
}

TEST_P(VideoDecoderTest, a_driver_that_exports_nothing_is_copied_from_and_counted) {
  FakeCodec& codec = add();
  codec.has_export = false;
  VideoDecoder decoder = open();
  value_of(send(decoder, shade(4)));
  const DecodedImage image = image_of(decoder);
  EXPECT_EQ(value_at(image.image, 1), 4);
  EXPECT_TRUE(decoder.format()->is_copied);
  EXPECT_EQ(decoder.stats().copies, 1U);
  EXPECT_EQ(decoder.stats().held, 0U);
}

TEST_P(VideoDecoderTest, failures_have_their_names) {
  FakeCodec& codec = add();
  const auto expect = [&](unsigned long request, int os_errno, Errc code, const char* text) {
    codec.failing = {{request, os_errno}};
    const auto failed = VideoDecoder::open({});
    EXPECT_FAILS(failed, code, text);
    codec.failing.clear();
  };
  expect(VIDIOC_STREAMON, ENOSPC, Errc::exhausted, "no capacity left");
  expect(VIDIOC_STREAMON, EBUSY, Errc::busy, "others use");
  expect(VIDIOC_REQBUFS, ENOMEM, Errc::no_memory, "no memory");
  expect(VIDIOC_S_FMT, EINVAL, Errc::os, "refuses the format");
  EXPECT_FAILS(VideoDecoder::open({.codec = VideoCodec::hevc}), Errc::not_found, "hevc");
  EXPECT_FAILS(VideoDecoder::open({.codec = VideoCodec::hevc, .path = "/dev/fake0"}),
               Errc::unsupported, "does not decode");
  EXPECT_FAILS(VideoDecoder::open({.path = "/dev/fake7"}), Errc::not_found, "no such device");
  EXPECT_FAILS(VideoDecoder::open({.packets = 1}), Errc::invalid_argument, "packets");
  EXPECT_FAILS(VideoDecoder::open({.images = 29}), Errc::invalid_argument, "images");
  EXPECT_FAILS(VideoDecoder::open({.width = 5}), Errc::invalid_argument, "width");
  VideoDecoder decoder = open();
  EXPECT_FAILS(decoder.send({}, at_once), Errc::invalid_argument, "no bytes");
  const std::vector<std::byte> huge(10000);
  EXPECT_FAILS(decoder.send({huge, {}, false, nullptr}, at_once), Errc::exhausted, "packet_bytes");
  EXPECT_FAILS(decoder.next(at_once), Errc::timeout, "in time");
}

TEST_P(VideoDecoderTest, an_unplugged_device_is_told_and_images_outlive_it) {
  FakeCodec& codec = add();
  std::optional<DecodedImage> kept;
  {
    VideoDecoder decoder = open();
    value_of(send(decoder, shade(1)));
    kept = image_of(decoder);
    codecs_.unplug(codec);
    EXPECT_FAILS(decoder.next(std::chrono::seconds(5)), Errc::device, "gone");
    EXPECT_FAILS(send(decoder, shade(1)), Errc::device, "gone");
    EXPECT_TRUE(decoder.is_ready());
  }
  EXPECT_EQ(value_at(kept->image), 1);
}

TEST_P(VideoDecoderTest, cancel_ends_a_wait_on_another_thread) {
  add();
  VideoDecoder decoder = open();
  std::thread other([&decoder] {
    std::this_thread::sleep_for(milliseconds(20));
    decoder.cancel();
  });
  EXPECT_FAILS(decoder.next(milliseconds(-1)), Errc::cancelled, "cancel()");
  other.join();
  EXPECT_FAILS(decoder.next(at_once), Errc::timeout, "in time");
}

TEST_P(VideoDecoderTest, nothing_stays_open_and_a_child_cannot_decode) {
  add();
  const std::size_t before = test::open_descriptors();
  {
    VideoDecoder decoder = open();
    value_of(send(decoder, shade(1)));
    const DecodedImage kept = image_of(decoder);
    const pid_t child = ::fork();
    if (child == 0) {
      const bool is_refused = !decoder.next(at_once) && !send(decoder, shade(1));
      ::_exit(is_refused && value_at(kept.image) == 1 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_LE(test::open_descriptors(), before + 1) << "the fake keeps its own";
}

TEST(VideoCodecs, are_listed_with_what_they_code) {
  FakeCodecs codecs;
  codecs.add({});
  FakeCodec encoder;
  encoder.is_encoder = encoder.is_multi = true;
  encoder.coded = V4L2_PIX_FMT_HEVC;
  codecs.add(std::move(encoder));
  FakeCodec converter;
  converter.coded = V4L2_PIX_FMT_RGB24;
  codecs.add(std::move(converter));
  const auto found = list_video_codecs();
  ASSERT_EQ(found.size(), 2U) << "a converter is no codec";
  EXPECT_FALSE(found[0].is_encoder);
  EXPECT_EQ(found[0].coded.at(0).codec, VideoCodec::h264);
  EXPECT_EQ(found[0].raw.at(0).fourcc, V4L2_PIX_FMT_NV12);
  EXPECT_TRUE(found[1].is_encoder);
  EXPECT_TRUE(found[1].is_multiplanar);
  EXPECT_EQ(found[1].coded.at(0).codec, VideoCodec::hevc);
  EXPECT_EQ(found[1].raw.at(0).layout, PixelLayout{PixelFormat::nv12});
}

TEST(VideoCodecs, have_the_codes_of_whole_streams) {
  EXPECT_EQ(v4l2_coded_format(VideoCodec::h264), V4L2_PIX_FMT_H264);
  EXPECT_EQ(codec_from_v4l2(V4L2_PIX_FMT_JPEG), VideoCodec::mjpeg);
  EXPECT_EQ(codec_from_v4l2(V4L2_PIX_FMT_H264_SLICE), std::nullopt) << "a stateless one";
  EXPECT_EQ(to_string(VideoCodec::hevc), "hevc");
  for (int n = 0; n < 9; ++n)
    EXPECT_EQ(codec_from_v4l2(v4l2_coded_format(static_cast<VideoCodec>(n))),
              static_cast<VideoCodec>(n));
}

INSTANTIATE_TEST_SUITE_P(Planes, VideoDecoderTest, ::testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "multi_planar" : "single_planar");
});

}  // namespace
}  // namespace halyard
