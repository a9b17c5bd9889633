// SPDX-License-Identifier: Apache-2.0
// The encoders of VideoWriter: each writes files that are read again, at the quality asked for.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "capture/media.h"
#include "capture/remux.h"
#include "halyard/capture.h"
#include "support/result.h"

namespace halyard {
namespace {

#ifdef HALYARD_HAVE_FFMPEG

using test::Folder;
using test::number_of;
using test::numbered_image;
using test::psnr;

constexpr int frames = 40;

Tensor noise(int seed) {
  Tensor image = numbered_image(0);
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto map = *image.map(Access::read_write);
  const MappedPlane& luma = map.plane(0);
  for (std::size_t i = 0; i < luma.rows * luma.stride_bytes; ++i)
    luma.writable[i] = static_cast<std::byte>(random() % 256);
  return image;
}

/// Writes frames, or says why this machine cannot.
std::optional<Error> write_clip(
    const std::string& path, const VideoWriterOptions& options,
    Tensor (*make)(int) = [](int n) { return numbered_image(n); }) {
  auto writer = VideoWriter::create(path, {128, 96}, 25, options);
  if (!writer) return writer.error();
  EXPECT_EQ(writer->encoder(), options.encoder.empty() ? writer->encoder() : options.encoder);
  for (int n = 0; n < frames; ++n)
    EXPECT_OK(writer->write(make(n)));
  EXPECT_OK(writer->finish());
  return std::nullopt;
}

class Encoders : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Encoders, write_frames_that_are_read_again) {
  const auto [encoder, extension] = GetParam();
  const Folder folder;
  const std::string path = folder / (std::string("clip.") + extension);
  if (const auto error = write_clip(path, {.encoder = encoder})) {
    ASSERT_EQ(error->code, Errc::unsupported) << error->message();
    GTEST_SKIP() << error->message();
  }
  ASSERT_VALUE(auto source, FrameSource::open(path));
  EXPECT_NEAR(source.rate(), 25, 0.01);
  for (int n = 0; n < frames; ++n) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame) << n;
    EXPECT_EQ(number_of(frame->image), n);
    EXPECT_EQ(frame->timestamp, std::chrono::milliseconds(40) * n);
    if (std::string_view(encoder) != "mpeg4") {  // it has no place for them
      EXPECT_EQ(frame->image.colorimetry(), numbered_image(n).colorimetry());
    }
    for (std::size_t plane = 0; plane < 3; ++plane)
      EXPECT_GT(psnr(frame->image, numbered_image(n), plane), plane == 0 ? 34 : 39);
  }
  EXPECT_FALSE(*source.next());
}

INSTANTIATE_TEST_SUITE_P(all, Encoders,
                         testing::Combine(testing::Values("libx264", "openh264", "mpeg4"),
                                          testing::Values("mp4", "mkv", "mov", "avi")));

class EncoderOptions : public testing::TestWithParam<const char*> {};

TEST_P(EncoderOptions, key_frames_come_as_often_as_asked) {
  const Folder folder;
  const std::string path = folder / "clip.mkv";
  if (const auto error = write_clip(path, {.encoder = GetParam(), .key_interval = 8}))
    GTEST_SKIP() << error->message();
  int packets = 0;
  int keys = 0;
  test::for_each_packet(path, [&](const AVPacket& packet, const AVStream&) {
    ++packets;
    if ((packet.flags & AV_PKT_FLAG_KEY) != 0) ++keys;
  });
  EXPECT_EQ(packets, frames);
  EXPECT_GE(keys, frames / 8);
}

TEST_P(EncoderOptions, fewer_bits_make_smaller_files) {
  const Folder folder;
  std::uintmax_t sizes[2] = {};
  for (const int i : {0, 1}) {
    const std::string path = folder / (std::to_string(i) + ".mkv");
    const VideoWriterOptions options{.encoder = GetParam(),
                                     .bitrate = i == 0 ? 2'000'000 : 100'000};
    if (const auto error = write_clip(path, options, noise)) GTEST_SKIP() << error->message();
    sizes[i] = std::filesystem::file_size(path);
  }
  EXPECT_LT(sizes[1] * 2, sizes[0]);
}

INSTANTIATE_TEST_SUITE_P(all, EncoderOptions, testing::Values("libx264", "openh264", "mpeg4"));

TEST(EncoderChoice, is_h264_where_there_is_an_encoder) {
  const Folder folder;
  ASSERT_VALUE(const auto writer, VideoWriter::create(folder / "a.mp4", {64, 64}, 25));
  EXPECT_TRUE(writer.encoder() == "libx264" || writer.encoder() == "openh264" ||
              writer.encoder() == "mpeg4")
      << writer.encoder();
}

TEST(EncoderChoice, errors_name_the_option) {
  const Folder folder;
  const auto created = [&](const VideoWriterOptions& options) {
    return VideoWriter::create(folder / "a.mp4", {64, 64}, 25, options);
  };
  EXPECT_FAILS(created({.encoder = "h265_by_hand"}), Errc::unsupported, "h265_by_hand");
  EXPECT_FAILS(created({.encoder = "aac"}), Errc::unsupported, "no video encoder");
  EXPECT_FAILS(created({.bitrate = -1}), Errc::invalid_argument, "bitrate must be 0 to 1e9");
  EXPECT_FAILS(created({.key_interval = 100'001}), Errc::invalid_argument, "key_interval");
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(EncoderChoice, an_encoder_of_other_formats_is_refused_with_the_first_frame) {
  const Folder folder;
  ASSERT_VALUE(auto writer,
               VideoWriter::create(folder / "a.avi", {128, 96}, 25, {.encoder = "gif"}));
  EXPECT_FAILS(writer.write(numbered_image(1)), Errc::unsupported, "neither yuv420p nor nv12");
}

#endif

}  // namespace
}  // namespace halyard
