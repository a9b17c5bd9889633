// SPDX-License-Identifier: Apache-2.0
// Suppression alone: some hundred candidates of some objects, candidates that do not overlap (the
// worst case, where every one survives), and crowded candidates. The peer is the textbook loop.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "halyard/selection.h"

namespace halyard {
namespace {

using Scene = std::vector<Detection> (*)(std::size_t);

float unit(std::mt19937& random) {
  return std::uniform_real_distribution<float>(0, 1)(random);
}

// No two overlap: a grid that fills 640 x 640.
std::vector<Detection> apart(std::size_t count) {
  std::mt19937 random(1);
  const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const float step = 640.0F / static_cast<float>(side);
  std::vector<Detection> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float x = static_cast<float>(i % side) * step;
    const float y = static_cast<float>(i / side) * step;
    const float w = step * (0.5F + 0.45F * unit(random));
    const float h = step * (0.5F + 0.45F * unit(random));
    out[i] = {{x, y, x + w, y + h}, unit(random), 0, static_cast<std::int32_t>(i)};
  }
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

// Random places, extents of 4 to 300 px, 80 classes: as from an untrained network.
std::vector<Detection> noise(std::size_t count) {
  std::mt19937 random(2);
  std::vector<Detection> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float w = 4 * std::pow(75.0F, unit(random));
    const float h = 4 * std::pow(75.0F, unit(random));
    const float x = 640 * unit(random);
    const float y = 640 * unit(random);
    const auto label = static_cast<std::int32_t>(random() % 80);
    out[i] = {{x - w / 2, y - h / 2, x + w / 2, y + h / 2},
              unit(random),
              label,
              static_cast<std::int32_t>(i)};
  }
  return out;
}

// 40 objects; the other candidates are slightly shifted copies of them.
std::vector<Detection> objects(std::size_t count) {
  std::mt19937 random(3);
  const auto seeds = noise(40);
  std::vector<Detection> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = seeds[i % seeds.size()];
    const float dx = 0.05F * out[i].box.width() * (unit(random) - 0.5F);
    const float dy = 0.05F * out[i].box.height() * (unit(random) - 0.5F);
    const Box& b = out[i].box;
    out[i].box = {b.x1 + dx, b.y1 + dy, b.x2 + dx, b.y2 + dy};
    out[i].score = unit(random);
  }
  return out;
}

// Full-width lines: long, thin, none overlaps another.
std::vector<Detection> lines(std::size_t count) {
  std::mt19937 random(4);
  std::vector<Detection> out(count);
  const float step = 640.0F / static_cast<float>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float y = static_cast<float>(i) * step;
    out[i] = {{0, y, 640, y + step / 2}, unit(random), 0, static_cast<std::int32_t>(i)};
  }
  return out;
}

std::size_t textbook(std::vector<Detection> boxes, float threshold) {
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  std::vector<bool> gone(boxes.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (gone[i]) continue;
    ++kept;
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      if (gone[j] || boxes[j].label != boxes[i].label) continue;
      gone[j] = iou(boxes[i].box, boxes[j].box) > threshold;
    }
  }
  return kept;
}

void nms(benchmark::State& state, Scene scene) {
  const auto boxes = scene(static_cast<std::size_t>(state.range(0)));
  auto selector = *Selector::create({.iou_threshold = 0.45F});
  std::size_t kept = 0;
  for (auto _ : state) {
    kept = selector.select(boxes)->size();
    benchmark::DoNotOptimize(kept);
  }
  state.counters["kept"] = static_cast<double>(kept);
}

void nms_rotated(benchmark::State& state, Scene scene) {
  const auto boxes = scene(static_cast<std::size_t>(state.range(0)));
  std::mt19937 random(5);
  std::vector<RotatedBox> rotated;
  for (const auto& d : boxes) {
    rotated.push_back({(d.box.x1 + d.box.x2) / 2, (d.box.y1 + d.box.y2) / 2, d.box.width(),
                       d.box.height(), 3 * unit(random)});
  }
  auto selector = *Selector::create({.iou_threshold = 0.45F});
  std::size_t kept = 0;
  for (auto _ : state) {
    kept = selector.select(boxes, rotated)->size();
    benchmark::DoNotOptimize(kept);
  }
  state.counters["kept"] = static_cast<double>(kept);
}

void nms_soft(benchmark::State& state, Scene scene) {
  const auto boxes = scene(static_cast<std::size_t>(state.range(0)));
  auto selector =
      *Selector::create({.suppression = Suppression::soft_gaussian, .max_detections = 300});
  std::size_t kept = 0;
  for (auto _ : state) {
    kept = selector.select(boxes)->size();
    benchmark::DoNotOptimize(kept);
  }
  state.counters["kept"] = static_cast<double>(kept);
}

void nms_textbook(benchmark::State& state, Scene scene) {
  const auto boxes = scene(static_cast<std::size_t>(state.range(0)));
  std::size_t kept = 0;
  for (auto _ : state) {
    kept = textbook(boxes, 0.45F);
    benchmark::DoNotOptimize(kept);
  }
  state.counters["kept"] = static_cast<double>(kept);
}

BENCHMARK_CAPTURE(nms, objects, objects)->Arg(480)->Arg(8400)->Arg(30000);
BENCHMARK_CAPTURE(nms, apart, apart)->Arg(480)->Arg(8400)->Arg(30000)->Arg(100000);
BENCHMARK_CAPTURE(nms, noise, noise)->Arg(480)->Arg(8400)->Arg(30000)->Arg(100000);
BENCHMARK_CAPTURE(nms, lines, lines)->Arg(480)->Arg(8400)->Arg(30000)->Arg(100000);
BENCHMARK_CAPTURE(nms_rotated, apart, apart)->Arg(480)->Arg(8400)->Arg(30000);
BENCHMARK_CAPTURE(nms_rotated, noise, noise)->Arg(480)->Arg(8400)->Arg(30000);
BENCHMARK_CAPTURE(nms_soft, noise, noise)->Arg(480)->Arg(8400)->Arg(30000);
BENCHMARK_CAPTURE(nms_textbook, objects, objects)->Arg(480)->Arg(8400)->Arg(30000);
BENCHMARK_CAPTURE(nms_textbook, apart, apart)->Arg(480)->Arg(8400)->Arg(30000);
BENCHMARK_CAPTURE(nms_textbook, noise, noise)->Arg(480)->Arg(8400)->Arg(30000);
BENCHMARK_CAPTURE(nms_textbook, lines, lines)->Arg(480)->Arg(8400)->Arg(30000);

}  // namespace
}  // namespace halyard
