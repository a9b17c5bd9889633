// SPDX-License-Identifier: Apache-2.0
// Reading videos that the test has made: numbers, times, colours, no copies, damage.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "capture/media.h"
#include "capture/network/byte_stream.h"
#include "capture/source.h"
#include "capture/video.h"
#include "halyard/capture.h"

#ifdef HALYARD_HAVE_FFMPEG
#include "capture/ffmpeg/video_frame.h"
#include "support/result.h"
#endif

namespace halyard {
namespace {

using F = PixelFormat;
using test::Folder;
using test::make_video;
using test::number_of;
using test::numbered_image;
using test::psnr;
using test::write_bytes;

#ifdef HALYARD_HAVE_FFMPEG

/// A frame as a decoder gives it, its bytes unset.
capture::FramePtr empty_frame(AVPixelFormat format, int width, int height) {
  EXPECT_OK(capture::load_ffmpeg());
  capture::FramePtr frame(av_frame_alloc());
  frame->width = width;
  frame->height = height;
  frame->format = format;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  return frame;
}

class Containers : public testing::TestWithParam<const char*> {};

TEST_P(Containers, round_trip_keeps_images_numbers_times_and_colors) {
  const Folder folder;
  const bool has_x264 = avcodec_find_encoder_by_name("libx264") != nullptr;
  const std::string path = folder / (std::string("clip.") + GetParam());
  make_video(path, 40, 20);
  EXPECT_EQ(folder.entries(), 1U);
  auto source = *FrameSource::open(path);
  EXPECT_TRUE(source.is_video());
  EXPECT_NEAR(source.rate(), 20, 0.01);
  EXPECT_EQ(source.frame_count().value_or(40), 40U);
  for (int n = 0; n < 40; ++n) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame) << n;
    const Tensor& image = frame->image;
    EXPECT_EQ(number_of(image), n);
    EXPECT_EQ(frame->index, static_cast<std::size_t>(n));
    EXPECT_EQ(frame->timestamp, std::chrono::milliseconds(50) * n);
    EXPECT_EQ(frame->source, path);
    ASSERT_EQ(image.format(), F::i420);
    if (has_x264) {  // MPEG-4 itself has no place for them
      EXPECT_EQ(image.colorimetry().encoding, ColorEncoding::bt709);
      EXPECT_EQ(image.colorimetry().range, ColorRange::limited);
    }
    const Tensor original = numbered_image(n);
    EXPECT_GT(psnr(image, original, 0), 35);
    EXPECT_GT(psnr(image, original, 1), 40);
    EXPECT_GT(psnr(image, original, 2), 40);
  }
  EXPECT_FALSE(*source.next());
  EXPECT_FALSE(*source.next());
}

INSTANTIATE_TEST_SUITE_P(all, Containers, testing::Values("mp4", "mkv", "mov", "avi", "MP4"));

TEST(VideoSource, frame_count_is_known_for_mp4) {
  const Folder folder;
  make_video(folder / "clip.mp4", 7);
  EXPECT_EQ(FrameSource::open(folder / "clip.mp4")->frame_count(), 7U);
}

TEST(VideoSource, frames_are_the_decoders_planes) {
  capture::FramePtr frame = empty_frame(AV_PIX_FMT_YUV420P, 33, 17);
  frame->colorspace = AVCOL_SPC_SMPTE170M;
  frame->color_range = AVCOL_RANGE_JPEG;
  const std::array<const void*, 3> data{frame->data[0], frame->data[1], frame->data[2]};
  AVBufferRef* const watch = av_buffer_ref(frame->buf[0]);
  const auto before = copy_stats();
  {
    const Tensor image = *capture::wrap_frame(std::move(frame), "test");
    EXPECT_EQ(image.size(), (Size{33, 17}));
    EXPECT_EQ(image.colorimetry().encoding, ColorEncoding::bt601);
    EXPECT_EQ(image.colorimetry().range, ColorRange::full);
    const auto map = *image.map(Access::read);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(static_cast<const void*>(map.plane(i).data), data[i]);
    EXPECT_FALSE(image.map(Access::write));  // the decoder predicts from it
    EXPECT_EQ(av_buffer_get_ref_count(watch), 2);
  }
  EXPECT_EQ(av_buffer_get_ref_count(watch), 1);  // freed with the last user
  AVBufferRef* last = watch;
  av_buffer_unref(&last);
  EXPECT_EQ(copy_stats().copies, before.copies);
}

TEST(VideoSource, other_pixel_formats_are_refused_by_name) {
  EXPECT_FAILS(capture::wrap_frame(empty_frame(AV_PIX_FMT_YUV410P, 16, 16), "clip"),
               Errc::unsupported, "yuv410p");
}

TEST(VideoSource, frames_of_our_layouts_are_wrapped) {
  for (const auto& [theirs, ours] : {std::pair{AV_PIX_FMT_NV12, F::nv12},
                                     {AV_PIX_FMT_GRAY8, F::grey},
                                     {AV_PIX_FMT_YUVJ420P, F::i420},
                                     {AV_PIX_FMT_NV24, F::nv24},
                                     {AV_PIX_FMT_YUYV422, F::yuyv},
                                     {AV_PIX_FMT_BGRA, F::bgra}}) {
    ASSERT_VALUE(const auto image, capture::wrap_frame(empty_frame(theirs, 31, 15), "clip"));
    EXPECT_EQ(image.format(), ours);
  }
}

TEST(VideoSource, reading_copies_nothing_and_frames_outlive_the_source) {
  const Folder folder;
  make_video(folder / "clip.mp4", 12);
  const auto before = copy_stats();
  std::vector<Frame> frames;
  {
    auto source = *FrameSource::open(folder / "clip.mp4");
    while (auto frame = *source.next())
      frames.push_back(*std::move(frame));
  }
  EXPECT_EQ(copy_stats().copies, before.copies);
  ASSERT_EQ(frames.size(), 12U);
  for (int n = 0; n < 12; ++n)
    EXPECT_EQ(number_of(frames[static_cast<std::size_t>(n)].image), n);
}

TEST(VideoSource, stream_without_seeking_and_file_on_standard_input_are_read) {
  const Folder folder;
  make_video(folder / "clip.mkv", 10);
  make_video(folder / "clip.mp4", 10);
  const auto bytes = *read_file(folder / "clip.mkv");
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::thread feeder([&, out = ends[1]] {
    const Fd own(out);
    for (std::size_t at = 0; at < bytes.size();) {
      const auto sent = ::write(out, bytes.data() + at, bytes.size() - at);
      if (sent <= 0) return;
      at += static_cast<std::size_t>(sent);
    }
  });
  {
    ASSERT_VALUE(auto piped, capture::stream_source(capture::ByteStream(Fd(ends[0])), "pipe", {}));
    for (int n = 0; n < 10; ++n)
      EXPECT_EQ(number_of((*piped->next())->image), n);
    EXPECT_FALSE(*piped->next());
  }
  feeder.join();
  // The index of an mp4 lies at its end: works only by seeking.
  Fd file(::open((folder / "clip.mp4").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_VALUE(auto seekable,
               capture::stream_source(capture::ByteStream(std::move(file)), "file", {}));
  for (int n = 0; n < 10; ++n)
    EXPECT_EQ(number_of((*seekable->next())->image), n);
}

// Reads to the end; counts frames and errors. Every call takes at least one packet, so it ends.
std::pair<int, int> drain(FrameSource& source) {
  int frames = 0;
  int errors = 0;
  for (int calls = 0; calls < 1000; ++calls) {
    auto frame = source.next();
    if (!frame) {
      ++errors;
    } else if (!*frame) {
      return {frames, errors};
    } else {
      ++frames;
    }
  }
  ADD_FAILURE() << "the source does not end";
  return {frames, errors};
}

TEST(VideoSource, truncated_files_end_without_a_crash) {
  const Folder folder;
  make_video(folder / "clip.mkv", 30);
  make_video(folder / "clip.mp4", 30);
  for (const char* name : {"clip.mkv", "clip.mp4"}) {
    const auto whole = *read_file(folder / name);
    int opened = 0;
    for (int percent = 1; percent < 100; percent += 7) {
      auto cut = whole;
      cut.resize(whole.size() * static_cast<std::size_t>(percent) / 100);
      write_bytes(folder / "cut.bin", cut);
      auto source = FrameSource::open(folder / "cut.bin");
      if (!source) {
        EXPECT_FAILS(source, "cut.bin");
        continue;
      }
      ++opened;
      const int frames = drain(*source).first;
      EXPECT_LE(frames, percent < 80 ? 29 : 30) << percent;  // the last part is the index
    }
    EXPECT_GT(opened, std::string_view(name) == "clip.mkv" ? 5 : -1);
  }
}

TEST(VideoSource, damaged_data_is_an_error_and_reading_goes_on) {
  const Folder folder;
  make_video(folder / "clip.mkv", 60);
  const auto whole = *read_file(folder / "clip.mkv");
  std::mt19937 random(7);
  int errors = 0;
  int frames = 0;
  for (int round = 0; round < 12; ++round) {
    auto damaged = whole;
    for (int i = 0; i < 40; ++i)
      damaged[600 + random() % (damaged.size() - 600)] = static_cast<std::byte>(random());
    write_bytes(folder / "damaged.mkv", damaged);
    auto source = FrameSource::open(folder / "damaged.mkv");
    if (!source) continue;
    const auto [good, bad] = drain(*source);
    frames += good;
    errors += bad;
  }
  EXPECT_GT(errors, 0);
  EXPECT_GT(frames, 0);
}

TEST(VideoSource, limits_are_applied_before_decoding) {
  const Folder folder;
  make_video(folder / "clip.mp4", 2);
  EXPECT_FAILS(
      FrameSource::open(folder / "clip.mp4", {.load = {.limits = {.max_pixels = 128 * 96 - 1}}}),
      Errc::invalid_argument);
}

TEST(VideoSource, playlist_does_not_open_other_inputs) {
  const Folder folder;
  make_video(folder / "clip.mp4", 2);
  const std::string text = "ffconcat version 1.0\nfile 'http://127.0.0.1:9/clip.mp4'\n";
  write_bytes(folder / "list.ffconcat", std::as_bytes(std::span(text)));
  EXPECT_FALSE(FrameSource::open(folder / "list.ffconcat"));
}

#else

TEST(Video, build_without_ffmpeg_says_what_to_install) {
  EXPECT_FAILS(VideoWriter::create("clip.mp4", {16, 16}, 25), Errc::unsupported,
               "libavformat-dev libavcodec-dev");
  const Folder folder;
  write_bytes(folder / "clip.mp4", std::as_bytes(std::span("ftyp")));
  EXPECT_FAILS(FrameSource::open(folder / "clip.mp4"), Errc::unsupported);
}

#endif

}  // namespace
}  // namespace halyard
