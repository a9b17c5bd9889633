// SPDX-License-Identifier: Apache-2.0
// What Pipeline costs: the latency that it adds to its stages, and how near its rate comes to that
// of the slowest stage alone. Stages wait and do not compute, so that the figures hold on any count
// of processors; the harbour's network computes.
#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>

#include "halyard/image.h"
#include "halyard/pipeline.h"

namespace halyard {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

PipelineStage waiting(const char* name, microseconds time, StageOrder order) {
  PipelineStage out;
  out.name = name;
  out.order = order;
  out.run = [time](PipelineFrame&) {
    std::this_thread::sleep_for(time);
    return Status();
  };
  return out;
}

PipelineSource source_of(const Tensor& image, std::size_t count, microseconds interval) {
  PipelineSource out;
  out.name = "bench";
  out.next = [=, index = std::size_t{0}]() mutable -> Result<std::optional<Frame>> {
    if (index == count) return std::optional<Frame>();
    if (interval.count() > 0) std::this_thread::sleep_for(interval);
    Frame frame{image, "bench", index, std::chrono::milliseconds(40) * index};
    ++index;
    return std::optional<Frame>(std::move(frame));
  };
  return out;
}

Tensor small_image() {
  return Tensor::create_image(Size{64, 64}, PixelFormat::rgb).value();
}

PipelineStats run(PipelineOptions options) {
  auto pipeline = Pipeline::create(std::move(options)).value();
  (void)pipeline.start();
  (void)pipeline.wait();
  return pipeline.stats();
}

double microseconds_of(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

// A camera at 200 frames a second and one stage of 1 ms: what is left of the latency is ours.
void added_latency(benchmark::State& state) {
  double mean = 0, p50 = 0, p99 = 0;
  for ([[maybe_unused]] auto _ : state) {
    PipelineOptions options;
    options.sources.push_back(source_of(small_image(), 200, microseconds(5000)));
    options.stages.push_back(waiting("stage", microseconds(1000), StageOrder::in_order));
    const PipelineStats stats = run(std::move(options));
    const StageStats& stage = stats.stages.back();
    p50 = microseconds_of(stats.latency.p50 - stage.p50);
    p99 = microseconds_of(stats.latency.p99 - stage.p99);
    mean = microseconds_of(stats.latency.total - stage.total) / double(stage.frames);
  }
  state.counters["added_mean_us"] = mean;  // percentiles are in a histogram's steps of 33 us
  state.counters["added_p50_us"] = p50;
  state.counters["added_p99_us"] = p99;
}

// Three stages in order, 1, 4 and 2 ms: the rate over that of the slowest alone.
void throughput(benchmark::State& state) {
  constexpr std::size_t frames = 250;
  double share = 0;
  for ([[maybe_unused]] auto _ : state) {
    PipelineOptions options;
    options.sources.push_back(source_of(small_image(), frames, microseconds(0)));
    options.in_flight = static_cast<std::size_t>(state.range(0));
    const std::array times = {microseconds(1000), microseconds(4000), microseconds(2000)};
    for (const microseconds time : times)
      options.stages.push_back(waiting("stage", time, StageOrder::in_order));
    const PipelineStats stats = run(std::move(options));
    // A sleep is longer than asked for: the slowest stage's own total is its time alone.
    share = microseconds_of(stats.stages[6].total) / microseconds_of(stats.elapsed);
  }
  state.counters["of_slowest_stage"] = share;
}

// The harbour's network: frames a second of the pipeline over those of threads that only infer.
void network(benchmark::State& state) {
  constexpr std::size_t frames = 200;
  auto model = PipelineModel::open(HALYARD_SOURCE_DIR "/examples/harbour/harbour.onnx");
  if (!model) return state.SkipWithError(model.error().message().c_str());
  const auto threads = static_cast<std::size_t>(state.range(0));
  const Tensor image = Tensor::create_image(Size{640, 360}, PixelFormat::nv12).value();
  double share = 0, rate = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto start = Clock::now();
    std::vector<std::thread> alone;
    for (std::size_t i = 0; i < threads; ++i)
      alone.emplace_back([&] {
        const auto input = Tensor::create(model->engine->inputs()[0]).value();
        for (std::size_t n = 0; n < frames / threads; ++n)
          benchmark::DoNotOptimize(model->engine->run(input));
      });
    for (std::thread& thread : alone)
      thread.join();
    const std::chrono::duration<double> inferring = Clock::now() - start;
    PipelineOptions options;
    options.sources.push_back(source_of(image, frames, microseconds(0)));
    options.models.push_back(*model);
    options.tracker = ByteTrackOptions{};
    options.in_flight = threads;
    const std::chrono::duration<double> all = run(std::move(options)).elapsed;
    share = inferring / all;
    rate = static_cast<double>(frames) / all.count();
  }
  state.counters["of_inference_alone"] = share;
  state.counters["frames_per_s"] = rate;
}

BENCHMARK(added_latency)->Name("pipeline/added_latency")->Iterations(1)->UseRealTime();
BENCHMARK(throughput)->Name("pipeline/throughput")->Arg(3)->Arg(4)->Iterations(1)->UseRealTime();
BENCHMARK(network)->Name("pipeline/network")->Arg(2)->Arg(4)->Iterations(3)->UseRealTime();

}  // namespace
}  // namespace halyard
