// SPDX-License-Identifier: Apache-2.0
// JPEG 1280 x 720: decoded into NV12 and RGB, compared with libjpeg-turbo reading planes and
// pixels. PNG of the same pixels: encoded and decoded; codec_peers.py measures the peers. The image
// is photos/zidane.jpg of the real test data if that is set, else a painted one.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <vector>
// jpeglib.h needs stdio.
#include <jpeglib.h>

#include "halyard/codec.h"

namespace {

using halyard::PixelFormat;

constexpr std::size_t width = 1280, height = 720;

std::vector<std::byte> painted() {
  const auto image = halyard::Tensor::create_image(width, height, PixelFormat::rgb);
  const auto map = image->map(halyard::Access::write);
  auto* sample = map->plane(0).writable;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width * 3; ++x) {
      *sample++ = static_cast<std::byte>((x * y / 97 + x / 5 + y * (x % 3)) & 0xFFU);
    }
  }
  return *halyard::encode_jpeg(*image);
}

const std::vector<std::byte>& file() {
  static const std::vector<std::byte> bytes = [] {
    const char* folder = std::getenv("HALYARD_TESTDATA_DIR");
    if (folder == nullptr) return painted();
    auto photo = halyard::read_file(std::string(folder) + "/photos/zidane.jpg");
    return photo ? *photo : painted();
  }();
  return bytes;
}

void load(benchmark::State& state, PixelFormat format) {
  auto image = halyard::Tensor::create_image(width, height, format);
  for (auto _ : state) {
    if (!halyard::load_into(*image, file(), {.format = format})) state.SkipWithError("refused");
  }
}

// One libjpeg object for all images, as in Halyard.
struct Peer {
  Peer() {
    codec.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&codec);
  }
  ~Peer() { jpeg_destroy_decompress(&codec); }
  void begin() {
    jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(file().data()), file().size());
    jpeg_read_header(&codec, TRUE);
  }
  jpeg_decompress_struct codec{};
  jpeg_error_mgr errors{};
};

// The floor: three separate planes, without interleaving.
void peer_planes(benchmark::State& state) {
  Peer peer;
  std::vector<JSAMPLE> y(width * height), cb(width * height / 4), cr(width * height / 4);
  JSAMPROW rows[3][16];
  JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
  for (auto _ : state) {
    peer.begin();
    peer.codec.raw_data_out = TRUE;
    jpeg_start_decompress(&peer.codec);
    while (peer.codec.output_scanline < height) {
      const std::size_t first = peer.codec.output_scanline;
      for (std::size_t r = 0; r < 16; ++r)
        rows[0][r] = y.data() + (first + r) * width;
      for (std::size_t r = 0; r < 8; ++r) {
        rows[1][r] = cb.data() + (first / 2 + r) * width / 2;
        rows[2][r] = cr.data() + (first / 2 + r) * width / 2;
      }
      jpeg_read_raw_data(&peer.codec, planes, 16);
    }
    jpeg_finish_decompress(&peer.codec);
    benchmark::DoNotOptimize(y.data());
  }
}

void peer_rgb(benchmark::State& state) {
  Peer peer;
  std::vector<JSAMPLE> pixels(width * height * 3);
  for (auto _ : state) {
    peer.begin();
    jpeg_start_decompress(&peer.codec);
    while (peer.codec.output_scanline < height) {
      JSAMPROW rows[16];
      for (std::size_t r = 0; r < 16; ++r) {
        rows[r] = pixels.data() + (peer.codec.output_scanline + r) * width * 3;
      }
      jpeg_read_scanlines(&peer.codec, rows, 16);
    }
    jpeg_finish_decompress(&peer.codec);
    benchmark::DoNotOptimize(pixels.data());
  }
}

halyard::Tensor pixels(PixelFormat format) {
  auto image = halyard::Tensor::create_image(width, height, format);
  if (!halyard::load_into(*image, file(), {.format = format})) std::abort();
  return *image;
}

void load_png(benchmark::State& state, PixelFormat format) {
  auto image = pixels(format);
  const auto bytes = *halyard::encode_png(image);
  for (auto _ : state) {
    if (!halyard::load_into(image, bytes)) state.SkipWithError("refused");
  }
}

void encode_png(benchmark::State& state, PixelFormat format) {
  const auto image = pixels(format);
  for (auto _ : state) {
    const auto bytes = halyard::encode_png(image);
    state.counters["bytes"] = static_cast<double>(bytes->size());
  }
}

void peek_header(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(halyard::peek(file()).has_value());
}

BENCHMARK_CAPTURE(load, jpeg_720p_nv12, PixelFormat::nv12)->Unit(benchmark::kMillisecond);
BENCHMARK(peer_planes)->Name("libjpeg/jpeg_720p_planes")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, jpeg_720p_rgb, PixelFormat::rgb)->Unit(benchmark::kMillisecond);
BENCHMARK(peer_rgb)->Name("libjpeg/jpeg_720p_rgb")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_png, png_720p_rgb, PixelFormat::rgb)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_png, png_720p_rgba, PixelFormat::rgba)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_png, png_720p_grey, PixelFormat::grey)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_png, png_720p_rgb, PixelFormat::rgb)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_png, png_720p_grey, PixelFormat::grey)->Unit(benchmark::kMillisecond);
BENCHMARK(peek_header)->Name("peek/jpeg")->Unit(benchmark::kMicrosecond);

}  // namespace
