// SPDX-License-Identifier: Apache-2.0
// Candidates to select from.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "halyard/detection.h"

namespace halyard::test {

inline float unit(std::mt19937& random) {
  return std::uniform_real_distribution<float>(0, 1)(random);
}

inline std::vector<std::int32_t> anchors_of(const std::vector<Detection>& detections) {
  std::vector<std::int32_t> out;
  for (const Detection& each : detections)
    out.push_back(each.anchor);
  return out;
}

/// In 130 x 130. Whole extents and few scores: exact ties of both overlap and score occur.
inline std::vector<Detection> random_boxes(std::size_t count, unsigned seed, int labels = 3) {
  std::mt19937 random(seed);
  std::vector<Detection> out;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = std::floor(unit(random) * 100);
    const float y = std::floor(unit(random) * 100);
    const Box box{x, y, x + 1 + std::floor(30 * unit(random)),
                  y + 1 + std::floor(30 * unit(random))};
    out.push_back({box, std::floor(unit(random) * 20) / 20,
                   static_cast<std::int32_t>(random() % static_cast<unsigned>(labels)),
                   static_cast<std::int32_t>(i)});
  }
  return out;
}

/// Extents from 1/8 to `largest` px on each axis alone, in 640 x 640.
inline std::vector<Detection> boxes_of_all_sizes(std::size_t count, unsigned seed, float largest,
                                                 int labels = 3) {
  std::mt19937 random(seed);
  std::vector<Detection> out;
  for (std::size_t i = 0; i < count; ++i) {
    const float w = 0.125F * std::pow(8 * largest, unit(random));
    const float h = 0.125F * std::pow(8 * largest, unit(random));
    const float x = 640 * unit(random) - w / 2;
    const float y = 640 * unit(random) - h / 2;
    out.push_back({{x, y, x + w, y + h},
                   unit(random),
                   static_cast<std::int32_t>(random() % static_cast<unsigned>(labels)),
                   static_cast<std::int32_t>(i)});
  }
  return out;
}

/// `objects` boxes, each with neighbours whose IoU with it is spread over (0, 1).
inline std::vector<Detection> crowded_boxes(std::size_t count, unsigned seed, std::size_t objects) {
  std::mt19937 random(seed);
  const auto first = boxes_of_all_sizes(objects, seed + 1, 100);
  std::vector<Detection> out;
  for (std::size_t i = 0; i < count; ++i) {
    Detection d = first[i % objects];
    const float dx = d.box.width() * (unit(random) - 0.5F);
    const float dy = d.box.height() * (unit(random) - 0.5F);
    d.box = {d.box.x1 + dx, d.box.y1 + dy, d.box.x2 + dx * unit(random),
             d.box.y2 + dy * unit(random)};
    d.score = unit(random);
    d.anchor = static_cast<std::int32_t>(i);
    out.push_back(d);
  }
  return out;
}

}  // namespace halyard::test
