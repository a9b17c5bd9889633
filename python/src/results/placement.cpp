// SPDX-License-Identifier: Apache-2.0
// Python's Placement: maps pixels between a converted image and its source, both ways.
#include "halyard/placement.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "image/processor.h"
#include "kept.h"
#include "results/box_units.h"
#include "tensor/array_view.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

// Float32 rows of 4 (boxes) or 2 (points), from anything that NumPy converts to an array.
class PointRows {
 public:
  PointRows(nb::handle object, std::size_t width, const char* argument) {
    // NumPy trusts a buffer's description, so it is checked first.
    view_.open(object, argument, ArrayUse::read);
    const nb::module_ numpy = nb::module_::import_("numpy");
    const nb::object array = numpy.attr("ascontiguousarray")(object, "float32");
    if (!view_.open(array, argument, ArrayUse::read) || view_.dtype() != DType::f32 ||
        !view_.is_contiguous())
      raise_wrong_type(argument, "an array of numbers", object);
    const std::size_t rank = view_.rank();
    if (rank < 1 || rank > 2 || view_.extent(rank - 1) != width)
      raise(Errc::invalid_argument,
            std::string(argument) + ": must have shape (N, " + std::to_string(width) + ")");
  }
  std::span<const std::size_t> shape() const { return view_.shape(); }
  std::span<const float> values() const {
    return {reinterpret_cast<const float*>(view_.data()), view_.bytes().size() / sizeof(float)};
  }

 private:
  ArrayView view_;
};

// A new array of the shape of `given`, filled by map(from, to), `width` numbers at a time.
template <class F>
nb::object map_rows(const PointRows& given, std::size_t width, F&& map) {
  void* data = nullptr;
  nb::object made = new_array(ArrayType::f32, given.shape(), &data);
  const std::span<const float> from = given.values();
  auto* to = static_cast<float*>(data);
  for (std::size_t i = 0; i < from.size(); i += width)
    map(from.data() + i, to + i);
  return made;
}

template <class F>
nb::object map_boxes(nb::handle object, F&& map) {
  return map_rows(PointRows(object, 4, "boxes"), 4, [&](const float* p, float* to) {
    const Box box = map(Box{p[0], p[1], p[2], p[3]});
    const std::array<float, 4> values{box.x1, box.y1, box.x2, box.y2};
    std::copy(values.begin(), values.end(), to);
  });
}

template <class F>
nb::object map_points(nb::handle object, F&& map) {
  return map_rows(PointRows(object, 2, "points"), 2, [&](const float* p, float* to) {
    const Point point = map(Point{p[0], p[1]});
    to[0] = point.x;
    to[1] = point.y;
  });
}

nb::tuple pair(Size size) {
  return nb::make_tuple(size.width, size.height);
}

nb::tuple six(const Affine& map) {
  return nb::make_tuple(map.m[0], map.m[1], map.m[2], map.m[3], map.m[4], map.m[5]);
}

// The position of the image in the destination, in fractions: the letterbox of drawing calls.
nb::tuple fractions(const Placement& placement) {
  const Region r = placement.content();
  const double width = placement.destination().width;
  const double height = placement.destination().height;
  return nb::make_tuple(r.x / width, r.y / height, (r.x + r.width) / width,
                        (r.y + r.height) / height);
}

std::string placement_repr(const Placement& p) {
  const Region r = p.content();
  return "Placement(source=" + std::to_string(p.source().width) + "x" +
         std::to_string(p.source().height) +
         ", destination=" + std::to_string(p.destination().width) + "x" +
         std::to_string(p.destination().height) + ", content=(" + std::to_string(r.x) + ", " +
         std::to_string(r.y) + ", " + std::to_string(r.width) + ", " + std::to_string(r.height) +
         "))";
}

using Class = nb::class_<Placement>;

// What placement_of() takes, with the function of Python that calls it.
nb::tuple reduced(const Placement& p) {
  static PyObject* place = nullptr;
  const nb::handle restore = kept_attribute(place, "halyard._pickling", "placement");
  const RegionF crop = p.crop();
  const Region content = p.content();
  return nb::make_tuple(
      restore,
      nb::make_tuple(pair(p.source()), nb::make_tuple(crop.x, crop.y, crop.width, crop.height),
                     nb::make_tuple(static_cast<int>(p.orientation().flip),
                                    static_cast<int>(p.orientation().rotation), p.is_affine()),
                     pair(p.destination()),
                     nb::make_tuple(content.x, content.y, content.width, content.height),
                     six(p.forward())));
}

bool is_same(const Placement& a, const Placement& b) {
  return a.source() == b.source() && a.destination() == b.destination() && a.crop() == b.crop() &&
         a.content() == b.content() && a.orientation() == b.orientation() &&
         a.is_affine() == b.is_affine() && a.forward() == b.forward();
}

using Pair = std::array<int, 2>;

Placement make_placement(Pair source, std::array<double, 4> crop, std::array<int, 3> orientation,
                         Pair destination, std::array<int, 4> content, std::array<double, 6> map) {
  const auto [flip, rotation, is_affine] = orientation;
  if (flip < 0 || flip > 2 || rotation < 0 || rotation > 3)
    raise(Errc::invalid_argument, "orientation: must be a flip 0..2 and a rotation 0..3");
  if (source[0] <= 0 || source[1] <= 0 || destination[0] <= 0 || destination[1] <= 0) return {};
  const RegionF from{crop[0], crop[1], crop[2], crop[3]};
  const Region to{content[0], content[1], content[2], content[3]};
  const Size size{source[0], source[1]}, network{destination[0], destination[1]};
  if (is_affine != 0) return {size, from, Affine{map}, network, to};
  const Orientation upright{static_cast<Flip>(flip), static_cast<Rotation>(rotation)};
  Placement made(size, from, upright, network, to);
  // The rules of trainers keep a scale that the two rectangles do not tell.
  if (made.forward().m != map) made.set_nominal_scale(std::hypot(map[0], map[3]));
  return made;
}

void add_maps(Class& cls) {
  cls.def(
         "to_source",
         [](nb::handle self, nb::handle boxes) -> nb::object {
           if (is_result(boxes)) return boxes.attr("to_source")(self);
           const Placement& p = instance_of<Placement>(self);
           return map_boxes(boxes, [&](const Box& box) { return p.to_source(box); });
         },
         nb::arg("boxes"),
         "Boxes (N, 4) or (4,) x1 y1 x2 y2 in destination pixels as float32 boxes in source\n"
         "pixels, clipped to the source. Results of a Decoder are returned with keypoints and\n"
         "rotated boxes mapped too, for every unit; ValueError if the unit is not known.")
      .def(
          "to_destination",
          [](const Placement& p, nb::handle boxes) {
            return map_boxes(boxes, [&](const Box& box) { return p.to_destination(box); });
          },
          nb::arg("boxes"), "The reverse; not clipped.")
      .def(
          "points_to_source",
          [](const Placement& p, nb::handle points) {
            return map_points(points, [&](Point point) { return p.to_source(point); });
          },
          nb::arg("points"),
          "Points (N, 2) x y in destination pixels as points in source pixels, not clipped.")
      .def(
          "points_to_destination",
          [](const Placement& p, nb::handle points) {
            return map_points(points, [&](Point point) { return p.to_destination(point); });
          },
          nb::arg("points"), "The reverse.");
}

void add_value_methods(Class& cls) {
  cls.def("__reduce__", &reduced)
      .def("__copy__", [](const Placement& p) { return p; })
      .def(
          "__deepcopy__", [](const Placement& p, nb::handle) { return p; }, nb::arg("memo"),
          nb::sig("def __deepcopy__(self, memo: Any) -> Placement"))
      .def(
          "__eq__",
          [](const Placement& a, nb::handle b) {
            const Placement* other = nullptr;
            return nb::try_cast(b, other) && other != nullptr && is_same(a, *other);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"));
}

}  // namespace

nb::object placement_result(const Placement& placement) {
  return nb::cast(placement);
}

void bind_placement(nb::module_& m) {
  Class cls(m, "Placement",
            "The map between source and destination pixels of one convert(). Pixel (i, j) covers\n"
            "[i, i+1) x [j, j+1).");
  add_maps(cls);
  cls.def_prop_ro(
         "source", [](const Placement& p) { return pair(p.source()); },
         "Width and height of the source.")
      .def_prop_ro(
          "destination", [](const Placement& p) { return pair(p.destination()); },
          "Width and height of the destination.")
      .def_prop_ro("content", &Placement::content,
                   "The Region of the destination that shows the image; the rest is pad.")
      .def_prop_ro("letterbox", &fractions,
                   "The same as fractions of the destination (x1, y1, x2, y2), as drawing calls\n"
                   "take it.")
      .def_prop_ro(
          "crop",
          [](const Placement& p) {
            const RegionF r = p.crop();
            return nb::make_tuple(r.x, r.y, r.width, r.height);
          },
          "x, y, width, height of the converted part, in source pixels.")
      .def_prop_ro(
          "forward", [](const Placement& p) { return six(p.forward()); },
          "From source to destination: x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y\n"
          "+ m[5].")
      .def_prop_ro(
          "backward", [](const Placement& p) { return six(p.backward()); },
          "From destination to source.")
      .def("__repr__", &placement_repr);
  add_value_methods(cls);
  m.def("_placement_of", &make_placement,
        nb::sig("def _placement_of(source: Sequence[int], crop: Sequence[float], orientation: "
                "Sequence[int], destination: Sequence[int], content: Sequence[int], forward: "
                "Sequence[float]) -> Placement"));
}

}  // namespace halyard::python
