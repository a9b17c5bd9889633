// SPDX-License-Identifier: Apache-2.0
// Hardware codecs in C on a driver of the test: images and packets pass, and hold their buffers.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "capture/fake/fake_codec.h"
#include "halyard/hal.h"

namespace halyard {
namespace {

using test::FakeCodec;
using test::FakeCodecs;
using test::FakePacket;

constexpr std::int64_t at_once = 0;

struct FreeDecoder {
  void operator()(hal_video_decoder* decoder) const { hal_video_decoder_free(decoder); }
};
struct FreeEncoder {
  void operator()(hal_video_encoder* encoder) const { hal_video_encoder_free(encoder); }
};
using Decoder = std::unique_ptr<hal_video_decoder, FreeDecoder>;
using Encoder = std::unique_ptr<hal_video_encoder, FreeEncoder>;

class FakeCodecInC : public ::testing::Test {
 protected:
  FakeCodec& add(bool is_encoder) {
    FakeCodec codec;
    codec.is_encoder = is_encoder;
    return codecs_.add(std::move(codec));
  }
  static Decoder open_decoder() {
    const hal_video_decoder_options options = hal_video_decoder_options_default();
    Decoder decoder(hal_video_decoder_open(&options));
    EXPECT_NE(decoder, nullptr) << hal_last_error();
    return decoder;
  }
  static Encoder open_encoder(hal_encoder_memory memory = HAL_ENCODER_MEMORY_AUTOMATIC) {
    hal_video_encoder_options options = hal_video_encoder_options_default();
    options.width = 64;
    options.height = 32;
    options.bitrate = 5000;
    options.memory = memory;
    Encoder encoder(hal_video_encoder_open(&options));
    EXPECT_NE(encoder, nullptr) << hal_last_error();
    return encoder;
  }
  static int send(const Decoder& decoder, const FakePacket& packet, std::int64_t timestamp_ns = 0) {
    const auto bytes = packet.bytes();
    return hal_video_decoder_send(decoder.get(), bytes.data(), bytes.size(), timestamp_ns, at_once);
  }
  static void fill(const hal_tensor* image, int value) {
    hal_tensor_map* const map = hal_tensor_map_create(image);
    ASSERT_NE(map, nullptr) << hal_last_error();
    std::memset(hal_tensor_map_data(map), value, hal_tensor_map_size(map));
    hal_tensor_map_unmap(map);
  }
  static int first_byte(const hal_tensor* image) {
    hal_tensor_map* const map = hal_tensor_map_create(image);
    EXPECT_NE(map, nullptr) << hal_last_error();
    if (map == nullptr) return -1;
    const int value = *static_cast<const std::uint8_t*>(hal_tensor_map_data_const(map));
    hal_tensor_map_unmap(map);
    return value;
  }
  static FakePacket packet_of(const Encoder& encoder, std::int64_t timestamp_ns) {
    FakePacket read{0, 0, 0};
    hal_video_packet* packet = nullptr;
    EXPECT_EQ(hal_video_encoder_next(encoder.get(), at_once, &packet), 1) << hal_last_error();
    if (packet == nullptr) return read;
    EXPECT_EQ(hal_video_packet_size_bytes(packet), sizeof read);
    EXPECT_EQ(hal_video_packet_timestamp_ns(packet), timestamp_ns);
    EXPECT_EQ(hal_video_packet_is_key_frame(packet), timestamp_ns == 0);
    std::memcpy(&read, hal_video_packet_data(packet), sizeof read);
    hal_video_packet_free(packet);
    return read;
  }
  static hal_video_codec_stats stats_of(const Decoder& decoder) {
    hal_video_codec_stats stats{};
    EXPECT_EQ(hal_video_decoder_get_stats(decoder.get(), &stats), 0);
    return stats;
  }
  static hal_video_codec_stats stats_of(const Encoder& encoder) {
    hal_video_codec_stats stats{};
    EXPECT_EQ(hal_video_encoder_get_stats(encoder.get(), &stats), 0);
    return stats;
  }

  FakeCodecs codecs_;
};

TEST_F(FakeCodecInC, codecs_are_listed) {
  add(false);
  add(true);
  ASSERT_EQ(hal_video_codec_list(nullptr, 0), 2);
  hal_video_codec_info found[2];
  ASSERT_EQ(hal_video_codec_list(found, 1), 2);
  ASSERT_EQ(hal_video_codec_list(found, 2), 2);
  EXPECT_STREQ(found[0].name, "Fake Codec");
  EXPECT_STREQ(found[0].path, "/dev/fake0");
  EXPECT_FALSE(found[0].is_encoder);
  EXPECT_TRUE(found[1].is_encoder);
  EXPECT_TRUE(found[1].is_usable);
  EXPECT_STREQ(found[1].reason, "");
  EXPECT_EQ(found[1].codecs, 1U << HAL_VIDEO_CODEC_H264);
}

TEST_F(FakeCodecInC, images_are_decoded_and_hold_the_drivers_buffers) {
  add(false);
  const Decoder decoder = open_decoder();
  hal_decoded_format format{};
  EXPECT_EQ(hal_video_decoder_get_format(decoder.get(), &format), 0);
  for (int n = 0; n < 10; ++n) {
    ASSERT_EQ(send(decoder, {64, 32, static_cast<std::uint32_t>(n + 1)}, 1000 * n), 1);
    EXPECT_EQ(hal_video_decoder_is_ready(decoder.get()), 1);
    hal_decoded_image image{};
    ASSERT_EQ(hal_video_decoder_next(decoder.get(), at_once, &image), 1) << hal_last_error();
    EXPECT_EQ(image.timestamp_ns, 1000 * n);
    EXPECT_EQ(hal_tensor_width(image.image), 64U);
    EXPECT_EQ(first_byte(image.image), n + 1);
    EXPECT_EQ(stats_of(decoder).held, 1U);
    hal_tensor_free(image.image);
    EXPECT_EQ(stats_of(decoder).held, 0U);
  }
  ASSERT_EQ(hal_video_decoder_get_format(decoder.get(), &format), 1);
  EXPECT_EQ(format.width, 64U);
  EXPECT_EQ(format.height, 32U);
  EXPECT_EQ(format.coded_width, 64U);
  EXPECT_EQ(format.format, HAL_PIXEL_FORMAT_NV12);
  EXPECT_FALSE(format.is_copied);
  EXPECT_EQ(stats_of(decoder).packets, 10U);
  EXPECT_EQ(stats_of(decoder).images, 10U);
  EXPECT_EQ(stats_of(decoder).copies, 0U);
}

TEST_F(FakeCodecInC, decoders_drain_flush_and_fail_with_an_errno) {
  FakeCodec& codec = add(false);
  const Decoder decoder = open_decoder();
  hal_decoded_image image{};
  ASSERT_EQ(send(decoder, {64, 32, 7}), 1);
  EXPECT_EQ(hal_video_decoder_drain(decoder.get()), 0);
  ASSERT_EQ(hal_video_decoder_next(decoder.get(), at_once, &image), 1);
  hal_tensor* const kept = image.image;
  EXPECT_EQ(hal_video_decoder_next(decoder.get(), at_once, &image), 0);
  ASSERT_EQ(send(decoder, {64, 32, 8}), 1) << hal_last_error();
  EXPECT_EQ(hal_video_decoder_flush(decoder.get()), 0);
  EXPECT_EQ(hal_video_decoder_next(decoder.get(), at_once, &image), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  EXPECT_EQ(hal_video_decoder_cancel(decoder.get()), 0);
  EXPECT_EQ(hal_video_decoder_next(decoder.get(), 1'000'000, &image), -1);
  EXPECT_EQ(errno, ECANCELED);
  EXPECT_EQ(hal_video_decoder_send(decoder.get(), "", 0, 0, at_once), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_video_decoder_send(decoder.get(), nullptr, 1, 0, at_once), -1);
  EXPECT_EQ(errno, EINVAL);
  codecs_.unplug(codec);
  EXPECT_EQ(send(decoder, {64, 32, 9}), -1);
  EXPECT_EQ(errno, ENODEV);
  EXPECT_EQ(first_byte(kept), 7) << "the image outlives the device";
  hal_tensor_free(kept);
}

TEST_F(FakeCodecInC, the_drivers_buffers_are_filled_and_encoded) {
  add(true);
  const Encoder encoder = open_encoder();
  EXPECT_EQ(hal_video_encoder_memory(encoder.get()), HAL_ENCODER_MEMORY_AUTOMATIC);
  EXPECT_EQ(hal_video_encoder_stride_bytes(encoder.get()), 64U);
  for (int n = 0; n < 3; ++n) {
    hal_tensor* image = nullptr;
    ASSERT_EQ(hal_video_encoder_image(encoder.get(), at_once, &image), 1) << hal_last_error();
    fill(image, n + 1);
    ASSERT_EQ(hal_video_encoder_encode(encoder.get(), image, 1000 * n, false, at_once), 1);
    hal_tensor_free(image);
    EXPECT_EQ(hal_video_encoder_is_ready(encoder.get()), 1);
    EXPECT_EQ(packet_of(encoder, 1000 * n).value, static_cast<std::uint32_t>(n + 1));
  }
  EXPECT_EQ(hal_video_encoder_memory(encoder.get()), HAL_ENCODER_MEMORY_DRIVER_BUFFERS);
  EXPECT_EQ(stats_of(encoder).packets, 3U);
  EXPECT_EQ(stats_of(encoder).copies, 0U);
  EXPECT_EQ(stats_of(encoder).held, 0U);
  EXPECT_EQ(hal_video_encoder_drain(encoder.get()), 0);
  hal_video_packet* packet = nullptr;
  EXPECT_EQ(hal_video_encoder_next(encoder.get(), at_once, &packet), 0);
  EXPECT_EQ(packet, nullptr);
}

TEST_F(FakeCodecInC, packets_outlive_their_encoder) {
  add(true);
  Encoder encoder = open_encoder();
  hal_tensor* image = nullptr;
  ASSERT_EQ(hal_video_encoder_image(encoder.get(), at_once, &image), 1);
  fill(image, 5);
  ASSERT_EQ(hal_video_encoder_encode(encoder.get(), image, 0, true, at_once), 1);
  hal_tensor_free(image);
  hal_video_packet* packet = nullptr;
  ASSERT_EQ(hal_video_encoder_next(encoder.get(), at_once, &packet), 1);
  encoder.reset();
  FakePacket read{0, 0, 0};
  ASSERT_EQ(hal_video_packet_size_bytes(packet), sizeof read);
  std::memcpy(&read, hal_video_packet_data(packet), sizeof read);
  EXPECT_EQ(read.value, 5U);
  EXPECT_TRUE(hal_video_packet_is_key_frame(packet));
  hal_video_packet_free(packet);
}

TEST_F(FakeCodecInC, encoders_refuse_what_their_driver_does_not_take) {
  FakeCodec& codec = add(true);
  const Encoder encoder = open_encoder(HAL_ENCODER_MEMORY_CALLER_BUFFERS);
  EXPECT_EQ(codec.controls.at(V4L2_CID_MPEG_VIDEO_BITRATE), 5000);
  hal_tensor* image = nullptr;
  EXPECT_EQ(hal_video_encoder_image(encoder.get(), at_once, &image), -1);
  EXPECT_EQ(errno, ENOTSUP);
  hal_tensor* const rgb =
      hal_tensor_new_image(64, 32, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  ASSERT_NE(rgb, nullptr) << hal_last_error();
  EXPECT_EQ(hal_video_encoder_encode(encoder.get(), rgb, 0, false, at_once), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_video_encoder_encode(encoder.get(), nullptr, 0, false, at_once), -1);
  EXPECT_EQ(errno, EINVAL);
  hal_tensor_free(rgb);
  EXPECT_EQ(hal_video_encoder_cancel(encoder.get()), 0);
  hal_video_packet* packet = nullptr;
  EXPECT_EQ(hal_video_encoder_next(encoder.get(), 1'000'000, &packet), -1);
  EXPECT_EQ(errno, ECANCELED);
}

TEST_F(FakeCodecInC, controls_of_encoders_are_listed_and_set) {
  FakeCodec& codec = add(true);
  const Encoder encoder = open_encoder();
  std::vector<hal_camera_control> controls(
      static_cast<std::size_t>(hal_video_encoder_controls(encoder.get(), nullptr, 0)));
  ASSERT_FALSE(controls.empty());
  EXPECT_EQ(hal_video_encoder_controls(encoder.get(), controls.data(), controls.size()),
            static_cast<int>(controls.size()));
  EXPECT_EQ(hal_video_encoder_set_control(encoder.get(), controls[0].name, 3), 0)
      << hal_last_error();
  EXPECT_EQ(codec.controls.at(controls[0].id), 3);
  EXPECT_EQ(hal_video_encoder_set_control(encoder.get(), "no_such_control", 1), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(hal_video_encoder_set_control(encoder.get(), nullptr, 1), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_video_encoder_set_control_entry(encoder.get(), controls[0].name, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace halyard
