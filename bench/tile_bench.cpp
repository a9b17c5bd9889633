// SPDX-License-Identifier: Apache-2.0
// Merging the detections of tiles. The peer is a plain greedy merge of the same boxes: sorted once,
// each compared with all that stay. The floor is sorting them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "halyard/tile_merge.h"

namespace halyard {
namespace {

// Objects of 8..80 px on a frame that grows with their number; a third of them detected twice, as
// in the overlap of tiles.
std::vector<Detection> detections_of(std::size_t count) {
  std::mt19937 random(7);
  const auto uniform = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  const float frame = 100 * std::sqrt(static_cast<float>(count));
  std::vector<Detection> out;
  while (out.size() < count) {
    const float x = uniform(0, frame);
    const float y = uniform(0, frame);
    Detection d{{x, y, x + uniform(8, 80), y + uniform(8, 80)},
                uniform(0.25F, 1),
                static_cast<std::int32_t>(random() % 8),
                0};
    out.push_back(d);
    if (random() % 2 != 0 || out.size() == count) continue;
    d.box.x2 -= 0.3F * d.box.width();
    d.score = uniform(0.25F, 1);
    out.push_back(d);
  }
  return out;
}

MergeOptions options_of(MergeStrategy strategy) {
  MergeOptions options;
  options.strategy = strategy;
  options.max_detections = 0;
  return options;
}

void merge_tiles(benchmark::State& state, MergeStrategy strategy) {
  const auto detections = detections_of(static_cast<std::size_t>(state.range(0)));
  const FrameSize frame{1e6F, 1e6F};
  auto tiles = *TileAccumulator::create(frame, 1, options_of(strategy));
  const auto tile = TilePlacement::of_fractions(0, 1, frame, {0, 0, 1e6, 1e6}, Box{0, 0, 1e6, 1e6});
  std::vector<Detection> out;
  for (auto _ : state) {
    tiles.clear();
    benchmark::DoNotOptimize(tiles.push(tile, detections));
    tiles.finalize(out);
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["kept"] = static_cast<double>(out.size());
}

bool match(const Detection& a, const Detection& b) {
  const float width = std::min(a.box.x2, b.box.x2) - std::max(a.box.x1, b.box.x1);
  const float height = std::min(a.box.y2, b.box.y2) - std::max(a.box.y1, b.box.y1);
  if (width <= 0 || height <= 0 || a.label != b.label) return false;
  return width * height >= 0.5F * std::min(a.box.area(), b.box.area());
}

void plain_merge(benchmark::State& state) {
  const auto detections = detections_of(static_cast<std::size_t>(state.range(0)));
  std::vector<Detection> sorted;
  std::vector<Detection> kept;
  for (auto _ : state) {
    sorted = detections;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
    kept.clear();
    for (const Detection& d : sorted) {
      if (std::none_of(kept.begin(), kept.end(), [&](const auto& k) { return match(k, d); }))
        kept.push_back(d);
    }
    benchmark::DoNotOptimize(kept.data());
  }
  state.counters["kept"] = static_cast<double>(kept.size());
}

void sort_floor(benchmark::State& state) {
  const auto detections = detections_of(static_cast<std::size_t>(state.range(0)));
  std::vector<std::pair<float, std::uint32_t>> keys;
  for (auto _ : state) {
    keys.clear();
    for (std::uint32_t i = 0; i < detections.size(); ++i)
      keys.emplace_back(-detections[i].score, i);
    std::sort(keys.begin(), keys.end());
    benchmark::DoNotOptimize(keys.data());
  }
}

BENCHMARK_CAPTURE(merge_tiles, keep_best, MergeStrategy::keep_best)
    ->Arg(640)
    ->Arg(10000)
    ->Arg(100000);
BENCHMARK_CAPTURE(merge_tiles, merge_union, MergeStrategy::merge_union)->Arg(640)->Arg(100000);
BENCHMARK_CAPTURE(merge_tiles, grow, MergeStrategy::grow)->Arg(640)->Arg(100000);
BENCHMARK(plain_merge)->Arg(640)->Arg(10000);
BENCHMARK(plain_merge)->Arg(100000)->Iterations(1);
BENCHMARK(sort_floor)->Arg(640)->Arg(10000)->Arg(100000);

}  // namespace
}  // namespace halyard
