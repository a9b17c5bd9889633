// SPDX-License-Identifier: Apache-2.0
// Live H.264 in fragments: one for each image, at its own time, for viewers who join late.
#ifdef HALYARD_HAVE_FFMPEG

#include "halyard/video_stream.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstring>
#include <string>
#include <vector>

#include "capture/encode/mp4_boxes.h"
#include "capture/media.h"
#include "capture/remux.h"
#include "halyard/capture.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using test::big_endian;
using test::Folder;
using test::mp4_box;
using test::mp4_boxes;
using test::mp4_names;
using test::number_of;
using test::numbered_image;
using test::psnr;

using Times = std::vector<nanoseconds>;

/// A camera that is not even: 20 to 60 ms between images.
Times uneven_times(int count, nanoseconds first = 0ns) {
  Times out;
  nanoseconds time = first;
  for (int n = 0; n < count; ++n) {
    out.push_back(time);
    time += milliseconds(20 + n * 7 % 41) + 1us * (n % 3);
  }
  return out;
}

/// Each encoder, where it is there.
class VideoStreams : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto writer = VideoStreamWriter::create({64, 64}, {.encoder = GetParam()});
    if (writer) return;
    ASSERT_EQ(writer.error().code, Errc::unsupported) << writer.error().message();
    GTEST_SKIP() << writer.error().message();
  }
  static VideoStreamWriter open(VideoStreamOptions options = {}, Size size = {128, 96}) {
    options.encoder = GetParam();
    auto writer = VideoStreamWriter::create(size, options);
    EXPECT_OK(writer);
    return std::move(*writer);
  }
  /// One segment for each time, of images with the numbers 0, 1, ...
  static std::vector<VideoSegment> write_all(VideoStreamWriter& writer, const Times& times) {
    std::vector<VideoSegment> out;
    for (const nanoseconds time : times) {
      auto segment = writer.write(numbered_image(static_cast<int>(out.size())), time);
      EXPECT_OK(segment);
      if (segment) out.push_back(std::move(*segment));
    }
    return out;
  }
  /// The segments that a viewer gets who joins at the segment `first`.
  static std::string save(const Folder& folder, const VideoStreamWriter& writer,
                          std::span<const VideoSegment> segments) {
    std::string all = writer.initialization();
    for (const VideoSegment& segment : segments)
      all += segment.bytes;
    test::write_bytes(folder / "stream.mp4", std::as_bytes(std::span(all)));
    return folder / "stream.mp4";
  }
};

TEST_P(VideoStreams, initialization_has_the_track_and_no_samples) {
  auto writer = open();
  EXPECT_EQ(writer.encoder(), GetParam());
  EXPECT_EQ(writer.initialization(), "");
  EXPECT_EQ(writer.mime_type(), "");
  write_all(writer, {0ns});
  const std::string& bytes = writer.initialization();
  EXPECT_EQ(mp4_names(bytes), "ftyp moov");
  EXPECT_EQ(big_endian(mp4_box(bytes, "moov/mvex/trex"), 4, 4), 1U);  // fragments of the track 1
  const auto header = mp4_box(bytes, "moov/trak/tkhd");
  EXPECT_EQ(big_endian(header, 76, 4), 128U << 16U);
  EXPECT_EQ(big_endian(header, 80, 4), 96U << 16U);
  EXPECT_EQ(big_endian(mp4_box(bytes, "moov/trak/mdia/mdhd"), 12, 4), 1'000'000U);
  const auto table = mp4_box(bytes, "moov/trak/mdia/minf/stbl");
  for (const char* name : {"stts", "stsc", "stco"})
    EXPECT_EQ(big_endian(mp4_box(table, name), 4, 4), 0U) << name;
  EXPECT_EQ(big_endian(mp4_box(table, "stsz"), 8, 4), 0U);
}

TEST_P(VideoStreams, mime_type_has_the_profile_and_level_of_the_parameter_sets) {
  auto writer = open();
  write_all(writer, {0ns});
  const auto entries = mp4_box(writer.initialization(), "moov/trak/mdia/minf/stbl/stsd").substr(8);
  const auto entry = mp4_box(entries, "avc1");
  EXPECT_EQ(big_endian(entry, 24, 2), 128U);
  EXPECT_EQ(big_endian(entry, 26, 2), 96U);
  const auto avcc = mp4_box(entry.substr(78), "avcC");
  ASSERT_GT(avcc.size(), 11U);
  char text[7] = {};
  std::snprintf(text, sizeof text, "%06x", static_cast<unsigned>(big_endian(avcc, 1, 3)));
  EXPECT_EQ(writer.mime_type(), "video/mp4; codecs=\"avc1." + std::string(text) + "\"");
  EXPECT_EQ(big_endian(avcc, 4, 2), 0xFFE1U);  // lengths of 4 bytes; one SPS
  EXPECT_EQ(big_endian(avcc, 8, 1) & 0x1FU, 7U);
  EXPECT_EQ(avcc.substr(9, 3), avcc.substr(1, 3));
}

TEST_P(VideoStreams, each_image_gives_one_fragment_with_its_time) {
  auto writer = open();
  const Times times = uneven_times(20);
  const auto segments = write_all(writer, times);
  ASSERT_EQ(segments.size(), times.size());
  for (std::size_t n = 0; n < segments.size(); ++n) {
    const VideoSegment& segment = segments[n];
    EXPECT_EQ(mp4_names(segment.bytes), "moof mdat");
    EXPECT_EQ(segment.time, times[n]);
    EXPECT_EQ(big_endian(mp4_box(segment.bytes, "moof/mfhd"), 4, 4), n + 1);
    const auto time = big_endian(mp4_box(segment.bytes, "moof/traf/tfdt"), 4, 8);
    EXPECT_EQ(time * 1us, times[n]);
    const auto run = mp4_box(segment.bytes, "moof/traf/trun");
    EXPECT_EQ(big_endian(run, 4, 4), 1U);
    EXPECT_EQ(big_endian(run, 8, 4), mp4_box(segment.bytes, "moof").size() + 16);
    EXPECT_EQ(big_endian(run, 12, 4) * 1us, segment.duration);
    EXPECT_EQ(big_endian(run, 16, 4), mp4_box(segment.bytes, "mdat").size());
    EXPECT_EQ(big_endian(run, 20, 4), segment.is_key ? 0x02000000U : 0x01010000U);
    EXPECT_EQ(segment.is_key, n == 0) << n;
  }
}

// nal_unit_type of each unit of a segment.
std::vector<unsigned> unit_types(const VideoSegment& segment) {
  std::vector<unsigned> out;
  std::string_view units = mp4_box(segment.bytes, "mdat");
  while (!units.empty()) {
    const std::size_t size = big_endian(units, 0, 4);
    out.push_back(static_cast<unsigned char>(units.at(4)) & 0x1FU);
    units.remove_prefix(4 + size);
  }
  return out;
}

TEST_P(VideoStreams, samples_have_slices_and_no_parameter_sets) {
  auto writer = open({.key_interval = 200ms});
  for (const VideoSegment& segment : write_all(writer, uneven_times(20))) {
    const auto types = unit_types(segment);
    const unsigned slice = segment.is_key ? 5 : 1;
    EXPECT_GE(std::ranges::count(types, slice), 1);
    for (const unsigned type : types)
      EXPECT_TRUE(type == slice || type == 6) << type;  // 6: supplemental information
  }
}

TEST_P(VideoStreams, images_are_read_again_with_their_times) {
  const Folder folder;
  auto writer = open();
  const Times times = uneven_times(60, 5s);
  const std::string path = save(folder, writer, write_all(writer, times));
  ASSERT_VALUE(auto source, FrameSource::open(path));
  for (int n = 0; n < 60; ++n) {
    ASSERT_VALUE(const auto frame, source.next());
    ASSERT_TRUE(frame) << n;
    EXPECT_EQ(number_of(frame->image), n);
    EXPECT_EQ(frame->timestamp, times[static_cast<std::size_t>(n)] - times[0]);
    EXPECT_EQ(frame->image.colorimetry(), numbered_image(n).colorimetry());
    for (std::size_t plane = 0; plane < 3; ++plane)
      EXPECT_GT(psnr(frame->image, numbered_image(n), plane), plane == 0 ? 34 : 39);
  }
  EXPECT_FALSE(*source.next());
  std::size_t packets = 0;
  test::for_each_packet(path, [&](const AVPacket& packet, const AVStream& stream) {
    EXPECT_EQ(av_rescale_q(packet.pts, stream.time_base, {1, 1'000'000}) * 1us,
              times.at(packets++));
  });
  EXPECT_EQ(packets, times.size());
}

TEST_P(VideoStreams, a_viewer_begins_at_any_key_frame) {
  const Folder folder;
  auto writer = open({.key_interval = 250ms});
  const auto segments = write_all(writer, uneven_times(60));
  int joined = 0;
  for (std::size_t first = 1; first < segments.size(); ++first) {
    if (!segments[first].is_key) continue;
    ++joined;
    const auto path = save(folder, writer, std::span(segments).subspan(first));
    ASSERT_VALUE(auto source, FrameSource::open(path));
    for (std::size_t n = first; n < segments.size(); ++n) {
      ASSERT_VALUE(const auto frame, source.next());
      ASSERT_TRUE(frame) << first << " " << n;
      const int number = static_cast<int>(n);
      EXPECT_EQ(number_of(frame->image), number);
      EXPECT_GT(psnr(frame->image, numbered_image(number), 0), 34) << first << " " << n;
    }
    EXPECT_FALSE(*source.next());
  }
  EXPECT_GE(joined, 8);
}

TEST_P(VideoStreams, key_frames_come_by_time_and_when_they_are_asked_for) {
  auto writer = open({.rate = 50, .key_interval = 300ms});
  nanoseconds last_key{0};
  for (int n = 0; n < 100; ++n) {
    const nanoseconds time = 20ms * n;
    if (n == 50) writer.ask_key();
    ASSERT_VALUE(const auto segment, writer.write(numbered_image(7), time));
    const bool is_due = n == 0 || n == 50 || time - last_key >= 300ms;
    EXPECT_EQ(segment.is_key, is_due) << n;
    if (segment.is_key) last_key = time;
  }
}

TEST_P(VideoStreams, an_image_after_a_gap_that_browsers_do_not_bridge_is_a_key_frame) {
  auto writer = open({.rate = 50, .key_interval = 60s});
  nanoseconds time{0};
  nanoseconds bridged{0};
  const auto write_after = [&](nanoseconds wait) {
    time += wait;
    auto segment = writer.write(numbered_image(3), time);
    EXPECT_OK(segment);
    bridged = 2 * segment->duration;
    return segment->is_key;
  };
  for (int n = 0; n < 20; ++n)
    EXPECT_EQ(write_after(20ms), n == 0);
  EXPECT_EQ(bridged, 80ms);
  EXPECT_FALSE(write_after(bridged));
  EXPECT_TRUE(write_after(bridged + 1us));
  EXPECT_TRUE(write_after(10s));
  EXPECT_LE(bridged, 2s);
  EXPECT_FALSE(write_after(5ms));
  for (int n = 0; n < 40; ++n)  // a slow source gets no more keys than it needs
    EXPECT_FALSE(write_after(400ms)) << n;
}

TEST_P(VideoStreams, images_may_be_changed_after_write) {
  const Folder folder;
  auto writer = open();
  std::vector<VideoSegment> segments;
  Tensor image = numbered_image(0);
  for (int n = 0; n < 12; ++n) {
    {
      const Tensor other = numbered_image(n);
      ASSERT_OK(copy(other, image));
    }
    ASSERT_VALUE(auto segment, writer.write(image, 40ms * n));
    segments.push_back(std::move(segment));
    const auto map = *image.map(Access::write);
    std::memset(map.writable(), 0x55, image.size_bytes());
  }
  ASSERT_VALUE(auto source, FrameSource::open(save(folder, writer, segments)));
  for (int n = 0; n < 12; ++n)
    EXPECT_EQ(number_of((*source.next())->image), n);
}

TEST_P(VideoStreams, nv12_and_odd_sizes_are_served) {
  const Folder folder;
  auto writer = open({}, {131, 97});
  std::vector<VideoSegment> segments;
  for (int n = 0; n < 4; ++n) {
    const auto format = n == 2 ? PixelFormat::i420 : PixelFormat::nv12;
    ASSERT_VALUE(auto segment, writer.write(numbered_image(n, 131, 97, format), 40ms * n));
    segments.push_back(std::move(segment));
  }
  ASSERT_VALUE(auto source, FrameSource::open(save(folder, writer, segments)));
  for (int n = 0; n < 4; ++n) {
    const auto frame = *source.next();
    EXPECT_EQ(frame->image.size(), (Size{132, 98}));
    for (std::size_t plane = 0; plane < 3; ++plane)
      EXPECT_GT(psnr(frame->image, numbered_image(n, 131, 97), plane), 34) << n;
  }
}

// Bytes of 50 images of noise.
std::size_t noise_bytes(VideoStreamWriter writer) {
  std::size_t out = 0;
  for (int n = 0; n < 50; ++n) {
    Tensor image = numbered_image(n);
    {
      const auto map = *image.map(Access::read_write);
      for (std::size_t i = 0; i < 5000; ++i)
        map.writable()[i] = static_cast<std::byte>((i * i >> 3U) + static_cast<unsigned>(n) * 31);
    }
    out += writer.write(image, 40ms * n)->bytes.size();
  }
  return out;
}

TEST_P(VideoStreams, fewer_bits_make_smaller_segments) {
  const auto many = noise_bytes(open({.bitrate = 2'000'000}));
  EXPECT_LT(noise_bytes(open({.bitrate = 100'000})) * 2, many);
  EXPECT_LT(many, 2'000'000U / 8 * 2 * 3 / 2);  // two seconds
}

// Under a sanitizer, whose allocator does not count here, its check for leaks replaces it.
TEST_P(VideoStreams, ten_thousand_images_leave_nothing_behind) {
  auto writer = open({.rate = 1000}, {32, 32});
  const Tensor image = *Tensor::create_image(32, 32, PixelFormat::nv12);
  const auto in_use = [] { return static_cast<std::int64_t>(::mallinfo2().uordblks); };
  std::int64_t before = 0;
  for (int n = 0; n < 10'000; ++n) {
    if (n == 1000) before = in_use();
    ASSERT_OK(writer.write(image, 1ms * n));
  }
  EXPECT_LT(in_use() - before, 50'000);
}

TEST_P(VideoStreams, errors_of_images_leave_the_stream_intact) {
  auto writer = open();
  EXPECT_FAILS(writer.write(numbered_image(0), -1ns), Errc::invalid_argument, "below 0");
  EXPECT_FAILS(writer.write(numbered_image(0, 130, 96), 0ns), Errc::invalid_argument, "130x96");
  EXPECT_FAILS(writer.write(Tensor(), 0ns), Errc::invalid_argument);
  const Tensor rgb = *Tensor::create_image(128, 96, PixelFormat::rgb);
  EXPECT_FAILS(writer.write(rgb, 0ns), Errc::unsupported, "i420 or nv12");
  Tensor lying = numbered_image(0, 128, 96);
  lying.set_orientation({Flip::none, Rotation::cw90});
  EXPECT_FAILS(writer.write(lying, 0ns), Errc::unsupported, "upright");
  ASSERT_OK(writer.write(numbered_image(0), 10ms));
  EXPECT_FAILS(writer.write(numbered_image(0), 10ms), Errc::invalid_argument, "grow");
  EXPECT_FAILS(writer.write(numbered_image(0), 9ms), Errc::invalid_argument, "10000 us");
  EXPECT_FAILS(writer.write(numbered_image(0), 10ms + 999ns), Errc::invalid_argument, "1 us");
  ASSERT_VALUE(const auto segment, writer.write(numbered_image(0), 10ms + 1us));
  EXPECT_EQ(big_endian(mp4_box(segment.bytes, "moof/mfhd"), 4, 4), 2U);
}

INSTANTIATE_TEST_SUITE_P(all, VideoStreams, testing::Values("libx264", "openh264"));

TEST(VideoStreamWriter, options_are_checked) {
  const auto created = [](const VideoStreamOptions& options, Size size = {64, 64}) {
    return VideoStreamWriter::create(size, options);
  };
  EXPECT_FAILS(created({.encoder = "mpeg4"}), Errc::unsupported, "libx264 or openh264");
  EXPECT_FAILS(created({}, {0, 4}), Errc::invalid_argument, "1..16384");
  EXPECT_FAILS(created({}, {4, 16'385}), Errc::invalid_argument, "1..16384");
  EXPECT_FAILS(created({.rate = 0}), Errc::invalid_argument, "rate");
  EXPECT_FAILS(created({.rate = std::nan("")}), Errc::invalid_argument, "rate");
  EXPECT_FAILS(created({.rate = 1001}), Errc::invalid_argument, "rate");
  EXPECT_FAILS(created({.bitrate = -1}), Errc::invalid_argument, "bitrate");
  EXPECT_FAILS(created({.bitrate = 2'000'000'000}), Errc::invalid_argument, "bitrate");
  EXPECT_FAILS(created({.key_interval = 0ms}), Errc::invalid_argument, "key_interval");
  EXPECT_FAILS(created({.key_interval = 1h + 1ms}), Errc::invalid_argument, "key_interval");
}

TEST(VideoStreamWriter, a_size_that_the_encoder_does_not_take_is_an_error_of_the_first_image) {
  auto writer = VideoStreamWriter::create({2, 2}, {.encoder = "openh264"});
  if (!writer) GTEST_SKIP() << writer.error().message();
  const Tensor image = *Tensor::create_image(2, 2, PixelFormat::i420);
  EXPECT_FAILS(writer->write(image, 0ns), Errc::unsupported, "2x2");
}

}  // namespace
}  // namespace halyard

#endif
