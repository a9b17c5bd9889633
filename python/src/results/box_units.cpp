// SPDX-License-Identifier: Apache-2.0
#include "results/box_units.h"

#include <nanobind/stl/string.h>

#include <array>
#include <cmath>
#include <string>

#include "args.h"
#include "kept.h"

namespace halyard::python {
namespace {

// No box of a network is further out, in fractions.
constexpr float largest_fraction = 2;

void check_fractions(const std::vector<Detection>& boxes, const char* argument) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i].box;
    for (const float v : {box.x1, box.y1, box.x2, box.y2})
      if (std::abs(v) > largest_fraction && std::isfinite(v))
        raise(
            Errc::invalid_argument,
            std::string(argument) + ": must be fractions of the network's input, at most 2 (row " +
                std::to_string(i) + "); of pixels give input_dims, or the Detections as they are");
  }
}

void divide(std::vector<Detection>& boxes, Size input) {
  if (input.width <= 0 || input.height <= 0)
    raise(Errc::invalid_argument, "input_dims: must be above 0");
  const auto width = static_cast<float>(input.width), height = static_cast<float>(input.height);
  for (Detection& each : boxes)
    each.box = {each.box.x1 / width, each.box.y1 / height, each.box.x2 / width,
                each.box.y2 / height};
}

// The size of the image that a result's boxes are given in; 1 x 1 for fractions.
Size size_of_result(nb::handle result, nb::handle input_dims, const char* argument) {
  const nb::object unit = result.attr("unit");
  if (!unit.is_none() && text_from(unit, "unit") == "fractions") return {1, 1};
  if (unit.is_none() || text_from(unit, "unit") != "pixels")
    raise(Errc::invalid_argument,
          std::string(argument) +
              ": must be Detections in pixels or fractions of the network's "
              "input (unit " +
              nb::cast<std::string>(nb::repr(unit)) + ")");
  auto size = input_dims_from(input_dims);
  if (!size) size = input_dims_from(result.attr("input_dims"));
  if (!size)
    raise(Errc::invalid_argument, "input_dims: must be given, the Detections do not know it");
  return *size;
}

}  // namespace

std::optional<Size> input_dims_from(nb::handle dims) {
  if (dims.is_none()) return std::nullopt;
  std::array<std::int32_t, 2> extent{};
  const std::size_t count = for_each_item(
      dims, "input_dims", "(width, height)", extent.size(), [&](nb::handle item, std::size_t i) {
        const auto number = count_from(item, "input_dims");
        if (number > INT32_MAX) raise(Errc::invalid_argument, "input_dims: too large");
        extent[i] = static_cast<std::int32_t>(number);
      });
  if (count != extent.size()) raise_wrong_type("input_dims", "(width, height)", dims);
  return Size{extent[0], extent[1]};
}

bool is_result(nb::handle object) {
  static PyObject* place = nullptr;
  const nb::handle types = kept_attribute(place, "halyard._results", "RESULTS");
  const int is = PyObject_IsInstance(object.ptr(), types.ptr());
  if (is < 0) throw nb::python_error();
  return is == 1;
}

nb::object masks_of(nb::handle result) {
  static PyObject* place = nullptr;
  return kept_attribute(place, "halyard._results", "mask_bytes")(result);
}

void fractions_from(nb::handle boxes, nb::handle scores, nb::handle classes,
                    const DetectionNames& names, nb::handle input_dims,
                    std::vector<Detection>& out) {
  if (is_result(boxes)) {
    const Size size = size_of_result(boxes, input_dims, names.boxes);
    // Detections have other names than the tuples of halyard.edgefirst. A Result has "boxes" too.
    const bool is_tuple = has_attribute(boxes, "scores");
    const nb::object own_scores =
        scores.is_none() ? boxes.attr(is_tuple ? "scores" : "confidence") : nb::borrow(scores);
    const nb::object own_classes =
        classes.is_none() ? boxes.attr(is_tuple ? "classes" : "class_id") : nb::borrow(classes);
    const nb::object own_boxes = boxes.attr(is_tuple ? "boxes" : "xyxy");
    detections_from(own_boxes, own_scores, own_classes, names, out);
    divide(out, size);
    return;
  }
  if (scores.is_none()) raise_wrong_type(names.scores, "an array, or bbox Detections", scores);
  if (classes.is_none()) raise_wrong_type(names.classes, "an array, or bbox Detections", classes);
  const auto size = input_dims_from(input_dims);
  detections_from(boxes, scores, classes, names, out);
  if (size) {
    divide(out, *size);
  } else {
    check_fractions(out, names.boxes);
  }
}

}  // namespace halyard::python
