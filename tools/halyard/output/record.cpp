// SPDX-License-Identifier: Apache-2.0
// Scripts depend on the JSON: keys are added, never renamed.
#include "output/record.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "input/json_document.h"
#include "report.h"

namespace halyard::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr GrowingFile::Shape json_shape{"{\"schema\": 1, \"frames\": [\n", ",\n", "\n]}\n"};
static_assert(json_schema == 1);

/// Rounded to 4 decimals, so that a float is written as 0.87 and not as 0.8700000047683716.
double tidy(float value) {
  return std::round(static_cast<double>(value) * 1e4) / 1e4;
}

Json to_json(const Seen& seen, Size size, std::span<const std::string> labels) {
  const Detection& found = seen.detection;
  Json entry;
  entry["box"] = {tidy(found.box.x1), tidy(found.box.y1), tidy(found.box.x2), tidy(found.box.y2)};
  entry["score"] = tidy(found.score);
  entry["class"] = found.label;
  entry["label"] = label_of(labels, found.label);
  entry["track"] = seen.track ? Json(*seen.track) : Json(nullptr);
  if (!seen.mask.empty())
    entry["segmentation"] = {{"size", {size.height, size.width}}, {"counts", seen.mask}};
  for (const Keypoint& point : seen.keypoints)
    entry["keypoints"].push_back(
        Json::array({tidy(point.at.x), tidy(point.at.y), tidy(point.score)}));
  for (const Point& corner : seen.corners)
    entry["corners"].push_back(Json::array({tidy(corner.x), tidy(corner.y)}));
  return entry;
}

}  // namespace

int check_label_count(std::size_t names, std::size_t classes) {
  if (classes == 0 || names == classes) return exit_ok;
  return report("--labels", fmt::format("{} names, the model has {} classes", names, classes));
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
  for (const Seen& seen : record.seen)
    frame["detections"].push_back(to_json(seen, record.size, labels));
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

std::string summary_line(const FrameRecord& record, std::span<const std::string> labels) {
  std::map<std::int32_t, std::size_t> counts;
  for (const Seen& seen : record.seen)
    ++counts[seen.detection.label];
  std::string line = record.source + ": ";
  if (counts.empty() && !record.classes.empty()) {
    const auto& [label, score] = record.classes.front();
    return line + fmt::format("{} {:.0f}%", label_of(labels, label), 100.0 * score);
  }
  if (counts.empty()) return line + "nothing";
  const char* separator = "";
  for (const auto& [label, count] : counts) {
    line += fmt::format("{}{} {}", separator, count, label_of(labels, label));
    separator = ", ";
  }
  return line;
}

std::string detail_line(const Seen& seen, std::span<const std::string> labels) {
  const Box& box = seen.detection.box;
  std::string line = fmt::format(
      "  {} {:.0f}% [{:.1f} {:.1f} {:.1f} {:.1f}]", label_of(labels, seen.detection.label),
      static_cast<double>(seen.detection.score) * 100, box.x1, box.y1, box.x2, box.y2);
  if (seen.track) line += fmt::format(" track {}", *seen.track);
  return line;
}

Result<JsonWriter> JsonWriter::create(const std::string& path, std::vector<std::string> labels) {
  HALYARD_TRY(auto file, GrowingFile::create(path, json_shape));
  return JsonWriter(std::move(file), std::move(labels));
}

Status JsonWriter::add(const FrameRecord& record) {
  return file_.add(to_json(record, labels_));
}

}  // namespace halyard::tool
