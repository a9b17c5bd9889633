// SPDX-License-Identifier: Apache-2.0
// Hardware codecs in C without a codec: what is refused, with which errno.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "halyard/hal.h"

namespace {

const auto is_invalid = [](int result) { return result == -1 && errno == EINVAL; };

int errno_of_decoder(const hal_video_decoder_options* options) {
  errno = 0;
  EXPECT_EQ(hal_video_decoder_open(options), nullptr);
  return errno;
}

int errno_of_encoder(const hal_video_encoder_options* options) {
  errno = 0;
  EXPECT_EQ(hal_video_encoder_open(options), nullptr);
  return errno;
}

TEST(VideoCodecInC, what_is_no_codec_is_refused) {
  hal_video_decoder_options decoder = hal_video_decoder_options_default();
  decoder.path = "/dev/video12345";
  EXPECT_EQ(errno_of_decoder(&decoder), ENOENT);
  EXPECT_NE(std::string(hal_last_error()).find("/dev/video12345"), std::string::npos);
  decoder.path = "/dev/null";
  EXPECT_EQ(errno_of_decoder(&decoder), ENOTSUP);
  hal_video_encoder_options encoder = hal_video_encoder_options_default();
  encoder.width = 64;
  encoder.height = 32;
  encoder.path = "/dev/null";
  EXPECT_EQ(errno_of_encoder(&encoder), ENOTSUP);
}

TEST(VideoCodecInC, options_of_decoders_are_checked) {
  const hal_video_decoder_options good = hal_video_decoder_options_default();
  EXPECT_EQ(good.codec, HAL_VIDEO_CODEC_H264);
  EXPECT_EQ(good.format, HAL_VIDEO_ANY_FORMAT);
  EXPECT_EQ(good.packets, 4U);
  EXPECT_EQ(good.images, 4U);
  const auto is_refused = [&](auto change) {
    hal_video_decoder_options options = good;
    options.path = "/dev/null";
    change(options);
    return errno_of_decoder(&options) == EINVAL;
  };
  EXPECT_TRUE(is_refused([](auto& options) { options.codec = 9; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.codec = -1; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.format = 1000; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.packets = 1; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.images = 29; }));
}

TEST(VideoCodecInC, options_of_encoders_are_checked) {
  hal_video_encoder_options good = hal_video_encoder_options_default();
  EXPECT_EQ(good.format, HAL_PIXEL_FORMAT_NV12);
  EXPECT_EQ(good.memory, HAL_ENCODER_MEMORY_AUTOMATIC);
  EXPECT_EQ(good.rate, 30);
  good.width = 64;
  good.height = 32;
  const auto is_refused = [&](auto change) {
    hal_video_encoder_options options = good;
    options.path = "/dev/null";
    change(options);
    return errno_of_encoder(&options) == EINVAL;
  };
  EXPECT_TRUE(is_refused([](auto& options) { options.codec = 9; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.format = -1; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.memory = 3; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.width = 0; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.rate = 0; }));
  EXPECT_TRUE(is_refused([](auto& options) { options.packets = 33; }));
  EXPECT_TRUE(is_refused([](auto& options) {
    static const char room[64] = {};
    options.colorimetry = reinterpret_cast<const hal_colorimetry*>(room + 1);
  }));
}

TEST(VideoCodecInC, names_and_lists_need_no_codec) {
  EXPECT_STREQ(hal_video_codec_name(HAL_VIDEO_CODEC_HEVC), "hevc");
  EXPECT_STREQ(hal_video_codec_name(static_cast<hal_video_codec>(256)), "");
  EXPECT_GE(hal_video_codec_list(nullptr, 0), 0);
  EXPECT_TRUE(is_invalid(hal_video_codec_list(nullptr, 1)));
}

TEST(VideoCodecInC, calls_without_a_codec_fail) {
  EXPECT_EQ(errno_of_decoder(nullptr), EINVAL);
  EXPECT_EQ(errno_of_encoder(nullptr), EINVAL);
  hal_decoded_image image;
  hal_decoded_format format;
  hal_video_codec_stats stats;
  hal_tensor* lent = nullptr;
  hal_video_packet* packet = nullptr;
  EXPECT_TRUE(is_invalid(hal_video_decoder_send(nullptr, "x", 1, 0, 0)));
  EXPECT_TRUE(is_invalid(hal_video_decoder_next(nullptr, 0, &image)));
  EXPECT_TRUE(is_invalid(hal_video_decoder_is_ready(nullptr)));
  EXPECT_TRUE(is_invalid(hal_video_decoder_drain(nullptr)));
  EXPECT_TRUE(is_invalid(hal_video_decoder_flush(nullptr)));
  EXPECT_TRUE(is_invalid(hal_video_decoder_cancel(nullptr)));
  EXPECT_TRUE(is_invalid(hal_video_decoder_get_format(nullptr, &format)));
  EXPECT_TRUE(is_invalid(hal_video_decoder_get_stats(nullptr, &stats)));
  hal_video_decoder_free(nullptr);
  EXPECT_TRUE(is_invalid(hal_video_encoder_image(nullptr, 0, &lent)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_encode(nullptr, nullptr, 0, false, 0)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_next(nullptr, 0, &packet)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_is_ready(nullptr)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_drain(nullptr)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_cancel(nullptr)));
  EXPECT_EQ(hal_video_encoder_stride_bytes(nullptr), 0U);
  EXPECT_TRUE(is_invalid(hal_video_encoder_memory(nullptr)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_get_stats(nullptr, &stats)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_controls(nullptr, nullptr, 0)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_set_control(nullptr, "gain", 1)));
  EXPECT_TRUE(is_invalid(hal_video_encoder_set_control_entry(nullptr, "gain", "high")));
  hal_video_encoder_free(nullptr);
  EXPECT_EQ(hal_video_packet_data(nullptr), nullptr);
  EXPECT_EQ(hal_video_packet_size_bytes(nullptr), 0U);
  EXPECT_EQ(hal_video_packet_timestamp_ns(nullptr), 0);
  EXPECT_FALSE(hal_video_packet_is_key_frame(nullptr));
  hal_video_packet_free(nullptr);
}

}  // namespace
