// SPDX-License-Identifier: Apache-2.0
// Parses COCO JSON.
#include "halyard/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "evaluate/coco_fields.h"
#include "evaluate/coco_limits.h"
#include "evaluate/coco_shapes.h"
#include "evaluate/keypoint_sigmas.h"
#include "evaluate/quad_overlap.h"

namespace halyard {
namespace {

using evaluate::Json;
using evaluate::member;
using evaluate::Problem;
using evaluate::read_integer;
using evaluate::read_number;
using evaluate::read_text;

constexpr std::int64_t max_extent = 65535;

Error malformed(const Problem& problem) {
  return make_error(Errc::malformed, "not in COCO's format", problem);
}

std::size_t line_of(std::string_view text, std::size_t byte) {
  text = text.substr(0, byte);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

Result<Json> parse_json(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& fault) {
    return make_error(Errc::malformed, "is not JSON",
                      fmt::format("line {}", line_of(text, fault.byte)));
  } catch (const Json::exception&) {
    return make_error(Errc::malformed, "is not JSON", "a number is out of range");
  }
}

/// Area of a mask that has been checked.
double area_of(const Rle& mask) {
  return static_cast<double>(rle_area(mask).value_or(0));
}

Problem read_image(const Json& record, CocoImage& out) {
  if (Problem p = read_integer(record, "id", out.id); !p.empty()) return p;
  if (Problem p = read_text(record, "file_name", out.file); !p.empty()) return p;
  if (member(record, "width") == nullptr && member(record, "height") == nullptr) return {};
  std::int64_t extents[2] = {};
  const char* const keys[] = {"width", "height"};
  for (int i = 0; i < 2; ++i) {
    if (Problem p = read_integer(record, keys[i], extents[i]); !p.empty()) return p;
    if (extents[i] < 1 || extents[i] > max_extent)
      return fmt::format("{}: {}, must be 1..{}", keys[i], extents[i], max_extent);
  }
  out.size = {static_cast<std::int32_t>(extents[0]), static_cast<std::int32_t>(extents[1])};
  return {};
}

Problem read_category(const Json& record, CocoCategory& out) {
  if (Problem p = read_integer(record, "id", out.id); !p.empty()) return p;
  return read_text(record, "name", out.name);
}

using Places = std::unordered_map<std::int64_t, std::size_t>;

Problem read_place(const Json& record, const char* key, const Places& places, std::size_t& out) {
  std::int64_t id = 0;
  if (Problem p = read_integer(record, key, id); !p.empty()) return p;
  const auto found = places.find(id);
  if (found == places.end()) return fmt::format("{}: {} is not in the ground truth", key, id);
  out = found->second;
  return {};
}

template <class T>
Places places_of(const std::vector<T>& list) {
  Places places;
  for (std::size_t i = 0; i < list.size(); ++i)
    places.emplace(list[i].id, i);
  return places;
}

/// Calls read(record) for each record of a list. Prefixes an error with the record's position.
template <class Read>
Status read_list(const Json& list, const std::string& name, Read&& read) {
  if (!list.is_array()) return malformed(name + ": must be an array");
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) return malformed(fmt::format("{}[{}]: must be an object", name, i));
    if (const Problem p = read(list[i]); !p.empty())
      return malformed(fmt::format("{}[{}].{}", name, i, p));
  }
  return {};
}

/// Sorts by id. Refuses duplicate ids.
template <class T>
Status sort_by_id(std::vector<T>& list, const char* name) {
  std::sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.id < b.id; });
  const auto twin = std::adjacent_find(list.begin(), list.end(),
                                       [](const T& a, const T& b) { return a.id == b.id; });
  if (twin == list.end()) return {};
  return malformed(fmt::format("{}: the id {} occurs twice", name, twin->id));
}

Problem read_crowd(const Json& record, bool& out) {
  const Json* crowd = member(record, "iscrowd");
  if (crowd == nullptr) return {};
  if (!crowd->is_number_integer() && !crowd->is_boolean()) return "iscrowd: must be 0 or 1";
  out = crowd->is_boolean() ? crowd->get<bool>() : crowd->get<std::int64_t>() != 0;
  return {};
}

/// `bbox`, or, if there is none, the smallest box around the rotated box.
Problem read_box_or_bounds(const Json& record, bool has_polygons, CocoBox& out) {
  const bool has_bounds = member(record, "bbox") == nullptr && evaluate::has_rotated_box(record);
  std::array<CocoPoint, 4> corners;
  if (!has_bounds || !evaluate::read_rotated_box(record, has_polygons, corners).empty())
    return evaluate::read_box(record, out);
  out = evaluate::box_around(corners);
  return {};
}

/// What is compared, of an annotation, and its area.
Problem read_annotated_shape(const Json& record, const CocoImage& image, CocoKind kind,
                             CocoObject& out) {
  if (kind == CocoKind::classes) return {};
  if (kind == CocoKind::masks) {
    if (Problem p = evaluate::read_mask(record, image, true, out.mask); !p.empty()) return p;
    out.area = area_of(out.mask);
  } else if (kind == CocoKind::rotated_boxes) {
    if (Problem p = evaluate::read_rotated_box(record, true, out.corners); !p.empty()) return p;
    out.area = evaluate::quad_area(out.corners);
  } else {
    if (Problem p = read_box_or_bounds(record, true, out.box); !p.empty()) return p;
    out.area = out.box.width * out.box.height;
  }
  if (kind == CocoKind::keypoints)
    if (Problem p = evaluate::read_keypoints(record, out.keypoints); !p.empty()) return p;
  return member(record, "area") == nullptr ? Problem() : read_number(record, "area", out.area);
}

/// The same of a detection.
Problem read_found_shape(const Json& record, const CocoImage& image, CocoKind kind,
                         CocoObject& out) {
  switch (kind) {
    case CocoKind::classes:
      return {};
    case CocoKind::masks:
      return evaluate::read_mask(record, image, false, out.mask);
    case CocoKind::rotated_boxes:
      return evaluate::read_rotated_box(record, false, out.corners);
    case CocoKind::keypoints: {
      if (Problem p = evaluate::read_keypoints(record, out.keypoints); !p.empty()) return p;
      out.box = evaluate::box_around(out.keypoints);
      return member(record, "bbox") == nullptr ? Problem() : evaluate::read_box(record, out.box);
    }
    case CocoKind::boxes:
      break;
  }
  return read_box_or_bounds(record, false, out.box);
}

/// Reads a ground truth from a document that has the three lists.
class TruthReader {
 public:
  TruthReader(const Json& document, CocoKind kind) : document_(document), kind_(kind) {}
  Result<CocoTruth> read(std::size_t bytes);

 private:
  Status read_lists();
  Problem read_annotation(const Json& record);
  void note_shapes();

  const Json& document_;
  CocoKind kind_;
  CocoTruth truth_;
  Places images_;
  Places categories_;
  evaluate::KeypointSigmas sigmas_;
  std::vector<bool> has_class_;  // of each image
};

Status TruthReader::read_lists() {
  HALYARD_RETURN_IF_ERROR(read_list(document_["images"], "images", [&](const Json& record) {
    return read_image(record, truth_.images.emplace_back());
  }));
  HALYARD_RETURN_IF_ERROR(read_list(document_["categories"], "categories", [&](const Json& record) {
    CocoCategory& category = truth_.categories.emplace_back();
    if (Problem p = read_category(record, category); !p.empty()) return p;
    return kind_ == CocoKind::keypoints ? sigmas_.read(record, category.id) : Problem();
  }));
  HALYARD_RETURN_IF_ERROR(sort_by_id(truth_.images, "images"));
  HALYARD_RETURN_IF_ERROR(sort_by_id(truth_.categories, "categories"));
  images_ = places_of(truth_.images);
  categories_ = places_of(truth_.categories);
  has_class_.resize(truth_.images.size());
  return {};
}

Problem TruthReader::read_annotation(const Json& record) {
  CocoObject object;
  if (Problem p = read_place(record, "image_id", images_, object.image); !p.empty()) return p;
  if (Problem p = read_place(record, "category_id", categories_, object.category); !p.empty())
    return p;
  const std::int64_t category = truth_.categories[object.category].id;
  if (kind_ == CocoKind::keypoints && sigmas_.leaves_out(record, category)) return {};
  if (kind_ == CocoKind::classes) {
    if (has_class_[object.image]) return "image_id: the image has a class already";
    has_class_[object.image] = true;
  }
  if (Problem p = read_crowd(record, object.is_crowd); !p.empty()) return p;
  if (Problem p = read_annotated_shape(record, truth_.images[object.image], kind_, object);
      !p.empty())
    return p;
  if (kind_ == CocoKind::keypoints)
    if (Problem p = sigmas_.check_count(category, object.keypoints.size()); !p.empty()) return p;
  truth_.objects.push_back(std::move(object));
  return {};
}

void TruthReader::note_shapes() {
  const Json& list = document_["annotations"];
  const auto has_keypoints = [](const Json& record) {
    return record.is_object() && member(record, "keypoints") != nullptr;
  };
  truth_.has_segmentations =
      !list.empty() && std::all_of(list.begin(), list.end(), evaluate::has_segmentation);
  truth_.has_rotated_boxes =
      !list.empty() && std::all_of(list.begin(), list.end(), evaluate::has_rotated_box);
  truth_.has_keypoints = std::any_of(list.begin(), list.end(), has_keypoints);
}

Result<CocoTruth> TruthReader::read(std::size_t bytes) {
  HALYARD_RETURN_IF_ERROR(read_lists());
  const Json& annotations = document_["annotations"];
  note_shapes();
  if (kind_ == CocoKind::masks)
    HALYARD_RETURN_IF_ERROR(evaluate::check_outlines(annotations, bytes));
  HALYARD_RETURN_IF_ERROR(read_list(annotations, "annotations",
                                    [&](const Json& record) { return read_annotation(record); }));
  if (kind_ == CocoKind::keypoints)
    for (CocoCategory& category : truth_.categories)
      category.sigmas = sigmas_.of(category.id);
  return std::move(truth_);
}

}  // namespace

Result<CocoTruth> parse_coco_truth(std::string_view text, CocoKind kind) {
  HALYARD_TRY(const Json document, parse_json(text));
  if (!document.is_object()) return malformed("must be an object");
  for (const char* key : {"images", "categories", "annotations"})
    if (member(document, key) == nullptr) return malformed(fmt::format("{}: is missing", key));
  return TruthReader(document, kind).read(text.size());
}

Result<CocoResults> parse_coco_results(std::string_view text, const CocoTruth& truth,
                                       CocoKind kind) {
  HALYARD_TRY(const Json document, parse_json(text));
  const Places images = places_of(truth.images);
  const Places categories = places_of(truth.categories);
  CocoResults results;
  const auto read = [&](const Json& record) -> Problem {
    CocoObject object;
    std::int64_t category = 0;
    if (Problem p = read_place(record, "image_id", images, object.image); !p.empty()) return p;
    if (Problem p = read_integer(record, "category_id", category); !p.empty()) return p;
    if (Problem p = read_number(record, "score", object.score); !p.empty()) return p;
    const auto found = categories.find(category);
    const bool is_known = found != categories.end();
    object.category = is_known ? found->second : CocoObject::no_category;
    const bool has_no_keypoints =
        is_known && kind == CocoKind::keypoints && truth.categories[found->second].sigmas.empty();
    if (kind != CocoKind::classes && (!is_known || has_no_keypoints))
      return ++results.left_out, Problem();
    if (Problem p = read_found_shape(record, truth.images[object.image], kind, object); !p.empty())
      return p;
    if (kind == CocoKind::keypoints)
      if (Problem p = evaluate::check_keypoint_count(
              object.keypoints.size(), truth.categories[object.category].sigmas.size());
          !p.empty())
        return p;
    results.objects.push_back(std::move(object));
    return {};
  };
  HALYARD_RETURN_IF_ERROR(read_list(document, "", read));
  return results;
}

Result<std::vector<std::optional<std::size_t>>> match_categories(
    std::span<const std::string> labels, std::span<const CocoCategory> categories) {
  std::vector<std::optional<std::size_t>> places(labels.size());
  std::size_t named = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto found = std::find_if(categories.begin(), categories.end(), [&](const auto& c) {
      return !c.name.empty() && c.name == labels[i];
    });
    if (found == categories.end()) continue;
    places[i] = static_cast<std::size_t>(found - categories.begin());
    ++named;
  }
  if (named != 0) return places;
  if (labels.size() != categories.size())
    return make_error(Errc::invalid_argument, "labels: none is the name of a category",
                      fmt::format("{} labels, {} categories", labels.size(), categories.size()));
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = i;
  return places;
}

}  // namespace halyard
