// SPDX-License-Identifier: Apache-2.0
// What a call costs beside its pixels (8 x 8 pictures), and what a plan costs.
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

Processor on_one_thread() {
  Processor::Options options;
  options.threads = 1;
  return Processor::create(options).value();
}

// convert() finds the plan of a geometry that it served lately; run() is given it.
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

// Another crop each time: the processor keeps the plans that it made lately.
void compile(benchmark::State& state, const Work& work) {
  auto processor = std::make_shared<Processor>(on_one_thread());
  Convert request = request_of(work, std::make_shared<const Source>(work));
  auto crop = std::make_shared<RegionF>(Region{0, 0, work.source.width, work.source.height});
  in_turns(state, {{"ours", [processor, request, crop]() mutable {
                      const auto most = static_cast<double>(request.src.height());
                      crop->height = crop->height > 8 ? crop->height - 2 : most;
                      request.crop = *crop;
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

BENCHMARK_CAPTURE(compile, camera, camera)
    ->Name("image/plan_nv12_1080p_letterbox_640_rgb")
    ->Iterations(21)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
}  // namespace
}  // namespace halyard::bench
