// SPDX-License-Identifier: Apache-2.0
// VideoEncoder and VideoDecoder on vicodec, the kernel's test codec: a photo that moves is encoded
// in FWHT and decoded, over DMA-BUFs. `run.sh --media` chooses the API with one or several planes.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <utility>

#include "conformance/buffer_support.h"
#include "halyard/video_codec.h"
#include "support/result.h"
#include "support/value_of.h"
#include "vm/capture/moving_scene.h"
#include "vm/devices.h"

namespace halyard::vm {
namespace {

using conformance::holdings;
using std::chrono::milliseconds;
using test::value_of;

constexpr milliseconds patience{20'000};

std::size_t dma_buffers() {
  std::ifstream file("/sys/kernel/debug/dma_buf/bufinfo");
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);)
    ++lines;
  return lines;
}

class HardwareCodec : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const VideoCodecInfo& info : list_video_codecs())
      if (info.driver == "vicodec") (info.is_encoder ? encodes_ : decodes_) = info;
    HALYARD_NEEDS(encodes_ && decodes_, "vicodec");
  }
  static VideoEncoderOptions sized(std::size_t width = 640, std::size_t height = 480) {
    VideoEncoderOptions options;
    options.codec = VideoCodec::fwht;
    options.width = width;
    options.height = height;
    return options;
  }
  static VideoDecoder open_decoder() {
    return value_of(VideoDecoder::open({.codec = VideoCodec::fwht, .format = PixelFormat::nv12}));
  }
  struct Packet {
    std::vector<std::byte> bytes;
    std::chrono::nanoseconds timestamp{0};
    bool is_key_frame = false;
    VideoPacket view() const { return {bytes, timestamp, is_key_frame, nullptr}; }
  };
  // Frames from `first` on.
  static std::vector<Packet> encoded(const VideoEncoderOptions& options, int count, int first = 0) {
    VideoEncoder encoder = value_of(VideoEncoder::open(options));
    std::vector<Packet> packets;
    const auto take = [&] {
      const auto packet = value_of(encoder.next(patience));
      if (packet)
        packets.push_back({{packet->bytes.begin(), packet->bytes.end()},
                           packet->timestamp,
                           packet->is_key_frame});
      return packet.has_value();
    };
    for (int n = first; n < first + count; ++n) {
      auto lent = value_of(encoder.image(patience));
      for (; !lent; lent = value_of(encoder.image(patience)))
        take();
      const Tensor image = *std::exchange(lent, std::nullopt);
      write_window(n, image);
      while (!value_of(encoder.encode(image, milliseconds(40 * n), false, patience)))
        take();
    }
    EXPECT_OK(encoder.drain());
    while (take()) {
    }
    EXPECT_EQ(encoder.stats().copies, 0U);
    return packets;
  }
  static int number_of(const DecodedImage& image) {
    return static_cast<int>(image.timestamp / milliseconds(40));
  }
  static double quality(const DecodedImage& image) {
    return psnr(image.image, window(number_of(image), static_cast<int>(image.image.width()),
                                    static_cast<int>(image.image.height())));
  }
  template <class Use>
  static void send_all(VideoDecoder& decoder, std::span<const Packet> packets, Use use) {
    for (const Packet& packet : packets) {
      while (!value_of(decoder.send(packet.view(), patience)))
        use(*value_of(decoder.next(patience)));
      while (decoder.is_ready())
        use(*value_of(decoder.next(patience)));
    }
  }
  template <class Use>
  static void take_rest(VideoDecoder& decoder, Use use) {
    EXPECT_OK(decoder.drain());
    while (const auto image = value_of(decoder.next(patience)))
      use(*image);
  }
  static constexpr double min_quality = 30;  // dB

  std::optional<VideoCodecInfo> encodes_;
  std::optional<VideoCodecInfo> decodes_;
};

TEST_F(HardwareCodec, both_nodes_are_listed_and_are_no_cameras) {
  EXPECT_EQ(encodes_->coded.at(0).codec, VideoCodec::fwht);
  EXPECT_EQ(decodes_->coded.at(0).codec, VideoCodec::fwht);
  EXPECT_EQ(encodes_->is_multiplanar, decodes_->is_multiplanar);
  EXPECT_EQ(encodes_->coded.at(0).sizes.at(0).width, 4096U);
  EXPECT_EQ(encodes_->coded.at(0).sizes.at(0).min_width, 640U);
  EXPECT_GT(encodes_->raw.size(), 10U);
  std::size_t nodes = 0;
  for (const VideoCodecInfo& info : list_video_codecs())
    nodes += info.driver == "vicodec" ? 1 : 0;
  EXPECT_EQ(nodes, 2U) << "the stateless decoder is left out";
  for (const CameraInfo& camera : list_cameras())
    EXPECT_NE(camera.driver, "vicodec");
}

TEST_F(HardwareCodec, three_hundred_frames_are_encoded_and_decoded_without_a_copy) {
  constexpr int count = 300;
  const std::size_t dma_before = dma_buffers();
  double lowest = 1000;
  std::size_t bytes = 0;
  {
    VideoEncoderOptions options = sized();
    options.gop = 10;
    VideoEncoder encoder = value_of(VideoEncoder::open(options));
    VideoDecoder decoder = open_decoder();
    const CopyStats before = copy_stats();
    int next = 0;
    std::optional<conformance::Holdings> held;
    std::size_t dma_held = 0;
    const auto use = [&](const DecodedImage& image) {
      EXPECT_EQ(number_of(image), next++);
      EXPECT_EQ(image.image.memory(), Memory::dma);
      EXPECT_EQ(image.image.width(), 640U);
      EXPECT_EQ(image.is_key_frame, number_of(image) % 10 == 0);
      lowest = std::min(lowest, quality(image));
    };
    const auto pass = [&] {
      const auto packet = value_of(encoder.next(patience));
      if (!packet) return false;
      bytes += packet->bytes.size();
      while (!value_of(decoder.send(*packet, patience)))
        use(*value_of(decoder.next(patience)));
      while (decoder.is_ready())
        use(*value_of(decoder.next(patience)));
      return true;
    };
    for (int n = 0; n < count; ++n) {
      {
        auto lent = value_of(encoder.image(patience));
        for (; !lent; lent = value_of(encoder.image(patience)))
          pass();
        const Tensor image = *std::exchange(lent, std::nullopt);
        write_window(n, image);
        while (!value_of(encoder.encode(image, milliseconds(40 * n), false, patience)))
          pass();
      }
      if (n == 50) held = holdings();
      if (n == 50) dma_held = dma_buffers();
    }
    EXPECT_EQ(holdings().descriptors, held->descriptors);
    EXPECT_EQ(dma_buffers(), dma_held);
    EXPECT_OK(encoder.drain());
    while (pass()) {
    }
    take_rest(decoder, use);
    EXPECT_EQ(next, count);
    EXPECT_EQ(copy_stats().copies, before.copies);
    EXPECT_EQ(encoder.stats().copies + decoder.stats().copies, 0U);
    EXPECT_EQ(encoder.stats().packets, static_cast<std::uint64_t>(count));
    EXPECT_EQ(decoder.stats().images, static_cast<std::uint64_t>(count));
    EXPECT_EQ(decoder.stats().held, 0U);
  }
  EXPECT_EQ(dma_buffers(), dma_before);
  EXPECT_GT(lowest, min_quality);
  std::printf("%s planar: %d frames, %zu bytes each, PSNR at least %.1f dB\n",
              encodes_->is_multiplanar ? "multi" : "single", count, bytes / count, lowest);
}

TEST_F(HardwareCodec, images_in_a_heap_and_in_udmabuf_are_imported) {
  for (const char* heap : {"system", "udmabuf"}) {
    SCOPED_TRACE(heap);
    const AllocateOptions where{Memory::dma, CpuAccess::read_write, "encoder", {heap}};
    const auto buffer = value_of(allocate(640 * 480 * 3 / 2, where));
    const std::array<Tensor::PlaneSource, 1> whole{{{buffer, 0, 0, 0}}};
    const Tensor image = value_of(Tensor::wrap_image(whole, 640, 480, PixelFormat::nv12));
    write_window(3, image);
    VideoEncoder encoder = value_of(VideoEncoder::open(sized()));
    const CopyStats before = copy_stats();
    ASSERT_TRUE(value_of(encoder.encode(image, milliseconds(120))));
    EXPECT_EQ(encoder.memory(), EncoderMemory::caller_buffers);
    const auto packet = value_of(encoder.next(patience));
    VideoDecoder decoder = open_decoder();
    ASSERT_TRUE(value_of(decoder.send(*packet)));
    EXPECT_GT(quality(*value_of(decoder.next(patience))), min_quality);
    EXPECT_EQ(copy_stats().copies, before.copies);
  }
}

TEST_F(HardwareCodec, frames_of_a_camera_are_encoded_where_they_lie) {
  std::string path;
  for (const CameraInfo& info : list_cameras())
    if (info.usable && info.driver == "vivid" && !info.is_multiplanar) path = info.path;
  halyard::Camera camera = value_of(halyard::Camera::open(
      path, {.format = PixelFormat::nv12, .width = 1280, .height = 720, .buffers = 6}));
  VideoEncoder encoder = value_of(VideoEncoder::open(sized(1280, 720)));
  VideoDecoder decoder = open_decoder();
  const CopyStats before = copy_stats();
  for (int n = 0; n < 30; ++n) {
    const halyard::CameraFrame frame = value_of(camera.next(patience));
    ASSERT_TRUE(value_of(encoder.encode(frame.image, frame.timestamp)));
    const auto packet = value_of(encoder.next(patience));
    ASSERT_TRUE(value_of(decoder.send(*packet, patience)));
    const auto image = *value_of(decoder.next(patience));
    EXPECT_GT(psnr(image.image, frame.image), min_quality);
    EXPECT_EQ(image.timestamp, std::chrono::floor<std::chrono::microseconds>(frame.timestamp));
  }
  EXPECT_EQ(copy_stats().copies, before.copies);
  EXPECT_EQ(encoder.memory(), EncoderMemory::caller_buffers);
}

TEST_F(HardwareCodec, a_stream_changes_its_size_twice) {
  std::vector<Packet> packets = encoded(sized(), 12);
  const auto append = [&packets](std::vector<Packet> more) {
    packets.insert(packets.end(), more.begin(), more.end());
  };
  append(encoded(sized(1280, 720), 12, 12));
  append(encoded(sized(640, 480), 12, 24));
  VideoDecoder decoder = open_decoder();
  std::vector<DecodedImage> kept;
  int next = 0;
  const auto use = [&](const DecodedImage& image) {
    EXPECT_EQ(number_of(image), next);
    EXPECT_EQ(image.image.width(), next / 12 == 1 ? 1280U : 640U);
    EXPECT_GT(quality(image), min_quality) << next;
    if (next++ % 12 == 11) kept.push_back(image);
  };
  send_all(decoder, packets, use);
  take_rest(decoder, use);
  EXPECT_EQ(next, 36);
  EXPECT_EQ(decoder.stats().formats, 3U);
  for (const DecodedImage& image : kept)
    EXPECT_GT(quality(image), min_quality) << "images outlive their format";
}

TEST_F(HardwareCodec, a_seek_begins_at_a_key_frame_and_a_drained_stream_goes_on) {
  VideoEncoderOptions options = sized();
  options.gop = 5;
  const auto packets = encoded(options, 20);
  ASSERT_EQ(packets.size(), 20U);
  const std::span<const Packet> all(packets);
  VideoDecoder decoder = open_decoder();
  std::vector<int> seen;
  const auto use = [&](const DecodedImage& image) {
    EXPECT_GT(quality(image), min_quality) << number_of(image);
    seen.push_back(number_of(image));
  };
  send_all(decoder, all.first(7), use);
  EXPECT_OK(decoder.flush());
  seen.clear();
  send_all(decoder, all.subspan(10, 4), use);
  take_rest(decoder, use);
  EXPECT_EQ(seen, (std::vector{10, 11, 12, 13}));
  send_all(decoder, all.subspan(15), use);
  take_rest(decoder, use);
  EXPECT_EQ(seen, (std::vector{10, 11, 12, 13, 15, 16, 17, 18, 19}));
  EXPECT_OK(decoder.flush());
  send_all(decoder, all.first(3), use);
  take_rest(decoder, use);
  EXPECT_EQ(seen.size(), 12U);
}

TEST_F(HardwareCodec, noise_between_packets_is_refused_and_the_stream_goes_on) {
  auto packets = encoded(sized(), 6);
  Packet noise;
  noise.bytes.assign(5000, std::byte{0x17});
  packets.insert(packets.begin() + 3, noise);
  packets.insert(packets.begin(), noise);
  VideoDecoder decoder = open_decoder();
  int count = 0;
  const auto use = [&](const DecodedImage& image) {
    EXPECT_GT(quality(image), min_quality) << number_of(image);
    ++count;
  };
  send_all(decoder, packets, use);
  take_rest(decoder, use);
  EXPECT_EQ(count, 6);
  EXPECT_GE(decoder.stats().refused, 1U);
}

TEST_F(HardwareCodec, what_the_driver_does_not_offer_is_refused_by_name) {
  VideoEncoderOptions options = sized(320, 240);
  EXPECT_FAILS(VideoEncoder::open(options), Errc::unsupported, "640x360");
  options = sized();
  options.bitrate = 1'000'000;
  EXPECT_FAILS(VideoEncoder::open(options), Errc::unsupported, "bitrate");
  options = sized();
  options.profile = "High";
  EXPECT_FAILS(VideoEncoder::open(options), Errc::unsupported, "profile");
  options = sized();
  options.gop = 17;
  EXPECT_FAILS(VideoEncoder::open(options), Errc::invalid_argument, "1 to 16");
  options = sized();
  options.codec = VideoCodec::h264;
  EXPECT_FAILS(VideoEncoder::open(options), Errc::not_found, "h264");
  options = sized();
  options.path = decodes_->path;
  EXPECT_FAILS(VideoEncoder::open(options), Errc::unsupported, "does not encode");
  VideoEncoder encoder = value_of(VideoEncoder::open(sized()));
  const Tensor image = *value_of(encoder.image(patience));
  EXPECT_FAILS(encoder.encode(image, {}, true), Errc::unsupported, "is_key_frame");
}

TEST_F(HardwareCodec, images_in_ordinary_memory_are_copied_once_and_counted) {
  VideoEncoder encoder = value_of(VideoEncoder::open(sized()));
  VideoDecoder decoder = open_decoder();
  for (int n = 0; n < 5; ++n) {
    const Tensor image =
        value_of(Tensor::create_image(640, 480, PixelFormat::nv12, DType::u8, Memory::mem));
    write_window(n, image);
    ASSERT_TRUE(value_of(encoder.encode(image, milliseconds(40 * n))));
    ASSERT_TRUE(value_of(decoder.send(*value_of(encoder.next(patience)))));
    EXPECT_GT(quality(*value_of(decoder.next(patience))), min_quality);
  }
  EXPECT_EQ(encoder.stats().copies, 5U);
  EXPECT_EQ(encoder.memory(), EncoderMemory::driver_buffers);
}

TEST_F(HardwareCodec, an_image_and_a_packet_outlive_their_codecs) {
  std::optional<VideoPacket> packet;
  {
    VideoEncoder encoder = value_of(VideoEncoder::open(sized()));
    const Tensor image = *value_of(encoder.image(patience));
    write_window(2, image);
    ASSERT_TRUE(value_of(encoder.encode(image, milliseconds(80))));
    packet = value_of(encoder.next(patience));
  }
  std::optional<DecodedImage> image;
  {
    VideoDecoder decoder = open_decoder();
    ASSERT_TRUE(value_of(decoder.send(*packet)));
    image = value_of(decoder.next(patience));
  }
  EXPECT_GT(quality(*image), min_quality);
}

}  // namespace
}  // namespace halyard::vm
