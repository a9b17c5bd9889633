// SPDX-License-Identifier: Apache-2.0
// The sums are doubles, which cannot overflow.
#include "evaluate/coco_limits.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace halyard::evaluate {
namespace {

using Json = nlohmann::json;

struct Work {
  double steps = 0;
  double runs = 0;
};

void add_outline(const Json& points, Work& work) {
  const std::size_t count = points.size() / 2;
  const auto at = [&](std::size_t i) {
    const Json& number = points[i];
    return number.is_number() ? number.get<double>() : 0;
  };
  Work own;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t next = (i + 1) % count;
    const double wide = std::abs(at(2 * next) - at(2 * i));
    const double high = std::abs(at(2 * next + 1) - at(2 * i + 1));
    own.steps += 1 + 5 * std::max(wide, high);
    own.runs += wide;
  }
  // A longer outline is refused by coco_polygon(), and is not walked.
  work.steps += std::min(own.steps, MaskLimits::outline_steps);
  work.runs += std::min(own.runs, MaskLimits::outline_steps);
}

Error beyond(const char* what, double sum, double maximum) {
  return make_error(Errc::exhausted, what, fmt::format("{:.0f}, at most {:.0f}", sum, maximum));
}

}  // namespace

Status check_outlines(const Json& annotations, std::size_t file_bytes) {
  Work work;
  for (const Json& record : annotations) {
    const auto found = record.is_object() ? record.find("segmentation") : record.end();
    if (found == record.end() || !found->is_array()) continue;
    for (const Json& polygon : *found)
      if (polygon.is_array()) add_outline(polygon, work);
  }
  const auto bytes = static_cast<double>(file_bytes);
  const double steps = MaskLimits::steps + MaskLimits::steps_per_byte * bytes;
  if (!(work.steps <= steps))
    return beyond("outlines of all polygons are too long, in fifths of a pixel", work.steps, steps);
  const double runs = MaskLimits::runs + MaskLimits::runs_per_byte * bytes;
  if (!(work.runs <= runs))
    return beyond("outlines of all polygons cross too many columns of pixels", work.runs, runs);
  return {};
}

Status check_comparisons(const CocoTruth& truth, std::span<const CocoObject> found) {
  struct Side {
    double objects = 0;
    double runs = 0;
  };
  std::map<std::pair<std::size_t, std::size_t>, std::pair<Side, Side>> places;
  const auto add = [](Side& side, const CocoObject& object) {
    side.objects += 1;
    side.runs += static_cast<double>(object.mask.counts.size());
  };
  for (const CocoObject& object : truth.objects)
    add(places[{object.image, object.category}].first, object);
  for (const CocoObject& object : found)
    add(places[{object.image, object.category}].second, object);
  double sum = 0;
  for (const auto& [place, sides] : places) {
    // Only the best 100 of an image and category are compared.
    const double objects = std::min(sides.second.objects, 100.0);
    sum += objects * sides.first.runs + sides.first.objects * sides.second.runs;
  }
  if (sum <= MaskLimits::compared) return {};
  return beyond("masks of detections and annotations have too many runs to be compared", sum,
                MaskLimits::compared);
}

}  // namespace halyard::evaluate
