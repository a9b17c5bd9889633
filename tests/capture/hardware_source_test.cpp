// SPDX-License-Identifier: Apache-2.0
// Videos that a hardware codec decodes: what it gets of a container, and what becomes of its
// images. The codec is one of the test; its images have the packet's number in all bytes.
#ifdef HALYARD_HAVE_FFMPEG

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "capture/fake/fake_codec.h"
#include "capture/media.h"
#include "capture/rtsp_server.h"
#include "capture/video.h"
#include "halyard/capture.h"
#include "halyard/log.h"
#include "support/result.h"
#include "support/value_of.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using test::FakeCodec;
using test::FakeCodecs;
using test::FakePacket;
using test::Folder;
using test::value_of;

constexpr int clip_frames = 12;

class HardwareSource : public ::testing::Test {
 protected:
  FakeCodec& add(std::uint32_t coded) {
    FakeCodec codec;
    codec.coded = coded;
    codec.parse = [this](std::span<const std::byte> bytes) {
      // The codec reads a packet again after it has announced the stream's size.
      if (packets_.empty() || !std::ranges::equal(packets_.back(), bytes))
        packets_.emplace_back(bytes.begin(), bytes.end());
      return FakePacket{128, 96, static_cast<std::uint32_t>(packets_.size())};
    };
    return codecs_.add(std::move(codec));
  }
  std::string video(const std::string& name, const std::string& encoder) {
    VideoWriterOptions options;
    options.encoder = encoder;
    options.key_interval = 4;
    auto writer = value_of(VideoWriter::create(folder_ / name, {128, 96}, 25, options));
    encoder_ = writer.encoder();
    for (int n = 0; n < clip_frames; ++n)
      EXPECT_OK(writer.write(test::numbered_image(n)));
    EXPECT_OK(writer.finish());
    return folder_ / name;
  }
  static FrameSourceOptions with(const std::string& decoder,
                                 milliseconds patience = milliseconds(5000)) {
    FrameSourceOptions options;
    options.video_decoder = decoder;
    options.network_timeout = patience;
    return options;
  }
  static FrameSource open(const std::string& path, const std::string& decoder = "v4l2") {
    return value_of(FrameSource::open(path, with(decoder)));
  }
  static std::vector<Frame> read(FrameSource& source) {
    std::vector<Frame> out;
    while (auto frame = value_of(source.next())) {
      out.push_back(*std::move(frame));
      if (out.size() > 1) out[out.size() - 2].image = Tensor();
    }
    return out;
  }
  static int value_at(const Tensor& image) {
    const auto map = *image.map(Access::read);
    return std::to_integer<int>(map.plane(0).data[0]);
  }

  const Folder folder_;
  std::string encoder_;  // of the last video
  std::vector<std::vector<std::byte>> packets_;
  FakeCodecs codecs_;
};

TEST_F(HardwareSource, images_are_the_codecs_and_times_are_the_videos) {
  FakeCodec& codec = add(V4L2_PIX_FMT_MPEG4);
  const std::string path = video("clip.mp4", "mpeg4");
  auto on_cpu = open(path, "cpu");
  auto source = open(path);
  EXPECT_TRUE(source.is_video());
  const CopyStats before = copy_stats();
  for (int n = 0; n < clip_frames; ++n) {
    const auto expected = value_of(on_cpu.next());
    const auto frame = value_of(source.next());
    ASSERT_TRUE(expected && frame);
    EXPECT_EQ(value_at(frame->image), n + 1);
    EXPECT_EQ(frame->timestamp, expected->timestamp);
    EXPECT_EQ(frame->index, expected->index);
    EXPECT_EQ(frame->source, path);
    EXPECT_EQ(frame->image.colorimetry(), expected->image.colorimetry());
    EXPECT_EQ(frame->image.width(), 128U);
    EXPECT_EQ(frame->image.height(), 96U);
  }
  EXPECT_FALSE(value_of(source.next()));
  EXPECT_FALSE(value_of(source.next()));
  EXPECT_EQ(copy_stats().copies, before.copies);
  EXPECT_EQ(packets_.size(), static_cast<std::size_t>(clip_frames));
  EXPECT_GT(codecs_.queued(codec), 0U);
}

// The header of MPEG-4 is in the container's own field, and so are H.264's parameter sets.
TEST_F(HardwareSource, packets_begin_with_what_the_container_keeps_apart) {
  add(V4L2_PIX_FMT_MPEG4);
  auto source = open(video("clip.mp4", "mpeg4"));
  read(source);
  ASSERT_FALSE(packets_.empty());
  const std::vector begin = {std::byte{0}, std::byte{0}, std::byte{1}, std::byte{0xB0}};
  EXPECT_TRUE(std::ranges::equal(std::span(packets_[0]).first(4), begin));
}

bool holds(std::span<const std::byte> packet, std::initializer_list<int> begin) {
  const auto is_same = [](std::byte a, int b) { return std::to_integer<int>(a) == b; };
  return !std::ranges::search(packet, begin, is_same).empty();
}

class HardwareSourceOfH264 : public HardwareSource,
                             public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Containers, HardwareSourceOfH264, ::testing::Values("mp4", "mkv"));

TEST_P(HardwareSourceOfH264, packets_have_start_codes_and_parameter_sets) {
  add(V4L2_PIX_FMT_H264);
  const std::string path = video(std::string("clip.") + GetParam(), {});
  if (encoder_ == "mpeg4") GTEST_SKIP() << "this machine writes no H.264";
  auto on_cpu = open(path, "cpu");
  auto source = open(path);
  const auto expected = read(on_cpu);
  const auto found = read(source);
  ASSERT_EQ(found.size(), expected.size());
  std::vector<nanoseconds> times;
  for (const Frame& frame : found)
    times.push_back(frame.timestamp);
  // The codec of the test does not reorder.
  std::ranges::sort(times);
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_EQ(times[i], expected[i].timestamp);
  for (const auto& packet : packets_)
    EXPECT_TRUE(holds(std::span(packet).first(4), {0, 0, 1}));
  const std::span first(packets_.at(0));
  EXPECT_TRUE(holds(first, {0, 0, 1, 0x67}) || holds(first, {0, 0, 1, 0x27})) << "no SPS";
  EXPECT_TRUE(holds(first, {0, 0, 1, 0x68}) || holds(first, {0, 0, 1, 0x28})) << "no PPS";
}

TEST_F(HardwareSource, it_seeks) {
  add(V4L2_PIX_FMT_MPEG4);
  auto source = open(video("clip.mp4", "mpeg4"));
  for (const int at : {6, 0, 11, 4}) {
    SCOPED_TRACE(at);
    ASSERT_OK(source.seek(milliseconds(40) * at));
    for (int n = at; n < std::min(at + 3, clip_frames); ++n) {
      const auto frame = value_of(source.next());
      ASSERT_TRUE(frame);
      EXPECT_EQ(frame->timestamp, milliseconds(40) * n);
      EXPECT_EQ(frame->index, static_cast<std::size_t>(n));
    }
  }
}

TEST_F(HardwareSource, it_loops) {
  add(V4L2_PIX_FMT_MPEG4);
  FrameSourceOptions options = with("v4l2");
  options.loops = true;
  auto looped = value_of(FrameSource::open(video("clip.mp4", "mpeg4"), options));
  for (int n = 0; n < 3 * clip_frames; ++n) {
    const auto frame = value_of(looped.next());
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->index, static_cast<std::size_t>(n));
    EXPECT_EQ(value_at(frame->image), n + 1);
  }
}

TEST_F(HardwareSource, one_that_is_not_there_is_told_or_the_cpu_decodes) {
  add(V4L2_PIX_FMT_VP9);
  const std::string path = video("clip.mp4", "mpeg4");
  EXPECT_FAILS(FrameSource::open(path, with("v4l2")), Errc::not_found, "mpeg4");
  EXPECT_FAILS(FrameSource::open(path, with("/dev/fake7")), Errc::not_found, "/dev/fake7");
  EXPECT_FAILS(FrameSource::open(path, with("/dev/fake0")), Errc::unsupported, "mpeg4");
  EXPECT_FAILS(FrameSource::open(path, with("cuda")), Errc::invalid_argument, "video_decoder");
  auto source = open(path, "auto");
  EXPECT_EQ(test::number_of(value_of(source.next())->image), 0);
  EXPECT_TRUE(packets_.empty());
}

TEST_F(HardwareSource, auto_takes_the_codec_that_is_there) {
  add(V4L2_PIX_FMT_MPEG4);
  auto source = open(video("clip.mp4", "mpeg4"), "auto");
  EXPECT_EQ(value_at(value_of(source.next())->image), 1);
}

TEST_F(HardwareSource, frames_that_are_held_are_waited_for) {
  add(V4L2_PIX_FMT_MPEG4);
  const std::string path = video("clip.mp4", "mpeg4");
  auto source = value_of(FrameSource::open(path, with("v4l2", milliseconds(300))));
  std::vector<Frame> held;
  Result<std::optional<Frame>> next = source.next();
  for (; next && *next; next = source.next())
    held.push_back(**std::move(next));
  EXPECT_FAILS(next, Errc::exhausted, "release");
  EXPECT_GE(held.size(), 8U);
  held.clear();
  EXPECT_TRUE(value_of(source.next()));
}

TEST_F(HardwareSource, waits_end_by_time) {
  add(V4L2_PIX_FMT_MPEG4).is_paused = true;
  const std::string path = video("clip.mp4", "mpeg4");
  auto source = value_of(FrameSource::open(path, with("v4l2", milliseconds(150))));
  EXPECT_FAILS(source.next(), Errc::timeout);
}

TEST_F(HardwareSource, waits_end_by_cancel) {
  add(V4L2_PIX_FMT_MPEG4).is_paused = true;
  FrameSourceOptions options = with("v4l2");
  int calls = 0;
  options.load.is_cancelled = [&] { return ++calls > 1; };
  auto source = value_of(FrameSource::open(video("clip.mp4", "mpeg4"), options));
  EXPECT_FAILS(source.next(), Errc::cancelled);
}

TEST_F(HardwareSource, one_that_goes_ends_the_video_with_an_error) {
  FakeCodec& codec = add(V4L2_PIX_FMT_MPEG4);
  auto source = open(video("clip.mp4", "mpeg4"));
  EXPECT_TRUE(value_of(source.next()));
  codecs_.unplug(codec);
  Result<std::optional<Frame>> next = source.next();
  while (next && *next)
    next = source.next();
  EXPECT_FAILS(next, Errc::device);
  EXPECT_FALSE(value_of(source.next()));
}

/// How many frames a server may send; the rest waits.
class Gate {
 public:
  /// Opens it at the end of a test, before the server ends.
  struct Opener {
    Gate& gate;
    ~Opener() { gate.open_to(SIZE_MAX); }
  };
  void open_to(std::size_t count) {
    {
      const std::lock_guard lock(mutex_);
      count_ = count;
    }
    changed_.notify_all();
  }
  bool pass(std::size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return number < count_; });
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

// The server sends a frame when the image of the last has been read. FFmpeg gives a frame when it
// sees the next one; the codec, which could take four, keeps none.
TEST_F(HardwareSource, live_images_do_not_wait_for_later_packets) {
  constexpr std::size_t at_once = 30;  // what FFmpeg may read to open the stream
  constexpr std::size_t ahead = 1;
  add(V4L2_PIX_FMT_H264);
  const std::string path = video("clip.avi", {});
  if (encoder_ == "mpeg4") GTEST_SKIP() << "this machine writes no H.264";
  const auto units = test::access_units(path);
  std::vector<test::AccessUnit> sent;
  for (int n = 0; n < 4; ++n)
    sent.insert(sent.end(), units.begin(), units.end());
  Gate gate;
  const test::RtspServer server(sent, {}, [&](std::size_t n) { return gate.pass(n); });
  const Gate::Opener opener{gate};
  gate.open_to(at_once);
  auto source = value_of(FrameSource::open(server.address(), with("v4l2", milliseconds(2000))));
  EXPECT_TRUE(source.is_live());
  for (std::size_t n = 0; n + ahead < sent.size(); ++n) {
    gate.open_to(std::max(at_once, n + 1 + ahead));
    const auto frame = value_of(source.next());
    ASSERT_TRUE(frame);
    EXPECT_EQ(value_at(frame->image), static_cast<int>(n + 1));
  }
}

TEST_F(HardwareSource, limits_are_those_of_other_decoders) {
  add(V4L2_PIX_FMT_MPEG4);
  FrameSourceOptions options = with("v4l2");
  options.load.limits.max_width = 64;
  EXPECT_FAILS(FrameSource::open(video("clip.mp4", "mpeg4"), options), Errc::invalid_argument,
               "max_width");
}

}  // namespace
}  // namespace halyard

#endif
