// SPDX-License-Identifier: Apache-2.0
// Python's Placement: where the pixels of a converted picture came from, both ways.
#include "halyard/placement.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "processor.h"

namespace halyard::python {
namespace {

using Numbers = nb::ndarray<float, nb::c_contig, nb::device::cpu>;

// Float32 rows of 4 (boxes) or 2 (points); anything that NumPy makes an array of.
Numbers rows_from(nb::handle object, std::size_t width, const char* argument) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("ascontiguousarray")(object, "float32");
  auto numbers = nb::cast<Numbers>(array);
  if (numbers.ndim() < 1 || numbers.ndim() > 2 || numbers.shape(numbers.ndim() - 1) != width)
    raise(Errc::invalid_argument,
          std::string(argument) + ": must have shape (N, " + std::to_string(width) + ")");
  return numbers;
}

nb::object like(const Numbers& given, std::unique_ptr<float[]> values) {
  float* data = values.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  std::array<std::size_t, 2> shape{given.shape(0), given.ndim() == 2 ? given.shape(1) : 0};
  return nb::cast(nb::ndarray<nb::numpy, float>(data, given.ndim(), shape.data(), owner));
}

template <class F>
nb::object map_boxes(nb::handle object, F&& map) {
  const Numbers given = rows_from(object, 4, "boxes");
  auto out = std::make_unique<float[]>(std::max<std::size_t>(given.size(), 1));
  for (std::size_t i = 0; i < given.size(); i += 4) {
    const float* p = given.data() + i;
    const Box box = map(Box{p[0], p[1], p[2], p[3]});
    const std::array<float, 4> values{box.x1, box.y1, box.x2, box.y2};
    std::copy(values.begin(), values.end(), out.get() + i);
  }
  return like(given, std::move(out));
}

template <class F>
nb::object map_points(nb::handle object, F&& map) {
  const Numbers given = rows_from(object, 2, "points");
  auto out = std::make_unique<float[]>(std::max<std::size_t>(given.size(), 1));
  for (std::size_t i = 0; i < given.size(); i += 2) {
    const Point point = map(Point{given.data()[i], given.data()[i + 1]});
    out[i] = point.x;
    out[i + 1] = point.y;
  }
  return like(given, std::move(out));
}

nb::tuple pair(Size size) {
  return nb::make_tuple(size.width, size.height);
}

nb::tuple six(const Affine& map) {
  return nb::make_tuple(map.m[0], map.m[1], map.m[2], map.m[3], map.m[4], map.m[5]);
}

// Where the picture lies in the destination, in fractions: what drawing calls take as letterbox.
nb::tuple fractions(const Placement& placement) {
  const Region r = placement.content();
  const double width = placement.destination().width;
  const double height = placement.destination().height;
  return nb::make_tuple(r.x / width, r.y / height, (r.x + r.width) / width,
                        (r.y + r.height) / height);
}

std::string repr_of(const Placement& p) {
  const Region r = p.content();
  return "Placement(source=" + std::to_string(p.source().width) + "x" +
         std::to_string(p.source().height) +
         ", destination=" + std::to_string(p.destination().width) + "x" +
         std::to_string(p.destination().height) + ", content=(" + std::to_string(r.x) + ", " +
         std::to_string(r.y) + ", " + std::to_string(r.width) + ", " + std::to_string(r.height) +
         "))";
}

using Class = nb::class_<Placement>;

void add_maps(Class& cls) {
  cls.def(
         "to_source",
         [](const Placement& p, nb::handle boxes) {
           return map_boxes(boxes, [&](const Box& box) { return p.to_source(box); });
         },
         nb::arg("boxes"),
         "Boxes (N, 4) or (4,) x1 y1 x2 y2 in destination pixels as float32 boxes in source\n"
         "pixels, clipped to the source.")
      .def(
          "to_destination",
          [](const Placement& p, nb::handle boxes) {
            return map_boxes(boxes, [&](const Box& box) { return p.to_destination(box); });
          },
          nb::arg("boxes"), "The way back; not clipped.")
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
          nb::arg("points"), "The way back.");
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
                   "The Region of the destination that shows the picture; the rest is pad.")
      .def_prop_ro("letterbox", &fractions,
                   "The same as fractions of the destination (x1, y1, x2, y2), as drawing calls\n"
                   "take it.")
      .def_prop_ro(
          "crop",
          [](const Placement& p) {
            const RegionF r = p.crop();
            return nb::make_tuple(r.x, r.y, r.width, r.height);
          },
          "x, y, width, height of what was shown, in source pixels.")
      .def_prop_ro(
          "forward", [](const Placement& p) { return six(p.forward()); },
          "From source to destination: x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y\n"
          "+ m[5].")
      .def_prop_ro(
          "backward", [](const Placement& p) { return six(p.backward()); },
          "From destination to source.")
      .def("__repr__", &repr_of);
}

}  // namespace halyard::python
