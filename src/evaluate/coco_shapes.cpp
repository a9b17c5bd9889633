// SPDX-License-Identifier: Apache-2.0
#include "evaluate/coco_shapes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "evaluate/coco_polygon.h"
#include "evaluate/quad_overlap.h"

namespace halyard::evaluate {
namespace {

Problem read_counts(const Json& counts, Rle& out) {
  if (counts.is_string()) {
    auto mask = rle_from_string(counts.get_ref<const std::string&>(), out.size);
    if (!mask) return mask.error().message();
    out = *std::move(mask);
    return {};
  }
  if (!counts.is_array()) return "counts: must be a text or an array";
  for (const Json& run : counts) {
    if (!run.is_number_unsigned() || run.get<std::uint64_t>() > 0xFFFFFFFFU)
      return fmt::format("counts[{}]: must be 0..2^32-1", out.counts.size());
    out.counts.push_back(run.get<std::uint32_t>());
  }
  const auto area = rle_area(out);
  return area ? Problem() : area.error().message();
}

Problem read_runs(const Json& value, Rle& out) {
  const Json* size = member(value, "size");
  const Json* counts = member(value, "counts");
  if (size == nullptr || counts == nullptr) return "segmentation: must have size and counts";
  if (*size != Json::array({out.size.height, out.size.width}))
    return fmt::format("segmentation.size: must be [{}, {}], the image's", out.size.height,
                       out.size.width);
  const Problem problem = read_counts(*counts, out);
  return problem.empty() ? problem : "segmentation." + problem;
}

Problem read_polygons(const Json& value, Rle& out) {
  if (value.empty()) return "segmentation: must hold a polygon";
  std::vector<Rle> parts;
  std::vector<double> points;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Json& polygon = value[i];
    const auto where = [i] { return fmt::format("segmentation[{}]", i); };
    if (!polygon.is_array() || polygon.size() < 6 || polygon.size() % 2 != 0)
      return where() + ": must be x, y of three points or more";
    points.clear();
    for (const Json& number : polygon) {
      if (!number.is_number())
        return fmt::format("{}[{}]: must be a number", where(), points.size());
      points.push_back(number.get<double>());
    }
    auto part = evaluate::coco_polygon(points, out.size);
    if (!part) return where() + ": its outline is longer than 2^24 fifths of a pixel";
    parts.push_back(*std::move(part));
  }
  auto merged = rle_merge(parts);
  if (!merged) return "segmentation: " + merged.error().message();
  out = *std::move(merged);
  return {};
}

/// The corners of [cx, cy, width, height, angle], as corners() of RotatedBox orders them.
std::array<CocoPoint, 4> corners_of(const std::vector<double>& box) {
  const double c = std::cos(box[4]), s = std::sin(box[4]);
  const double u = box[2] / 2, v = box[3] / 2;
  std::array<CocoPoint, 4> out;
  constexpr std::array<std::pair<double, double>, 4> signs{{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = signs[i].first * u, y = signs[i].second * v;
    out[i] = {box[0] + x * c - y * s, box[1] + x * s + y * c};
  }
  return out;
}

Problem read_rbox(const Json& value, std::array<CocoPoint, 4>& out) {
  std::vector<double> numbers;
  if (Problem p = read_numbers(value, "rbox", numbers); !p.empty()) return p;
  if (numbers.size() != 5) return "rbox: must be [cx, cy, width, height, angle]";
  for (const std::size_t i : {2U, 3U})
    if (!(numbers[i] >= 0)) return fmt::format("rbox[{}]: {}, must be at least 0", i, numbers[i]);
  out = corners_of(numbers);
  return is_convex(out) ? Problem() : "rbox: a number is out of range";
}

Problem read_corners(const Json& value, const std::string& key, std::array<CocoPoint, 4>& out) {
  std::vector<double> numbers;
  if (Problem p = read_numbers(value, key, numbers); !p.empty()) return p;
  if (numbers.size() != 8) return key + ": must be x, y of four corners";
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = {numbers[2 * i], numbers[2 * i + 1]};
  return is_convex(out) ? Problem() : key + ": must be convex, with its corners in order";
}

/// The polygon of a segmentation that is a single one with four corners, or null.
const Json* only_quad(const Json& record) {
  const Json* value = member(record, "segmentation");
  const bool is_quad =
      value != nullptr && value->is_array() && value->size() == 1 && (*value)[0].size() == 8;
  return is_quad ? &(*value)[0] : nullptr;
}

}  // namespace

Problem read_mask(const Json& record, const CocoImage& image, bool has_polygons, Rle& out) {
  const Json* value = member(record, "segmentation");
  if (value == nullptr) return "segmentation: is missing";
  if (image.size == Size{}) return "segmentation: needs the image's width and height";
  out.size = image.size;
  if (value->is_object()) return read_runs(*value, out);
  if (!has_polygons) return "segmentation: must be an object with size and counts";
  if (!value->is_array()) return "segmentation: must be polygons, or size and counts";
  return read_polygons(*value, out);
}

bool has_segmentation(const Json& record) {
  const Json* value = record.is_object() ? member(record, "segmentation") : nullptr;
  return value != nullptr && value->is_structured() && !value->empty();
}

Problem read_keypoints(const Json& record, std::vector<CocoKeypoint>& out) {
  const Json* value = member(record, "keypoints");
  if (value == nullptr) return "keypoints: is missing";
  std::vector<double> numbers;
  if (Problem p = read_numbers(*value, "keypoints", numbers); !p.empty()) return p;
  if (numbers.empty() || numbers.size() % 3 != 0)
    return fmt::format("keypoints: must be three numbers of each, has {}", numbers.size());
  out.clear();
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    out.push_back({{numbers[i], numbers[i + 1]}, numbers[i + 2]});
  return {};
}

CocoBox box_around(const std::vector<CocoKeypoint>& points) {
  if (points.empty()) return {};
  CocoPoint low = points[0].at, high = points[0].at;
  for (const CocoKeypoint& point : points) {
    low = {std::min(low.x, point.at.x), std::min(low.y, point.at.y)};
    high = {std::max(high.x, point.at.x), std::max(high.y, point.at.y)};
  }
  return {low.x, low.y, high.x - low.x, high.y - low.y};
}

CocoBox box_around(const std::array<CocoPoint, 4>& corners) {
  std::vector<CocoKeypoint> points;
  for (const CocoPoint& corner : corners)
    points.push_back({corner});
  return box_around(points);
}

Problem read_rotated_box(const Json& record, bool has_polygons, std::array<CocoPoint, 4>& out) {
  if (const Json* value = member(record, "rbox")) return read_rbox(*value, out);
  if (const Json* value = member(record, "poly")) return read_corners(*value, "poly", out);
  if (!has_polygons) return "rbox: is missing, and poly";
  if (const Json* value = only_quad(record)) return read_corners(*value, "segmentation[0]", out);
  return "rbox: is missing, and poly, and a segmentation of one polygon with four corners";
}

bool has_rotated_box(const Json& record) {
  if (!record.is_object()) return false;
  return member(record, "rbox") != nullptr || member(record, "poly") != nullptr ||
         only_quad(record) != nullptr;
}

}  // namespace halyard::evaluate
