// SPDX-License-Identifier: Apache-2.0
// The C++ part of halyard.val: COCO's ground truths, and a decoder that follows a preset.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "args.h"
#include "fork_mutex.h"
#include "halyard/enumerators.h"
#include "halyard/evaluate.h"
#include "halyard/preset.h"
#include "image/processor.h"
#include "tensor/arrays.h"
#include "tensor/tensor.h"

namespace halyard::python {
namespace {

nb::object number_or_none(const std::optional<double>& value) {
  return value ? nb::cast(*value) : nb::none();
}

std::string_view characters_of(const nb::bytes& text) {
  return {text.c_str(), text.size()};
}

nb::list images_of(const CocoTruth& self) {
  nb::list list;
  for (const CocoImage& image : self.images)
    list.append(nb::make_tuple(image.id, str_of(image.file), image.size.width, image.size.height));
  return list;
}

nb::list categories_of(const CocoTruth& self) {
  nb::list list;
  for (const CocoCategory& category : self.categories)
    list.append(nb::make_tuple(category.id, str_of(category.name)));
  return list;
}

CocoKind kind_from(const std::string& name) {
  const auto kind = enumerator_from<CocoKind>(name);
  if (!kind)
    raise(Errc::invalid_argument,
          "kind: must be \"boxes\", \"masks\", \"keypoints\", \"rotated_boxes\" or "
          "\"classes\", not '" +
              name + "'");
  return *kind;
}

nb::tuple evaluate(const CocoTruth& self, const nb::bytes& results, const std::string& name) {
  const CocoKind kind = kind_from(name);
  const std::string_view text = characters_of(results);
  CocoResults read;
  const auto scores = take(released([&]() -> Result<CocoScores> {
    HALYARD_TRY(read, parse_coco_results(text, self, kind));
    return evaluate_coco(self, read.objects, kind);
  }));
  nb::list summary;
  for (const CocoMetric& metric : scores.summary)
    summary.append(nb::make_tuple(metric.name, metric.meaning, number_or_none(metric.value)));
  nb::list by_class;
  for (const auto& value : scores.category_ap)
    by_class.append(number_or_none(value));
  return nb::make_tuple(summary, by_class, read.objects.size(), read.left_out);
}

nb::list match(const CocoTruth& self, nb::handle labels) {
  std::vector<std::string> names;
  for_each_item(labels, "labels", "a sequence of str", DocumentLimits::labels,
                [&](nb::handle name, std::size_t) { names.push_back(text_from(name, "labels")); });
  nb::list list;
  for (const auto& place : take(match_categories(names, self.categories)))
    list.append(place ? nb::cast(self.categories[*place].id) : nb::none());
  return list;
}

void bind_truth(nb::module_& m) {
  nb::class_<CocoTruth>(m, "_CocoTruth", "A ground truth in COCO's format.")
      .def(
          "__init__",
          [](CocoTruth* self, const nb::bytes& text, const std::string& name) {
            const std::string_view json = characters_of(text);
            const CocoKind kind = kind_from(name);
            new (self) CocoTruth(take(released([&] { return parse_coco_truth(json, kind); })));
          },
          nb::arg("text"), nb::arg("kind"),
          nb::sig("def __init__(self, text: bytes, kind: str) -> None"))
      .def_prop_ro("images", &images_of,
                   nb::sig("def images(self) -> list[tuple[int, str, int, int]]"))
      .def_prop_ro("categories", &categories_of,
                   nb::sig("def categories(self) -> list[tuple[int, str]]"))
      .def_prop_ro("annotations", [](const CocoTruth& self) { return self.objects.size(); })
      .def_ro("has_segmentations", &CocoTruth::has_segmentations)
      .def_ro("has_keypoints", &CocoTruth::has_keypoints)
      .def_ro("has_rotated_boxes", &CocoTruth::has_rotated_boxes)
      .def("evaluate", &evaluate, nb::arg("results"), nb::arg("kind"),
           nb::sig("def evaluate(self, results: bytes, kind: str) -> tuple[list[tuple[str, str, "
                   "float | None]], list[float | None], int, int]"))
      .def("match", &match, nb::arg("labels"),
           nb::sig("def match(self, labels: Sequence[str]) -> list[int | None]"));
}

/// The rules of a preset, and the decoder that they configure. One thread at a time.
struct PresetRun {
  Preset preset;
  std::optional<Decoder> decoder;
  bool is_classifier = false;
  Tensor rgb;
  Decoded found;
  MaskSet masks;
  PyMutex mutex;
};

void make_run(PresetRun* self, const std::string& name, nb::handle conf, nb::handle iou) {
  auto preset = Preset::named(name);
  if (!preset)
    raise(Errc::invalid_argument,
          "preset: must be \"ultralytics-val\", \"ultralytics\" or \"hal\", not '" + name + "'");
  if (!conf.is_none()) preset->decode.score_threshold = nb::cast<float>(conf);
  if (!iou.is_none()) preset->decode.iou_threshold = nb::cast<float>(iou);
  new (self) PresetRun();
  self->preset = *std::move(preset);
}

nb::object prepare(PresetRun& self, PyProcessor& processor, nb::handle image, nb::handle input) {
  const Tensor from = tensor_to_read(image, "image"), to = tensor_to_read(input, "input");
  return placement_result(take(with_processor(processor, small_work_bytes, [&](Processor& made) {
    const std::lock_guard lock(self.mutex);
    const Fit fit = self.is_classifier ? Fit::cover : Fit::letterbox;
    return prepare_input(self.preset, made, from, to, self.rgb, fit);
  })));
}

/// Masks as COCO writes them.
Result<std::vector<std::string>> run_texts(const PresetRun& self) {
  std::vector<std::string> texts;
  Rle runs;
  for (std::size_t i = 0; i < self.masks.size(); ++i) {
    HALYARD_RETURN_IF_ERROR(rle_encode(self.masks[i], self.masks.frame(), runs));
    HALYARD_TRY(texts.emplace_back(), rle_to_string(runs));
  }
  return texts;
}

/// x, y, score of the keypoints of one detection, in pixels of the image; None without keypoints.
nb::object points_of(const Decoded& found, std::size_t i, const Placement& placement) {
  const std::size_t each = found.keypoints_each;
  if (each == 0) return nb::none();
  const auto first = found.keypoints.begin() + static_cast<std::ptrdiff_t>(i * each);
  nb::list list;
  for (const Keypoint& point :
       placement.to_source(std::vector<Keypoint>(first, first + static_cast<std::ptrdiff_t>(each))))
    for (const float value : {point.at.x, point.at.y, point.score})
      list.append(static_cast<double>(value));
  return list;
}

/// x and y of the corners of one detection; None of upright boxes.
nb::object corners_of(const Decoded& found, std::size_t i, const Placement& placement) {
  if (found.rotated.empty()) return nb::none();
  nb::list list;
  for (const Point& at : corners(found.rotated[i])) {
    const Point corner = placement.to_source(at);
    list.append(static_cast<double>(corner.x));
    list.append(static_cast<double>(corner.y));
  }
  return list;
}

// [(class, score, what results of COCO have of the object)], best first, in pixels of the image.
nb::list find(PresetRun& self, nb::handle outputs, const Placement& placement, bool has_masks) {
  const std::vector<Tensor> given = outputs_from(outputs);
  std::vector<Detection> found;
  const auto runs = take(released([&]() -> Result<std::vector<std::string>> {
    const std::lock_guard lock(self.mutex);
    if (!self.decoder)
      return make_error(Errc::invalid_argument, "set_model() must be called first");
    HALYARD_RETURN_IF_ERROR(self.decoder->decode_into(given, self.found));
    found = placement.to_source(self.found.detections);
    if (!has_masks) return std::vector<std::string>{};
    HALYARD_RETURN_IF_ERROR(
        prepare_masks(self.preset.mask_rule, placement, self.found, self.masks));
    return run_texts(self);
  }));
  nb::list list;
  for (const ClassScore& seen : self.found.classes)
    list.append(nb::make_tuple(seen.label, static_cast<double>(seen.score), nb::dict()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const CocoBox box = coco_box(found[i].box);
    nb::dict more;
    more["bbox"] = nb::make_tuple(box.x, box.y, box.width, box.height);
    if (has_masks) more["counts"] = str_of(runs[i]);
    if (nb::object points = points_of(self.found, i, placement); !points.is_none())
      more["keypoints"] = points;
    if (nb::object poly = corners_of(self.found, i, placement); !poly.is_none())
      more["poly"] = poly;
    list.append(nb::make_tuple(found[i].label, static_cast<double>(found[i].score), more));
  }
  return list;
}

void set_model(PresetRun& self, const ModelDescription& model) {
  self.decoder.emplace(take(Decoder::create(model, self.preset.decode_for(model))));
  const auto& outputs = self.decoder->description().outputs;
  self.is_classifier = std::any_of(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.role == OutputRole::classification;
  });
}

void bind_run(nb::module_& m) {
  nb::class_<PresetRun>(m, "_PresetRun", "The steps of a preset from an image to detections.")
      .def("__init__", &make_run, nb::arg("preset"), nb::arg("conf").none(), nb::arg("iou").none(),
           nb::sig("def __init__(self, preset: str, conf: float | None, iou: float | None) -> "
                   "None"))
      .def("set_model", &set_model, nb::arg("model"),
           nb::sig("def set_model(self, model: ModelDescription) -> None"))
      .def_prop_ro(
          "class_count",
          [](const PresetRun& self) { return self.decoder ? self.decoder->class_count() : 0; },
          nb::sig("def class_count(self) -> int"))
      .def("prepare", &prepare, nb::arg("processor"), nb::arg("image"), nb::arg("input"),
           nb::sig("def prepare(self, processor: ImageProcessor, image: Tensor, input: Tensor) -> "
                   "Placement"))
      .def("find", &find, nb::arg("outputs"), nb::arg("placement"), nb::arg("masks"),
           nb::sig("def find(self, outputs: Sequence[Any], placement: Placement, masks: bool) -> "
                   "list[tuple[int, float, dict[str, Any]]]"));
}

}  // namespace

void bind_evaluate(nb::module_& m) {
  bind_truth(m);
  bind_run(m);
}

}  // namespace halyard::python
