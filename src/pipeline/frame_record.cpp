// SPDX-License-Identifier: Apache-2.0
// Keypoints and rotated boxes have the order of the detections. Scripts depend on the JSON.
#include "halyard/frame_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/format_error.h"
#include "halyard/log.h"
#include "halyard/polygon.h"
#include "halyard/rle.h"
#include "pipeline/shown_tracks.h"

namespace halyard {
namespace {

using Json = nlohmann::ordered_json;

constexpr float outline_tolerance = 0.5F;  // pixels

/// The order of Ultralytics: the first corner is the centre plus both half axes.
std::vector<Point> corners_of(const RotatedBox& box) {
  const float cos = std::cos(box.angle), sin = std::sin(box.angle);
  const float ax = box.width / 2 * cos, ay = box.width / 2 * sin;
  const float bx = -box.height / 2 * sin, by = box.height / 2 * cos;
  return {{box.cx + ax + bx, box.cy + ay + by},
          {box.cx + ax - bx, box.cy + ay - by},
          {box.cx - ax - bx, box.cy - ay - by},
          {box.cx - ax + bx, box.cy - ay + by}};
}

/// Empty if the mask is empty.
std::vector<Point> largest_outline(const std::vector<Polygon>& polygons) {
  const Polygon* largest = nullptr;
  double area = 0;
  for (const Polygon& polygon : polygons) {
    const double its = polygon.is_hole ? 0 : polygon_area(polygon);
    if (its > area) area = its, largest = &polygon;
  }
  return largest == nullptr ? std::vector<Point>() : largest->points;
}

Status add_masks(const MaskSet& masks, bool has_outlines, FrameRecord& record) {
  Rle rle;
  std::vector<Polygon> polygons;
  for (std::size_t i = 0; i < record.objects.size() && i < masks.size(); ++i) {
    HALYARD_RETURN_IF_ERROR(rle_encode(masks[i], masks.frame(), rle));
    HALYARD_TRY(record.objects[i].mask, rle_to_string(rle));
    if (!has_outlines) continue;
    HALYARD_RETURN_IF_ERROR(mask_polygons(masks[i], polygons, outline_tolerance));
    record.objects[i].outline = largest_outline(polygons);
  }
  return {};
}

/// Rounded to 4 decimals, so that a float is written as 0.87 and not as 0.8700000047683716.
double tidy(float value) {
  return std::round(static_cast<double>(value) * 1e4) / 1e4;
}

Json object_json(const FrameObject& object, Size size, std::span<const std::string> labels) {
  const Detection& found = object.detection;
  Json entry;
  entry["box"] = {tidy(found.box.x1), tidy(found.box.y1), tidy(found.box.x2), tidy(found.box.y2)};
  entry["score"] = tidy(found.score);
  entry["class"] = found.label;
  entry["label"] = label_of(labels, found.label);
  entry["track"] = object.track ? Json(*object.track) : Json(nullptr);
  if (!object.mask.empty())
    entry["segmentation"] = {{"size", {size.height, size.width}}, {"counts", object.mask}};
  for (const Keypoint& point : object.keypoints)
    entry["keypoints"].push_back(
        Json::array({tidy(point.at.x), tidy(point.at.y), tidy(point.score)}));
  for (const Point& corner : object.corners)
    entry["corners"].push_back(Json::array({tidy(corner.x), tidy(corner.y)}));
  return entry;
}

}  // namespace

void fill_objects(const Decoded& decoded, std::span<const Detection> found,
                  const Placement* placement, FrameRecord& record) {
  record.objects.clear();
  record.classes = decoded.classes;
  std::vector<Keypoint> points = decoded.keypoints;
  if (placement != nullptr) points = placement->to_source(std::move(points));
  const std::size_t each = decoded.keypoints_each;
  for (std::size_t i = 0; i < found.size(); ++i) {
    FrameObject& object = record.objects.emplace_back(FrameObject{found[i]});
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * each);
    object.keypoints.assign(first, first + static_cast<std::ptrdiff_t>(each));
    if (decoded.rotated.empty()) continue;
    object.corners = corners_of(decoded.rotated[i]);
    if (placement == nullptr) continue;
    for (Point& corner : object.corners)
      corner = placement->to_source(corner);
  }
}

void fill_times(const PipelineFrame& frame, FrameRecord& record) {
  record.timing_us.clear();
  for (const StageTime& time : frame.times) {
    const std::chrono::duration<double, std::micro> spent = time.duration;
    record.timing_us.emplace_back(time.stage, spent.count());
  }
}

Status make_record(const PipelineFrame& frame, std::size_t model, const RecordOptions& options,
                   FrameRecord& record) {
  if (model >= frame.models.size()) {
    return fail(Errc::invalid_argument, "model: must be below the count of models", "{} of {}",
                model, frame.models.size());
  }
  const ModelResult& result = frame.models[model];
  record.source = frame.frame.source;
  record.index = frame.frame.index;
  record.size = frame.frame.image.upright_size();
  record.left_out = result.left_out;
  fill_objects(result.decoded, result.detections, &result.placement, record);
  pipeline::for_shown_tracks(result, [&](std::size_t detection, const Track& track) {
    record.objects[detection].track = track.id;
  });
  fill_times(frame, record);
  return options.has_masks ? add_masks(result.masks, options.has_outlines, record) : Status();
}

std::string label_of(std::span<const std::string> labels, std::int32_t label) {
  const auto index = static_cast<std::size_t>(label);
  if (label >= 0 && index < labels.size() && !labels[index].empty()) return labels[index];
  return fmt::format("class {}", label);
}

std::string to_json(const FrameRecord& record, std::span<const std::string> labels) {
  Json frame;
  frame["source"] = record.source;
  frame["index"] = record.index;
  frame["width"] = record.size.width;
  frame["height"] = record.size.height;
  frame["detections"] = Json::array();
  for (const FrameObject& object : record.objects)
    frame["detections"].push_back(object_json(object, record.size, labels));
  for (const auto& [label, score] : record.classes)
    frame["classes"].push_back(
        {{"class", label}, {"label", label_of(labels, label)}, {"score", tidy(score)}});
  frame["timing_us"] = Json::object();
  for (const auto& [stage, microseconds] : record.timing_us)
    frame["timing_us"][stage] = std::round(microseconds * 10) / 10;
  // File names need not be UTF-8, but JSON must be. Control characters are escaped, because a
  // terminal may show the text.
  return printable(frame.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace halyard
