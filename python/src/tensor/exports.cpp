// SPDX-License-Identifier: Apache-2.0
// The C++ part of halyard.Detections (python/halyard/_detections.py, _exports.py): suppression,
// run lengths and outlines of masks.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "args.h"
#include "bindings.h"
#include "halyard/mask.h"
#include "halyard/polygon.h"
#include "halyard/rle.h"
#include "halyard/selection.h"
#include "tensor/array_view.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

std::vector<RotatedBox> rotated_from(nb::handle rows) {
  ArrayView view;
  if (!view.open(rows, "obb", ArrayUse::read) || view.rank() != 2 || view.extent(1) != 5 ||
      view.dtype() != DType::f32 || !view.is_contiguous())
    raise_wrong_type("obb", "a float32 array (N, 5)", rows);
  const auto* v = reinterpret_cast<const float*>(view.data());
  std::vector<RotatedBox> boxes;
  for (std::size_t i = 0; i < view.extent(0); ++i, v += 5)
    boxes.push_back({v[0], v[1], v[2], v[3], v[4]});
  return boxes;
}

nb::object suppress(nb::handle boxes, nb::handle scores, nb::handle classes, nb::handle obb,
                    FloatArg<"threshold"> threshold, nb::handle class_agnostic) {
  std::vector<Detection> found;
  detections_from(boxes, scores, classes, {"xyxy", "confidence", "class_id"}, found);
  std::vector<RotatedBox> rotated;
  if (!obb.is_none()) rotated = rotated_from(obb);
  SelectionOptions options;
  options.nms = truth_from(class_agnostic) ? Nms::class_agnostic : Nms::class_aware;
  options.iou_threshold = threshold;
  std::vector<std::uint32_t> kept;
  check(released([&]() -> Status {
    HALYARD_TRY(auto selector, Selector::create(options));
    auto chosen = obb.is_none() ? selector.select(found) : selector.select(found, rotated);
    if (!chosen) return chosen.error();
    kept.assign(chosen->begin(), chosen->end());
    return {};
  }));
  void* at = nullptr;
  nb::object array = new_array(ArrayType::uintp, std::array{kept.size()}, &at);
  std::copy(kept.begin(), kept.end(), static_cast<std::size_t*>(at));
  return array;
}

// A mask of bytes in C order, whose top left corner is at (left, top) of the frame.
class MaskArg {
 public:
  MaskArg(nb::handle mask, nb::handle left, nb::handle top) {
    if (!view_.open(mask, "mask", ArrayUse::read) || view_.rank() != 2 ||
        view_.dtype() != DType::u8 || !view_.is_contiguous())
      raise_wrong_type("mask", "a uint8 array (H, W)", mask);
    mask_.region = {int_from(left, "left"), int_from(top, "top"),
                    static_cast<std::int32_t>(view_.extent(1)),
                    static_cast<std::int32_t>(view_.extent(0))};
    mask_.data = reinterpret_cast<const std::uint8_t*>(view_.data());
    mask_.stride_bytes = view_.extent(1);
  }
  const MaskView& view() const { return mask_; }

 private:
  ArrayView view_;
  MaskView mask_;
};

std::string run_lengths(nb::handle mask, nb::handle left, nb::handle top, nb::handle width,
                        nb::handle height) {
  const MaskArg given(mask, left, top);
  const Size frame{int_from(width, "width"), int_from(height, "height")};
  return take(released([&]() -> Result<std::string> {
    Rle runs;
    HALYARD_RETURN_IF_ERROR(rle_encode(given.view(), frame, runs));
    return rle_to_string(runs);
  }));
}

nb::list mask_outlines(nb::handle mask, nb::handle left, nb::handle top,
                       FloatArg<"tolerance"> tolerance, nb::handle holes) {
  const MaskArg given(mask, left, top);
  const float distance = tolerance;
  std::vector<Polygon> found;
  check(released([&] { return mask_polygons(given.view(), found, distance); }));
  const bool has_holes = truth_from(holes);
  std::erase_if(found, [&](const Polygon& each) { return each.is_hole && !has_holes; });
  std::stable_sort(found.begin(), found.end(), [](const Polygon& a, const Polygon& b) {
    return polygon_area(a) > polygon_area(b);
  });
  nb::list list;
  for (const Polygon& polygon : found) {
    void* at = nullptr;
    list.append(
        new_array(ArrayType::f32, std::array<std::size_t, 2>{polygon.points.size(), 2}, &at));
    auto* to = static_cast<float*>(at);
    for (const Point& point : polygon.points) {
      *to++ = point.x;
      *to++ = point.y;
    }
  }
  return list;
}

}  // namespace

void bind_exports(nb::module_& m) {
  m.def("_suppress", &suppress, nb::arg("boxes"), nb::arg("scores"), nb::arg("classes"),
        nb::arg("obb").none(), nb::arg("threshold"), nb::arg("class_agnostic"),
        nb::sig("def _suppress(boxes: Any, scores: Any, classes: Any, obb: Any, threshold: float, "
                "class_agnostic: bool) -> Any"),
        "Rows of the survivors, best first.");
  m.def("_run_lengths", &run_lengths, nb::arg("mask"), nb::arg("left"), nb::arg("top"),
        nb::arg("width"), nb::arg("height"),
        nb::sig("def _run_lengths(mask: Any, left: int, top: int, width: int, height: int) -> str"),
        "Counts as pycocotools writes them, of a frame of width x height.");
  m.def("_outlines", &mask_outlines, nb::arg("mask"), nb::arg("left"), nb::arg("top"),
        nb::arg("tolerance"), nb::arg("holes"),
        nb::sig("def _outlines(mask: Any, left: int, top: int, tolerance: float, holes: bool) -> "
                "list[Any]"),
        "Outlines as float32 arrays (P, 2), largest first.");
}

}  // namespace halyard::python
