// SPDX-License-Identifier: Apache-2.0
// Parses COCO JSON. Every record is checked by hand, because a file may hold anything.
#include "halyard/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "evaluate/coco_limits.h"
#include "evaluate/coco_polygon.h"

namespace halyard {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t max_extent = 65535;

/// Description of what is wrong with a value, beginning with the path inside the record; empty:
/// nothing is wrong.
using Problem = std::string;

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

const Json* member(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found == record.end() ? nullptr : &*found;
}

Problem read_integer(const Json& record, const char* key, std::int64_t& out) {
  const Json* value = member(record, key);
  if (value == nullptr) return fmt::format("{}: is missing", key);
  if (!value->is_number_integer() ||
      (value->is_number_unsigned() && value->get<std::uint64_t>() >> 63 != 0))
    return fmt::format("{}: must be an integer", key);
  out = value->get<std::int64_t>();
  return {};
}

Problem read_number(const Json& record, const char* key, double& out) {
  const Json* value = member(record, key);
  if (value == nullptr) return fmt::format("{}: is missing", key);
  if (!value->is_number()) return fmt::format("{}: must be a number", key);
  out = value->get<double>();
  return {};
}

Problem read_box(const Json& record, CocoBox& out) {
  const Json* value = member(record, "bbox");
  if (value == nullptr) return "bbox: is missing";
  if (!value->is_array() || value->size() != 4) return "bbox: must be [x, y, width, height]";
  double* const numbers[] = {&out.x, &out.y, &out.width, &out.height};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!(*value)[i].is_number()) return fmt::format("bbox[{}]: must be a number", i);
    *numbers[i] = (*value)[i].get<double>();
    if (i >= 2 && *numbers[i] < 0)
      return fmt::format("bbox[{}]: {}, must be at least 0", i, *numbers[i]);
  }
  return {};
}

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

/// `has_polygons`: whether polygons are accepted.
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

Problem read_image(const Json& record, CocoImage& out) {
  if (Problem p = read_integer(record, "id", out.id); !p.empty()) return p;
  if (const Json* file = member(record, "file_name")) {
    if (!file->is_string()) return "file_name: must be a text";
    out.file = file->get<std::string>();
  }
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
  if (const Json* name = member(record, "name")) {
    if (!name->is_string()) return "name: must be a text";
    out.name = name->get<std::string>();
  }
  return {};
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

Problem read_annotation(const Json& record, const CocoTruth& truth, const Places& images,
                        const Places& categories, bool has_masks, CocoObject& out) {
  if (Problem p = read_place(record, "image_id", images, out.image); !p.empty()) return p;
  if (Problem p = read_place(record, "category_id", categories, out.category); !p.empty()) return p;
  if (const Json* crowd = member(record, "iscrowd")) {
    if (!crowd->is_number_integer() && !crowd->is_boolean()) return "iscrowd: must be 0 or 1";
    out.is_crowd = crowd->is_boolean() ? crowd->get<bool>() : crowd->get<std::int64_t>() != 0;
  }
  if (has_masks) {
    const CocoImage& image = truth.images[out.image];
    if (Problem p = read_mask(record, image, true, out.mask); !p.empty()) return p;
    out.area = area_of(out.mask);
  } else {
    if (Problem p = read_box(record, out.box); !p.empty()) return p;
    out.area = out.box.width * out.box.height;
  }
  return member(record, "area") == nullptr ? Problem() : read_number(record, "area", out.area);
}

}  // namespace

Result<CocoTruth> parse_coco_truth(std::string_view text, bool has_masks) {
  HALYARD_TRY(const Json document, parse_json(text));
  if (!document.is_object()) return malformed("must be an object");
  for (const char* key : {"images", "categories", "annotations"})
    if (member(document, key) == nullptr) return malformed(fmt::format("{}: is missing", key));
  CocoTruth truth;
  HALYARD_RETURN_IF_ERROR(read_list(document["images"], "images", [&](const Json& record) {
    return read_image(record, truth.images.emplace_back());
  }));
  HALYARD_RETURN_IF_ERROR(read_list(document["categories"], "categories", [&](const Json& record) {
    return read_category(record, truth.categories.emplace_back());
  }));
  HALYARD_RETURN_IF_ERROR(sort_by_id(truth.images, "images"));
  HALYARD_RETURN_IF_ERROR(sort_by_id(truth.categories, "categories"));
  const Places images = places_of(truth.images);
  const Places categories = places_of(truth.categories);
  const Json& annotations = document["annotations"];
  truth.has_segmentations =
      !annotations.empty() && std::all_of(annotations.begin(), annotations.end(), has_segmentation);
  if (has_masks) HALYARD_RETURN_IF_ERROR(evaluate::check_outlines(annotations, text.size()));
  HALYARD_RETURN_IF_ERROR(read_list(annotations, "annotations", [&](const Json& record) {
    return read_annotation(record, truth, images, categories, has_masks,
                           truth.objects.emplace_back());
  }));
  return truth;
}

Result<CocoResults> parse_coco_results(std::string_view text, const CocoTruth& truth,
                                       bool has_masks) {
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
    if (found == categories.end()) return ++results.left_out, Problem();
    object.category = found->second;
    if (has_masks) {
      const CocoImage& image = truth.images[object.image];
      if (Problem p = read_mask(record, image, false, object.mask); !p.empty()) return p;
    } else {
      if (Problem p = read_box(record, object.box); !p.empty()) return p;
    }
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
