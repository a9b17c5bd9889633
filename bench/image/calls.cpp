// SPDX-License-Identifier: Apache-2.0
// The cost of a call apart from its pixels (8 x 8 images), and the cost of a plan.
#include <cstdlib>

#include "work.h"

namespace halyard::bench {
namespace {

constexpr Work tiny{.name = "rgba_8x8",
                    .source = {8, 8},
                    .from = PixelFormat::rgba,
                    .target = {8, 8},
                    .to = PixelFormat::rgba};
constexpr Work tiny_yuv{.name = "nv12_8x8_rgb",
                        .source = {8, 8},
                        .from = PixelFormat::nv12,
                        .target = {8, 8},
                        .to = PixelFormat::rgb};

constexpr Work camera{.name = "nv12_1080p_letterbox_640_rgb",
                      .source = {1920, 1080},
                      .from = PixelFormat::nv12,
                      .target = {640, 640},
                      .to = PixelFormat::rgb,
                      .fit = Fit::letterbox};

constexpr Work odd_camera{.name = "nv12_1000x563_letterbox_640_rgb",
                          .source = {1000, 563},
                          .from = PixelFormat::nv12,
                          .target = {640, 640},
                          .to = PixelFormat::rgb,
                          .fit = Fit::letterbox};

constexpr Work antialiased(Work work) {
  work.antialias = true;
  return work;
}

Processor on_one_thread() {
  ProcessorOptions options;
  options.threads = 1;
  return Processor::create(options).value();
}

// convert() finds the plan of a geometry that it served lately; run() receives it.
void call(benchmark::State& state, const Work& work) {
  const auto source = std::make_shared<const Source>(work);
  auto processor = std::make_shared<Processor>(on_one_thread());
  const Convert request = request_of(work, source);
  const ConvertPlan plan = processor->plan(request).value();
  std::vector<Contender> all = ours(work, source, 1);
  all.push_back({"run", [processor, request, plan] {
                   auto placed = processor->run(plan, request.src, request.dst);
                   if (!placed) std::abort();
                   benchmark::DoNotOptimize(placed);
                 }});
  in_turns(state, all);
}

/// What changes each time: the processor keeps the plans that it made lately.
enum class Changes : std::uint8_t {
  pad,     ///< the same axes
  height,  ///< height of the crop
  crop,    ///< the whole crop, so that no output has the taps of another
};

void change(Changes what, const Work& work, int turn, Convert& request) {
  const auto part = static_cast<double>(turn % 97) / 97;
  const int lost = turn * 2 % (work.source.height - 8);
  switch (what) {
    case Changes::pad:
      request.pad[static_cast<std::size_t>(turn / 256 % 3)] = static_cast<std::uint8_t>(turn);
      return;
    case Changes::height:
      request.crop = Region{0, 0, work.source.width, work.source.height - lost};
      return;
    case Changes::crop:
      request.crop = RegionF{20 * part, 10 * part, work.source.width - 30 - 40 * part,
                             work.source.height - 20 - 20 * part};
      return;
  }
}

void compile(benchmark::State& state, const Work& work, Changes what) {
  auto processor = std::make_shared<Processor>(on_one_thread());
  Convert request = request_of(work, std::make_shared<const Source>(work));
  in_turns(state, {{"ours", [processor, request, work, what, turn = 0]() mutable {
                      change(what, work, turn++, request);
                      auto plan = processor->plan(request);
                      if (!plan) std::abort();
                      benchmark::DoNotOptimize(plan);
                    }}});
}

BENCHMARK_CAPTURE(call, rgba, tiny)
    ->Name("image/call_rgba_8x8")
    ->Iterations(21)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(call, nv12_rgb, tiny_yuv)
    ->Name("image/call_nv12_8x8_rgb")
    ->Iterations(21)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

void add_plan(const char* name, const Work& work, Changes what) {
  benchmark::RegisterBenchmark(
      name, [work, what](benchmark::State& state) { compile(state, work, what); })
      ->Iterations(21)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

const int plans = [] {
  add_plan("image/plan_nv12_1080p_letterbox_640_rgb", camera, Changes::height);
  add_plan("image/plan_nv12_1080p_letterbox_640_rgb/pad", camera, Changes::pad);
  add_plan("image/plan_nv12_1080p_letterbox_640_rgb/crop", camera, Changes::crop);
  add_plan("image/plan_nv12_1080p_letterbox_640_rgb/antialias", antialiased(camera),
           Changes::height);
  add_plan("image/plan_nv12_1080p_letterbox_640_rgb/antialias/pad", antialiased(camera),
           Changes::pad);
  add_plan("image/plan_nv12_1080p_letterbox_640_rgb/antialias/crop", antialiased(camera),
           Changes::crop);
  add_plan("image/plan_nv12_1000x563_letterbox_640_rgb", odd_camera, Changes::pad);
  add_plan("image/plan_nv12_1000x563_letterbox_640_rgb/antialias", antialiased(odd_camera),
           Changes::pad);
  return 0;
}();

}  // namespace
}  // namespace halyard::bench
