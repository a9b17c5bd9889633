// SPDX-License-Identifier: Apache-2.0
// Trackers over 50 frames of objects that drift and jitter; one iteration is a new tracker and all
// frames. bench/track_peers.py gives EdgeFirst's trackers the same boxes: this program writes them
// to HALYARD_BENCH_TRACK_N (f32, frames x objects x 4), where N is the number of objects.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "halyard/track.h"

namespace halyard {
namespace {

constexpr std::size_t frames = 50;
using Scene = std::vector<std::vector<Detection>>;

std::vector<float> boxes_from(const char* path, std::size_t count) {
  std::vector<float> out(count);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count * sizeof(float)));
  return in ? out : std::vector<float>{};
}

std::vector<float> boxes_of(std::size_t objects) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> place(0.05F, 0.9F);
  std::normal_distribution<float> speed(0, 0.001F);
  std::normal_distribution<float> jitter(0, 0.0005F);
  std::vector<float> start(objects * 2), velocity(objects * 2), out;
  for (float& value : start)
    value = place(random);
  for (float& value : velocity)
    value = speed(random);
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::size_t i = 0; i < objects; ++i) {
      const float x = start[2 * i] + velocity[2 * i] * static_cast<float>(f) + jitter(random);
      const float y =
          start[2 * i + 1] + velocity[2 * i + 1] * static_cast<float>(f) + jitter(random);
      out.insert(out.end(), {x, y, x + 0.04F, y + 0.04F});
    }
  }
  return out;
}

Scene scene(std::size_t objects) {
  const char* path = std::getenv(("HALYARD_BENCH_TRACK_" + std::to_string(objects)).c_str());
  const std::vector<float> boxes =
      path != nullptr ? boxes_from(path, frames * objects * 4) : boxes_of(objects);
  Scene out(boxes.empty() ? 0 : frames);
  for (std::size_t f = 0; f < out.size(); ++f) {
    for (std::size_t i = 0; i < objects; ++i) {
      const float* b = boxes.data() + (f * objects + i) * 4;
      out[f].push_back({{b[0], b[1], b[2], b[3]}, 0.9F, 0, -1});
    }
  }
  return out;
}

template <class Create>
void run(benchmark::State& state, Create create) {
  const Scene detections = scene(static_cast<std::size_t>(state.range(0)));
  if (detections.empty()) state.SkipWithError("the file of boxes is too short");
  std::vector<Track> tracks;
  for (auto _ : state) {
    auto tracker = *create();
    for (std::size_t f = 0; f < detections.size(); ++f) {
      const auto when = std::chrono::nanoseconds(1 + 33'000'000 * static_cast<std::int64_t>(f));
      if (!tracker.update(detections[f], when, tracks)) state.SkipWithError("update failed");
      benchmark::DoNotOptimize(tracks.data());
    }
  }
  state.counters["tracks"] = static_cast<double>(tracks.size());
  state.counters["us_per_frame"] =
      benchmark::Counter(static_cast<double>(state.iterations() * frames) * 1e-6,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(run, bytetrack, [] { return ByteTrack::create(); })
    ->Name("track/bytetrack")
    ->Arg(20)
    ->Arg(100)
    ->Arg(500);
BENCHMARK_CAPTURE(run, bytetrack_paper, [] { return ByteTrack::paper(); })
    ->Name("track/bytetrack_paper")
    ->Arg(20)
    ->Arg(100)
    ->Arg(500);
BENCHMARK_CAPTURE(run, ocsort, [] { return OcSort::create(); })
    ->Name("track/ocsort")
    ->Arg(20)
    ->Arg(100)
    ->Arg(500);
BENCHMARK_CAPTURE(run, sort, [] { return Sort::create(); })
    ->Name("track/sort")
    ->Arg(20)
    ->Arg(100)
    ->Arg(500);

}  // namespace
}  // namespace halyard
