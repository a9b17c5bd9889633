// SPDX-License-Identifier: Apache-2.0
#include "decode/reference/tile_merge_naive.h"

#include <algorithm>
#include <tuple>

namespace halyard::test {
namespace {

double naive_metric(MergeMetric metric, const Box& a, const Box& b) {
  const auto area = [](double w, double h) { return w > 0 && h > 0 ? w * h : 0.0; };
  const double width = double(std::min(a.x2, b.x2)) - std::max(a.x1, b.x1);
  const double height = double(std::min(a.y2, b.y2)) - std::max(a.y1, b.y1);
  const double shared = area(width, height);
  const double first = area(double(a.x2) - a.x1, double(a.y2) - a.y1);
  const double second = area(double(b.x2) - b.x1, double(b.y2) - b.y1);
  if (shared == 0) return 0;
  return metric == MergeMetric::ios ? shared / std::min(first, second)
                                    : shared / (first + second - shared);
}

}  // namespace

std::vector<Detection> naive_merge(std::vector<Detection> left, const MergeOptions& o) {
  const auto key = [](const Detection& d) {
    const double area = (double(d.box.x2) - d.box.x1) * (double(d.box.y2) - d.box.y1);
    return std::tuple(-d.score, -float(area), d.box.x1, d.box.y1, d.box.x2, d.box.y2, d.label,
                      d.anchor);
  };
  std::erase_if(left, [&](const Detection& d) {
    return o.score_threshold > 0 && d.score < o.score_threshold;
  });
  std::sort(left.begin(), left.end(),
            [&](const Detection& a, const Detection& b) { return key(a) < key(b); });
  std::vector<Detection> out;
  while (!left.empty()) {
    const Detection base = left[0];
    Detection grown = base;
    std::vector<Detection> rest;
    for (std::size_t i = 1; i < left.size(); ++i) {
      const Detection& d = left[i];
      const auto matches = [&](const Box& box) {
        const double metric = naive_metric(o.metric, box, d.box);
        return metric > 0 && float(metric) >= o.threshold;
      };
      if ((!o.class_agnostic && d.label != base.label) || !matches(base.box)) {
        rest.push_back(d);
      } else if (o.strategy == MergeStrategy::merge_union ||
                 (o.strategy == MergeStrategy::grow && matches(grown.box))) {
        grown.box = {std::min(grown.box.x1, d.box.x1), std::min(grown.box.y1, d.box.y1),
                     std::max(grown.box.x2, d.box.x2), std::max(grown.box.y2, d.box.y2)};
      }
    }
    out.push_back(grown);
    left = rest;
  }
  if (o.max_detections != 0 && out.size() > o.max_detections) out.resize(o.max_detections);
  return out;
}

}  // namespace halyard::test
