// SPDX-License-Identifier: Apache-2.0
// A first program for hardware codecs: lists them, encodes images that it draws, and decodes the
// packets, without a copy of a pixel.
//   hardware_codec [CODEC [COUNT]]     h264, hevc, ... ; fwht on the kernel's vicodec
#include <halyard/enumerators.h>
#include <halyard/halyard.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace halyard;

static void print_codecs() {
  const auto codecs = list_video_codecs();
  std::printf("%zu hardware codecs\n", codecs.size());
  for (const VideoCodecInfo& info : codecs) {
    std::printf("%s %s:", info.path.c_str(), info.is_encoder ? "encodes" : "decodes");
    for (const auto& coded : info.coded)
      std::printf(" %s", std::string(to_string(coded.codec)).c_str());
    std::printf(" (%s)\n", info.usable ? info.name.c_str() : info.usable.error().message().c_str());
  }
}

static Status paint(const Tensor& image, int value) {
  HALYARD_TRY(const TensorMap map, image.map(Access::write));
  for (std::size_t p = 0; p < map.plane_count(); ++p)
    for (std::size_t row = 0; row < map.plane(p).rows; ++row)
      std::memset(map.plane(p).writable + row * map.plane(p).stride_bytes, value,
                  map.plane(p).row_bytes);
  return {};
}

static void show(const DecodedImage& decoded) {
  std::printf("image of %lld ms: %zux%zu in %s\n",
              static_cast<long long>(decoded.timestamp / std::chrono::milliseconds(1)),
              decoded.image.width(), decoded.image.height(),
              std::string(to_string(decoded.image.memory())).c_str());
}

static Status pass(VideoDecoder& decoder, const VideoPacket& packet) {
  for (;;) {
    HALYARD_TRY(const bool is_taken, decoder.send(packet));
    // Not taken: an image is ready, and comes first.
    while (decoder.is_ready()) {
      HALYARD_TRY(const auto decoded, decoder.next());
      if (!decoded) break;
      show(*decoded);
    }  // here the driver gets the image's buffer back
    if (is_taken) return {};
  }
}

static Status run(VideoCodec codec, int count) {
  HALYARD_TRY(VideoEncoder encoder,
              VideoEncoder::open({.codec = codec, .width = 640, .height = 480, .rate = 25}));
  HALYARD_TRY(VideoDecoder decoder, VideoDecoder::open({.codec = codec}));
  for (int n = 0; n < count; ++n) {
    HALYARD_TRY(const auto image, encoder.image());
    if (image) {
      HALYARD_RETURN_IF_ERROR(paint(*image, 20 + 10 * n % 200));
      HALYARD_TRY(const bool is_taken, encoder.encode(*image, std::chrono::milliseconds(40 * n)));
      if (!is_taken) --n;
    } else {
      --n;  // packets are ready, and come first
    }
    while (encoder.is_ready()) {
      HALYARD_TRY(const auto packet, encoder.next());
      if (packet) HALYARD_RETURN_IF_ERROR(pass(decoder, *packet));
    }
  }
  HALYARD_RETURN_IF_ERROR(encoder.drain());
  for (;;) {
    HALYARD_TRY(const auto packet, encoder.next());
    if (!packet) break;
    HALYARD_RETURN_IF_ERROR(pass(decoder, *packet));
  }
  HALYARD_RETURN_IF_ERROR(decoder.drain());
  for (;;) {
    HALYARD_TRY(const auto decoded, decoder.next());
    if (!decoded) break;
    show(*decoded);
  }
  std::printf("%llu copies\n",
              static_cast<unsigned long long>(encoder.stats().copies + decoder.stats().copies));
  return {};
}

int main(int argc, char** argv) {
  print_codecs();
  if (argc < 2) return 0;
  const auto codec = enumerator_from<VideoCodec>(argv[1]);
  const Status done = codec ? run(*codec, argc > 2 ? std::atoi(argv[2]) : 10) : Status();
  if (codec && done) return 0;
  std::fprintf(stderr, "%s\n", codec ? done.error().message().c_str() : "there is no such codec");
  return 1;
}
