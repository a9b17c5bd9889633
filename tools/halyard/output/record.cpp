// SPDX-License-Identifier: Apache-2.0
// Scripts depend on the JSON: keys are added, never renamed.
#include "output/record.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string_view>

#include "input/json_document.h"
#include "report.h"

namespace halyard::tool {
namespace {

constexpr GrowingFile::Shape json_shape{"{\"schema\": 1, \"frames\": [\n", ",\n", "\n]}\n"};
static_assert(json_schema == 1);

}  // namespace

int check_label_count(std::size_t names, std::size_t classes) {
  if (classes == 0 || names == classes) return exit_ok;
  return report("--labels", fmt::format("{} names, the model has {} classes", names, classes));
}

std::string summary_line(const FrameRecord& record, std::span<const std::string> labels) {
  std::map<std::int32_t, std::size_t> counts;
  for (const FrameObject& object : record.objects)
    ++counts[object.detection.label];
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

std::string detail_line(const FrameObject& object, std::span<const std::string> labels) {
  const Box& box = object.detection.box;
  std::string line = fmt::format(
      "  {} {:.0f}% [{:.1f} {:.1f} {:.1f} {:.1f}]", label_of(labels, object.detection.label),
      static_cast<double>(object.detection.score) * 100, box.x1, box.y1, box.x2, box.y2);
  if (object.track) line += fmt::format(" track {}", *object.track);
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
