// SPDX-License-Identifier: Apache-2.0
// The speed table: image/NAME/threads:N. The goal of each row: docs/performance.md.
#include <string>

#include "work.h"

namespace halyard::bench {
namespace {

constexpr Size hd{1920, 1080};
constexpr Size uhd{3840, 2160};
constexpr Size net{640, 640};
constexpr PixelFormat nv12 = PixelFormat::nv12;
constexpr PixelFormat yuyv = PixelFormat::yuyv;
constexpr PixelFormat rgb = PixelFormat::rgb;
constexpr PixelFormat rgba = PixelFormat::rgba;
constexpr PixelFormat planar = PixelFormat::planar_rgb;

Work boxed(const char* name, PixelFormat from, PixelFormat to, DType dtype = DType::u8) {
  return {.name = name,
          .source = hd,
          .from = from,
          .target = net,
          .to = to,
          .dtype = dtype,
          .fit = Fit::letterbox};
}

Work antialiased(const char* name, PixelFormat from, PixelFormat to) {
  Work work = boxed(name, from, to);
  work.antialias = true;
  return work;
}

std::vector<Work> rows() {
  Work quantized = boxed("nv12_1080p_letterbox_640_planar_i8_quantized", nv12, planar, DType::i8);
  quantized.scale = 1 / 255.0F;
  Work fine = quantized;
  fine.name = "nv12_1080p_letterbox_640_planar_i8_quantized_finer";
  fine.scale = 0.0078F;
  Work nearest = boxed("nv12_1080p_letterbox_640_rgb_nearest", nv12, rgb);
  nearest.filter = Filter::nearest;
  Work large = boxed("nv12_2160p_letterbox_640_rgb", nv12, rgb);
  large.source = uhd;
  return {
      boxed("nv12_1080p_letterbox_640_rgb", nv12, rgb),
      boxed("nv12_1080p_letterbox_640_rgba", nv12, rgba),
      boxed("yuyv_1080p_letterbox_640_rgb", yuyv, rgb),
      boxed("yuyv_1080p_letterbox_640_rgba", yuyv, rgba),
      nearest,
      antialiased("nv12_1080p_letterbox_640_rgb_antialiased", nv12, rgb),
      antialiased("nv12_1080p_letterbox_640_rgba_antialiased", nv12, rgba),
      antialiased("yuyv_1080p_letterbox_640_rgb_antialiased", yuyv, rgb),
      antialiased("rgb_1080p_letterbox_640_rgb_antialiased", rgb, rgb),
      boxed("nv12_1080p_letterbox_640_planar_f32", nv12, planar, DType::f32),
      boxed("nv12_1080p_letterbox_640_planar_f16", nv12, planar, DType::f16),
      boxed("nv12_1080p_letterbox_640_planar_i8", nv12, planar, DType::i8),
      quantized,
      fine,
      large,
      boxed("rgb_1080p_letterbox_640_rgb", rgb, rgb),
      boxed("rgb_1080p_letterbox_640_planar_f32", rgb, planar, DType::f32),
      {.name = "nv12_1080p_same_size_rgba", .source = hd, .from = nv12, .target = hd, .to = rgba},
      {.name = "nv12_1080p_same_size_rgb", .source = hd, .from = nv12, .target = hd, .to = rgb},
      {.name = "yuyv_1080p_same_size_rgb", .source = hd, .from = yuyv, .target = hd, .to = rgb},
      {.name = "rgba_1080p_turned_90",
       .source = hd,
       .from = rgba,
       .target = {1080, 1920},
       .to = rgba,
       .rotation = Rotation::cw90},
      {.name = "rgb_360p_enlarged_1080p_rgb",
       .source = {640, 360},
       .from = rgb,
       .target = hd,
       .to = rgb},
  };
}

void append(std::vector<Contender>& all, std::vector<Contender> more) {
  for (Contender& contender : more)
    all.push_back(std::move(contender));
}

void measure(benchmark::State& state, const Work& work) {
  const auto threads = static_cast<unsigned>(state.range(0));
  const auto source = std::make_shared<const Source>(work);
  std::vector<Contender> all = ours(work, source, threads);
  if (all.empty()) return state.SkipWithError("not served");
  append(all, opencv(work, source, threads));
  append(all, libyuv_peer(work, source));
  append(all, floors(work, source, threads));
  in_turns(state, all);
}

const bool registered = [] {
  for (const Work& work : rows()) {
    benchmark::RegisterBenchmark((std::string("image/") + work.name).c_str(),
                                 [work](benchmark::State& state) { measure(state, work); })
        ->ArgName("threads")
        ->Arg(1)
        ->Arg(2)
        ->Iterations(21)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
}  // namespace halyard::bench
