// SPDX-License-Identifier: Apache-2.0
// Numbers are written as the shortest text that parses to the same double.
#include "output/coco_writer.h"

#include <fmt/format.h>

#include "halyard/log.h"
#include "input/json_document.h"
#include "input/val_model.h"

namespace halyard::tool {
namespace {

constexpr GrowingFile::Shape results_shape{"[\n", ",\n", "\n]\n"};

CocoResult result_of(const FrameRecord& record, const FrameObject& seen) {
  CocoResult out;
  out.box = coco_box(seen.detection.box);
  out.score = static_cast<double>(seen.detection.score);
  out.size = record.size;
  out.mask = seen.mask;
  out.file = record.source;
  out.track = seen.track;
  for (const Keypoint& point : seen.keypoints)
    out.keypoints.push_back({{point.at.x, point.at.y}, point.score});
  for (const Point& corner : seen.corners)
    out.corners.push_back({corner.x, corner.y});
  return out;
}

}  // namespace

std::string to_json(const CocoResult& result) {
  std::string text =
      fmt::format("{{\"image_id\": {}, \"category_id\": {}", result.image, result.category);
  if (const auto& box = result.box)
    text += fmt::format(", \"bbox\": [{}, {}, {}, {}]", box->x, box->y, box->width, box->height);
  text += fmt::format(", \"score\": {}", result.score);
  if (!result.mask.empty()) {
    // The characters are '0' to 'o', which include the backslash, so the text is escaped.
    text += fmt::format(", \"segmentation\": {{\"size\": [{}, {}], \"counts\": {}}}",
                        result.size.height, result.size.width, json_quoted(result.mask));
  }
  if (!result.keypoints.empty()) {
    const char* before = ", \"keypoints\": [";
    for (const CocoKeypoint& point : result.keypoints)
      text += fmt::format("{}{}, {}, {}", std::exchange(before, ", "), point.at.x, point.at.y,
                          point.visibility);
    text += "]";
  }
  if (!result.corners.empty()) {
    const char* before = ", \"poly\": [";
    for (const CocoPoint& corner : result.corners)
      text += fmt::format("{}{}, {}", std::exchange(before, ", "), corner.x, corner.y);
    text += "]";
  }
  if (result.track) text += fmt::format(", \"track_id\": {}", *result.track);
  if (!result.file.empty()) {
    text += ", \"file_name\": " + printable(json_quoted(result.file));
  }
  return text + "}";
}

Result<CocoIds> CocoIds::from_truth(const std::string& path,
                                    const std::vector<std::string>& labels) {
  auto read = read_truth(path, CocoKind::boxes);
  // The classes of images have no boxes; ids are all that is needed here.
  if (!read)
    if (auto classes = read_truth(path, CocoKind::classes)) read = std::move(classes);
  HALYARD_TRY(const auto truth, std::move(read));
  HALYARD_TRY(const auto places, match_labels(labels, truth.categories));
  CocoIds ids;
  ids.has_truth_ = true;
  for (const CocoImage& image : truth.images) {
    if (image.file.empty())
      return make_error(Errc::malformed, "images: a file_name is missing",
                        fmt::format("of the image {}", image.id));
    if (!ids.images_.emplace(image.file, image.id).second)
      return make_error(Errc::malformed, "images: a file_name comes twice", image.file);
  }
  for (const auto& place : places) {
    auto& id = ids.categories_.emplace_back();
    if (place) id = truth.categories[*place].id;
  }
  return ids;
}

Result<std::int64_t> CocoIds::image(const FrameRecord& record) const {
  if (!has_truth_) return static_cast<std::int64_t>(record.index) + 1;
  std::string name = record.source;
  while (true) {
    if (const auto found = images_.find(name); found != images_.end()) return found->second;
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) break;
    name.erase(0, slash + 1);
  }
  return make_error(Errc::not_found, "the ground truth has no image of this file name",
                    record.source);
}

std::optional<std::int64_t> CocoIds::category(std::int32_t label) const {
  if (!has_truth_) return std::int64_t{label} + 1;
  const auto index = static_cast<std::size_t>(label);
  return index < categories_.size() ? categories_[index] : std::nullopt;
}

Result<CocoWriter> CocoWriter::create(const std::string& path, CocoIds ids) {
  HALYARD_TRY(auto file, GrowingFile::create(path, results_shape));
  return CocoWriter(std::move(file), std::move(ids));
}

Status CocoWriter::add(const FrameRecord& record) {
  HALYARD_TRY(const std::int64_t image, ids_.image(record));
  std::string text;
  for (const FrameObject& seen : record.objects) {
    const auto category = ids_.category(seen.detection.label);
    if (!category) continue;
    CocoResult result = result_of(record, seen);
    result.image = image;
    result.category = *category;
    text += (text.empty() ? "" : ",\n") + to_json(result);
  }
  for (const auto& [label, score] : record.classes) {
    const auto category = ids_.category(label);
    if (!category) continue;
    CocoResult result{image, *category, {}, static_cast<double>(score)};
    result.file = record.source;
    text += (text.empty() ? "" : ",\n") + to_json(result);
  }
  return file_.add(text);
}

}  // namespace halyard::tool
