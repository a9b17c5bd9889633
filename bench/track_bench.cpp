// SPDX-License-Identifier: Apache-2.0
// ByteTrack over 50 frames of 20 and 100 objects that move and jitter; one iteration is all frames.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "halyard/track.h"

namespace halyard {
namespace {

constexpr int frames = 50;

std::vector<std::vector<Detection>> scene(int objects) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(0, 1);
  std::normal_distribution<float> jitter(0, 0.001F);
  std::vector<Box> boxes;
  std::vector<Box> speed;
  for (int i = 0; i < objects; ++i) {
    const float x = unit(random) * 0.9F;
    const float y = unit(random) * 0.9F;
    boxes.push_back({x, y, x + 0.02F + 0.06F * unit(random), y + 0.02F + 0.06F * unit(random)});
    speed.push_back({0.004F * (unit(random) - 0.5F), 0.004F * (unit(random) - 0.5F), 0, 0});
  }
  std::vector<std::vector<Detection>> out(frames);
  for (int f = 0; f < frames; ++f) {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const float dx = speed[i].x1 * static_cast<float>(f) + jitter(random);
      const float dy = speed[i].y1 * static_cast<float>(f) + jitter(random);
      const Box& b = boxes[i];
      out[static_cast<std::size_t>(f)].push_back(
          {{b.x1 + dx, b.y1 + dy, b.x2 + dx, b.y2 + dy}, 0.5F + 0.5F * unit(random), 0, -1});
    }
  }
  return out;
}

void byte_track(benchmark::State& state) {
  const auto detections = scene(static_cast<int>(state.range(0)));
  std::size_t tracks = 0;
  for (auto _ : state) {
    auto tracker = *ByteTrack::create();
    for (std::size_t f = 0; f < detections.size(); ++f) {
      auto found = tracker.update(detections[f], std::chrono::nanoseconds(33'333'333 * f));
      tracks = found->size();
      benchmark::DoNotOptimize(found->data());
    }
  }
  state.counters["tracks"] = static_cast<double>(tracks);
}
BENCHMARK(byte_track)->Arg(20)->Arg(100)->Arg(500);

}  // namespace
}  // namespace halyard
