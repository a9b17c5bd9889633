// SPDX-License-Identifier: Apache-2.0
// Picture conversion beside libyuv, OpenCV and memcpy on the same data. Argument: threads (0: all).
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "halyard/image.h"
#ifdef HALYARD_HAVE_LIBYUV
#include <libyuv.h>
#endif
#ifdef HALYARD_HAVE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace {

using halyard::DType;
using halyard::PixelFormat;
using halyard::Tensor;

Tensor noise(std::size_t width, std::size_t height, PixelFormat format) {
  Tensor image =
      Tensor::create_image(width, height, format, DType::u8, halyard::Memory::mem).value();
  const auto map = image.buffer()->map(halyard::Access::write).value();
  std::mt19937 random(1);
  for (std::byte& b : map.writable_bytes())
    b = static_cast<std::byte>(random() & 0xFFU);
  return image;
}

struct Case {
  const char* name;
  halyard::Size source;
  PixelFormat from;
  halyard::Size target;
  PixelFormat to;
  DType dtype;
  halyard::Rotation rotation = halyard::Rotation::none;
  bool antialias = false;
};

void convert(benchmark::State& state, const Case& c) {
  halyard::Processor::Options options;
  options.threads = static_cast<unsigned>(state.range(0));
  auto processor = halyard::Processor::create(options).value();
  halyard::Convert request;
  request.src = noise(static_cast<std::size_t>(c.source.width),
                      static_cast<std::size_t>(c.source.height), c.from);
  request.dst = Tensor::create_image(static_cast<std::size_t>(c.target.width),
                                     static_cast<std::size_t>(c.target.height), c.to, c.dtype,
                                     halyard::Memory::mem)
                    .value();
  request.fit = halyard::Fit::letterbox;
  request.rotation = c.rotation;
  request.antialias = c.antialias;
  for (auto _ : state) {
    auto placed = processor.convert(request);
    if (!placed) return state.SkipWithError(placed.error().message().c_str());
    benchmark::DoNotOptimize(placed);
  }
}

constexpr halyard::Size hd{1920, 1080};
constexpr halyard::Size uhd{3840, 2160};
constexpr halyard::Size net{640, 640};

const Case cases[] = {
    {"nv12_1080p_letterbox_640_rgb", hd, PixelFormat::nv12, net, PixelFormat::rgb, DType::u8},
    {"nv12_1080p_letterbox_640_rgba", hd, PixelFormat::nv12, net, PixelFormat::rgba, DType::u8},
    {"nv12_1080p_letterbox_640_planar_i8", hd, PixelFormat::nv12, net, PixelFormat::planar_rgb,
     DType::i8},
    {"nv12_1080p_letterbox_640_planar_f32", hd, PixelFormat::nv12, net, PixelFormat::planar_rgb,
     DType::f32},
    {"nv12_720p_letterbox_640_rgb",
     {1280, 720},
     PixelFormat::nv12,
     net,
     PixelFormat::rgb,
     DType::u8},
    {"nv12_1080p_letterbox_608_rgb",
     hd,
     PixelFormat::nv12,
     {608, 608},
     PixelFormat::rgb,
     DType::u8},
    {"nv12_2160p_letterbox_640_rgb", uhd, PixelFormat::nv12, net, PixelFormat::rgb, DType::u8},
    {"yuyv_1080p_letterbox_640_rgb", hd, PixelFormat::yuyv, net, PixelFormat::rgb, DType::u8},
    {"rgb_1080p_letterbox_640_rgb", hd, PixelFormat::rgb, net, PixelFormat::rgb, DType::u8},
    {"rgb_1080p_letterbox_608_rgb", hd, PixelFormat::rgb, {608, 608}, PixelFormat::rgb, DType::u8},
    {"rgb_1080p_letterbox_640_planar_f32", hd, PixelFormat::rgb, net, PixelFormat::planar_rgb,
     DType::f32},
    {"nv12_1080p_same_size_rgba", hd, PixelFormat::nv12, hd, PixelFormat::rgba, DType::u8},
    {"yuyv_1080p_same_size_rgb", hd, PixelFormat::yuyv, hd, PixelFormat::rgb, DType::u8},
    {"rgb_360p_enlarged_1080p_rgb", {640, 360}, PixelFormat::rgb, hd, PixelFormat::rgb, DType::u8},
    {"rgba_1080p_turned_90",
     hd,
     PixelFormat::rgba,
     {1080, 1920},
     PixelFormat::rgba,
     DType::u8,
     halyard::Rotation::cw90},
    {"nv12_1080p_letterbox_640_rgb_antialiased", hd, PixelFormat::nv12, net, PixelFormat::rgb,
     DType::u8, halyard::Rotation::none, true},
    {"rgba_8x8_smallest", {8, 8}, PixelFormat::rgba, {8, 8}, PixelFormat::rgba, DType::u8},
};

#ifdef HALYARD_HAVE_LIBYUV

struct Nv12 {
  Tensor image;
  halyard::TensorMap map;
  const std::uint8_t* y() const { return reinterpret_cast<const std::uint8_t*>(map.plane(0).data); }
  const std::uint8_t* uv() const {
    return reinterpret_cast<const std::uint8_t*>(map.plane(1).data);
  }
  int y_stride() const { return static_cast<int>(map.plane(0).stride_bytes); }
  int uv_stride() const { return static_cast<int>(map.plane(1).stride_bytes); }
};

Nv12 nv12_noise() {
  Tensor image = noise(1920, 1080, PixelFormat::nv12);
  auto map = image.map(halyard::Access::read).value();
  return {std::move(image), std::move(map)};
}

void libyuv_letterbox(benchmark::State& state) {
  const Nv12 in = nv12_noise();
  std::vector<std::uint8_t> y(640 * 360), uv(640 * 180), rgb(640 * 640 * 3);
  for (auto _ : state) {
    libyuv::NV12Scale(in.y(), in.y_stride(), in.uv(), in.uv_stride(), 1920, 1080, y.data(), 640,
                      uv.data(), 640, 640, 360, libyuv::kFilterBilinear);
    std::memset(rgb.data(), 114, 640 * 140 * 3);
    libyuv::NV12ToRAW(y.data(), 640, uv.data(), 640, &rgb[640 * 140 * 3], 640 * 3, 640, 360);
    std::memset(&rgb[640 * 500 * 3], 114, 640 * 140 * 3);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(libyuv_letterbox)
    ->Name("peer/libyuv_nv12_1080p_letterbox_640_rgb")
    ->Unit(benchmark::kMicrosecond);

void libyuv_same_size(benchmark::State& state) {
  const Nv12 in = nv12_noise();
  std::vector<std::uint8_t> rgba(1920 * 1080 * 4);
  for (auto _ : state) {
    libyuv::NV12ToABGR(in.y(), in.y_stride(), in.uv(), in.uv_stride(), rgba.data(), 1920 * 4, 1920,
                       1080);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(libyuv_same_size)
    ->Name("peer/libyuv_nv12_1080p_same_size_rgba")
    ->Unit(benchmark::kMicrosecond);

void libyuv_turn(benchmark::State& state) {
  const std::vector<std::uint8_t> in(1920 * 1080 * 4, 7);
  std::vector<std::uint8_t> out(in.size());
  for (auto _ : state) {
    libyuv::ARGBRotate(in.data(), 1920 * 4, out.data(), 1080 * 4, 1920, 1080, libyuv::kRotate90);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(libyuv_turn)->Name("peer/libyuv_rgba_1080p_turned_90")->Unit(benchmark::kMicrosecond);

#endif  // HALYARD_HAVE_LIBYUV

#ifdef HALYARD_HAVE_OPENCV

void opencv_letterbox(benchmark::State& state) {
  cv::setNumThreads(static_cast<int>(state.range(0)));
  cv::Mat nv12(1080 * 3 / 2, 1920, CV_8UC1), rgb, small, out;
  cv::randu(nv12, 0, 255);
  for (auto _ : state) {
    cv::cvtColor(nv12, rgb, cv::COLOR_YUV2RGB_NV12);
    cv::resize(rgb, small, {640, 360}, 0, 0, cv::INTER_LINEAR);
    cv::copyMakeBorder(small, out, 140, 140, 0, 0, cv::BORDER_CONSTANT, {114, 114, 114});
    benchmark::ClobberMemory();
  }
}
BENCHMARK(opencv_letterbox)
    ->Name("peer/opencv_nv12_1080p_letterbox_640_rgb")
    ->Arg(1)
    ->Arg(0)
    ->Unit(benchmark::kMicrosecond);

// The network's input: the letterboxed picture as float planes of value / 255.
void opencv_planar(benchmark::State& state) {
  cv::setNumThreads(static_cast<int>(state.range(0)));
  cv::Mat nv12(1080 * 3 / 2, 1920, CV_8UC1), rgb, small, boxed, scaled;
  std::array<cv::Mat, 3> planes;
  cv::randu(nv12, 0, 255);
  for (auto _ : state) {
    cv::cvtColor(nv12, rgb, cv::COLOR_YUV2RGB_NV12);
    cv::resize(rgb, small, {640, 360}, 0, 0, cv::INTER_LINEAR);
    cv::copyMakeBorder(small, boxed, 140, 140, 0, 0, cv::BORDER_CONSTANT, {114, 114, 114});
    boxed.convertTo(scaled, CV_32FC3, 1 / 255.0);
    cv::split(scaled, planes.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(opencv_planar)
    ->Name("peer/opencv_nv12_1080p_letterbox_640_planar_f32")
    ->Arg(1)
    ->Arg(0)
    ->Unit(benchmark::kMicrosecond);

#endif  // HALYARD_HAVE_OPENCV

void memcpy_floor(benchmark::State& state) {
  const std::vector<std::uint8_t> in(static_cast<std::size_t>(state.range(0)), 7);
  std::vector<std::uint8_t> out(in.size());
  for (auto _ : state) {
    std::memcpy(out.data(), in.data(), in.size());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(memcpy_floor)
    ->Name("floor/memcpy_bytes")
    ->Arg(1920 * 1080 * 4)
    ->Arg(1920 * 1080 * 3 / 2)
    ->Arg(640 * 640 * 3 * 4)
    ->Arg(640 * 640 * 3)
    ->Unit(benchmark::kMicrosecond);

const bool registered = [] {
  for (const Case& c : cases) {
    benchmark::RegisterBenchmark((std::string("convert/") + c.name).c_str(),
                                 [&c](benchmark::State& state) { convert(state, c); })
        ->Arg(1)
        ->Arg(0)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
