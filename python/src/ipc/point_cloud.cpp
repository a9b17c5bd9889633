// SPDX-License-Identifier: Apache-2.0
// PointCloud: points with named fields as a message.
#include "halyard/point_cloud.h"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "ipc/messages.h"
#include "kept.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

using CloudClass = nb::class_<PointCloud>;

constexpr const char* cloud_doc =
    "Points with named fields, with the names of sensor_msgs/PointCloud2: one row of them, or "
    "height\n"
    "x width.\n\n"
    "``points()`` is a structured NumPy array over the bytes and ``field(name)`` one field of all\n"
    "points; ``numpy()`` and ``tensor`` are [N, K] or [H, W, K] numbers if all fields have one\n"
    "type, else bytes. None of them copies. Topics of type PointCloud carry it.\n\n"
    "Args:\n"
    "    num_points: count of points.\n"
    "    fields: count of numbers of a point: x y z for 3, x y z r g b for 6, else x y z "
    "intensity\n"
    "        f4 f5...; f0 f1 below 3. See with_fields() for others.\n"
    "    dtype: of each number.\n"
    "    pool: where its bytes are; None: the process's own pool. They are not initialised.";

PointDatatype datatype_from(nb::handle object) {
  const DType dtype = dtype_from(object, "datatype");
  if (const auto datatype = point_datatype_from(dtype)) return *datatype;
  raise(Errc::invalid_argument,
        std::string("datatype: a field cannot be ") + dtype_name(dtype) +
            ": must be int8, uint8, int16, uint16, int32, uint32, float32 or float64");
}

std::vector<PointField> fields_from(nb::handle object) {
  static PyObject* place = nullptr;
  nb::object given = nb::borrow(object);
  if (has_attribute(object, "names"))
    given = kept_attribute(place, "halyard._points", "fields_of")(object);
  std::vector<PointField> fields;
  const std::size_t count =
      for_each_item(given, "fields", "a sequence of PointField, or a structured dtype",
                    max_point_fields, [&](nb::handle item, std::size_t) {
                      const PointField* field = nullptr;
                      if (!nb::try_cast(item, field) || field == nullptr)
                        raise_wrong_type("fields", "a sequence of PointField", item);
                      fields.push_back(*field);
                    });
  if (count > max_point_fields)
    raise(Errc::invalid_argument,
          "fields: must be at most 16 (" + count_text(count, max_point_fields) + ")");
  return fields;
}

PointCloud create_cloud(nb::handle points, nb::handle fields, nb::handle dtype, nb::handle pool) {
  const auto from = pool_from(pool, "pool");
  const std::size_t count = size_from(points, "num_points");
  const std::size_t numbers = size_from(fields, "fields");
  const DType type = dtype_from(dtype, "dtype");
  return take(released([&] { return PointCloud::create(count, numbers, type, from); }));
}

PointCloud with_fields(nb::handle width, nb::handle height, nb::handle fields,
                       nb::handle point_step, nb::handle pool) {
  const auto from = pool_from(pool, "pool");
  const auto table = fields_from(fields);
  const std::size_t columns = size_from(width, "width");
  const std::size_t rows = size_from(height, "height");
  const std::size_t step = size_from(point_step, "point_step");
  return take(
      released([&] { return PointCloud::create_fields(columns, rows, table, step, from); }));
}

PointCloud wrap(nb::handle tensor, nb::handle fields) {
  const Tensor seen = tensor_to_read(tensor, "tensor");
  return take(fields.is_none() ? PointCloud::wrap(seen)
                               : PointCloud::wrap(seen, fields_from(fields)));
}

// An array [N, K] of numbers, or a structured one, copied to new memory.
nb::object cloud_from_numpy(nb::handle array, nb::handle pool) {
  static PyObject* place = nullptr;
  const nb::object type = nb::getattr(array, "dtype", nb::none());
  if (!type.is_none() && has_attribute(type, "names") && !type.attr("names").is_none())
    return kept_attribute(place, "halyard._points", "from_structured")(array, pool);
  const PointCloud seen = take(PointCloud::wrap(packed_tensor(array, "array")));
  const auto to = pool_from(pool, "pool");
  PointCloud made = take(released([&] {
    return PointCloud::create_fields(seen.width(), seen.height(), seen.fields(), seen.point_step(),
                                     to);
  }));
  Tensor into = made.tensor();
  if (seen.point_count() > 0) check(released([&] { return copy(seen.tensor(), into); }));
  return nb::cast(std::move(made));
}

nb::object extract_xyz(const PointCloud& self) {
  const auto points =
      take(released_on(self, [](const PointCloud& cloud) { return cloud.extract_xyz(); }));
  void* data = nullptr;
  nb::object array = new_array(ArrayType::f32, std::array<std::size_t, 2>{points.size(), 3}, &data);
  if (!points.empty()) std::memcpy(data, points.data(), points.size() * sizeof points[0]);
  return array;
}

nb::object transform(const PointCloud& self, nb::handle matrix, nb::handle pool) {
  static PyObject* place = nullptr;
  const nb::object flat = kept_attribute(place, "halyard._points", "sixteen")(matrix);
  std::array<double, 16> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = number_from(nb::borrow(flat)[i], "matrix");
  const auto to = pool_from(pool, "pool");
  return nb::cast(take(
      released_on(self, [&](const PointCloud& cloud) { return cloud.transform(numbers, to); })));
}

void add_making(CloudClass& cls) {
  cls.def(
         "__init__",
         [](PointCloud* self, nb::handle points, nb::handle fields, nb::handle dtype,
            nb::handle pool) { new (self) PointCloud(create_cloud(points, fields, dtype, pool)); },
         nb::arg("num_points"), nb::arg("fields") = 3, nb::arg("dtype") = "float32", nb::kw_only(),
         nb::arg("pool") = nb::none(),
         nb::sig("def __init__(self, num_points: int, fields: int = 3, dtype: DTypeLike = "
                 "'float32', *, pool: TensorPool | None = None) -> None"))
      .def_static(
          "with_fields", &with_fields, nb::arg("width"), nb::arg("height"), nb::arg("fields"),
          nb::arg("point_step") = 0, nb::kw_only(), nb::arg("pool") = nb::none(),
          nb::sig("def with_fields(width: int, height: int, fields: Sequence[PointField] | "
                  "numpy.dtype[Any], point_step: int = 0, *, pool: TensorPool | None = "
                  "None) -> PointCloud"),
          "A cloud of any fields; height 1 is an unorganised one. `fields` may be a\n"
          "structured dtype. `point_step` 0: where the last field ends. Raises\n"
          "InvalidArgumentError: not 1..16 fields, two of one name, a field that leaves the\n"
          "point.")
      .def_static("from_numpy", &cloud_from_numpy, nb::arg("array"), nb::kw_only(),
                  nb::arg("pool") = nb::none(),
                  nb::sig("def from_numpy(array: Any, *, pool: TensorPool | None = None) -> "
                          "PointCloud"),
                  "A new cloud with a copy of the points of an array: [N, K] or [H, W, K]\n"
                  "numbers, or a structured array [N] or [H, W], whose fields it keeps.")
      .def_static(
          "wrap", &wrap, nb::arg("tensor"), nb::arg("fields") = nb::none(),
          nb::sig("def wrap(tensor: Any, fields: Sequence[PointField] | numpy.dtype[Any] | "
                  "None = None) -> PointCloud"),
          "A tensor or an array as a message, without a copy: [N, K] or [H, W, K], the last\n"
          "axis without gaps. `fields` describes the bytes of a point.");
}

void add_facts(CloudClass& cls) {
  cls.def_prop_ro("point_count", &PointCloud::point_count, "width x height.")
      .def("__len__", &PointCloud::point_count)
      .def_prop_ro("width", &PointCloud::width, "Points of a row.")
      .def_prop_ro("height", &PointCloud::height, "Rows; 1 for an unorganised cloud.")
      .def_prop_ro("is_organized", &PointCloud::is_organized, "More than one row.")
      .def_prop_ro("point_step", &PointCloud::point_step, "Bytes from one point to the next.")
      .def_prop_ro("row_step", &PointCloud::row_step, "Bytes from one row to the next.")
      .def_prop_rw(
          "is_dense", &PointCloud::is_dense,
          [](PointCloud& self, nb::handle value) { self.set_is_dense(truth_from(value)); },
          nb::sig("def is_dense(self) -> bool"),
          "Whether no point has a NaN or an infinity, as the sender states.")
      .def_prop_ro(
          "fields",
          [](const PointCloud& self) {
            nb::list fields;
            for (const PointField& field : self.fields())
              fields.append(nb::cast(field));
            return fields;
          },
          nb::sig("def fields(self) -> list[PointField]"), "The layout of the bytes of a point.")
      .def_prop_ro("fields_per_point", &PointCloud::fields_per_point, "Their count.")
      .def_prop_ro("is_xyz", &PointCloud::is_xyz, "x, y and z, and nothing else.")
      .def_prop_ro("has_intensity", &PointCloud::has_intensity, "A field intensity or i.")
      .def_prop_ro("has_color", &PointCloud::has_color, "A field rgb or rgba, or r, g and b.")
      .def("__repr__", [](const PointCloud& self) {
        nb::object names = nb::str("PointCloud({}x{},").format(self.width(), self.height());
        for (const PointField& field : self.fields())
          names = names + nb::str(" ") + str_of(field.name());
        return names + nb::str(")");
      });
}

void add_points(CloudClass& cls) {
  cls.def(
         "points",
         [](nb::handle self) {
           static PyObject* place = nullptr;
           return kept_attribute(place, "halyard._points", "view")(self);
         },
         nb::sig("def points(self) -> numpy.ndarray"),
         "A structured array [N] or [H, W] over the bytes, without a copy.")
      .def(
          "field",
          [](nb::handle self, nb::handle name) {
            static PyObject* place = nullptr;
            return kept_attribute(place, "halyard._points", "field")(self, name);
          },
          nb::arg("name"), nb::sig("def field(self, name: str) -> numpy.ndarray"),
          "The numbers of a field of all points, [N] or [H, W], without a copy; a field of "
          "several\n"
          "numbers has one more axis. Raises InvalidArgumentError if there is no such field.")
      .def("extract_xyz", &extract_xyz, nb::sig("def extract_xyz(self) -> numpy.ndarray"),
           "x, y and z of all points as float32 [N, 3], copied.")
      .def("transform", &transform, nb::arg("matrix"), nb::kw_only(), nb::arg("pool") = nb::none(),
           nb::sig("def transform(self, matrix: ArrayLike, *, pool: TensorPool | None = None) -> "
                   "PointCloud"),
           "A copy whose x, y and z are transformed by a 4 x 4 matrix with the last row 0 0 0 1. "
           "All\n"
           "other fields are copied unchanged. Raises InvalidArgumentError for another matrix.");
}

void add_members(nb::class_<PointField>& cls) {
  cls.def(
         "__init__",
         [](PointField* self, nb::handle name, nb::handle offset, nb::handle datatype,
            nb::handle count) {
           new (self) PointField(take(PointField::create(
               text_from(name, "name"),
               static_cast<std::uint32_t>(size_from(offset, "offset", UINT32_MAX)),
               datatype_from(datatype),
               static_cast<std::uint32_t>(size_from(count, "count", UINT32_MAX)))));
         },
         nb::arg("name"), nb::arg("offset"), nb::arg("datatype") = "float32", nb::arg("count") = 1,
         nb::sig("def __init__(self, name: str, offset: int, datatype: DTypeLike = 'float32', "
                 "count: int = 1) -> None"))
      .def_prop_ro(
          "name", [](const PointField& f) { return str_of(f.name()); },
          nb::sig("def name(self) -> str"))
      .def_ro("offset", &PointField::offset, "Bytes from the start of a point.")
      .def_prop_ro(
          "datatype", [](const PointField& f) { return dtype_str(*dtype_from(f.datatype)); },
          nb::sig("def datatype(self) -> str"), "NumPy's name.")
      .def_ro("count", &PointField::count, "Numbers in the field.")
      .def("__repr__", [](const PointField& f) {
        return nb::str("PointField({!r}, {}, {!r}, {})")
            .format(str_of(f.name()), f.offset, dtype_str(*dtype_from(f.datatype)), f.count);
      });
  cls.def(
      "__eq__",
      [](const PointField& self, nb::handle other) {
        const PointField* field = nullptr;
        return nb::try_cast(other, field) && field != nullptr &&
               std::memcmp(&self, field, sizeof self) == 0;
      },
      nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"));
}

void bind_field(nb::module_& m) {
  nb::class_<PointField> cls(m, "PointField",
                             "One field of every point.\n\n"
                             "Args:\n"
                             "    name: 1..15 bytes of UTF-8.\n"
                             "    offset: bytes from the start of a point.\n"
                             "    datatype: of each number: int8 to uint32, float32, float64.\n"
                             "    count: numbers in the field.");
  add_members(cls);
}

}  // namespace

void bind_point_cloud(nb::module_& m) {
  bind_field(m);
  CloudClass cls(m, "PointCloud", nb::is_weak_referenceable(), cloud_doc);
  add_making(cls);
  add_message(cls);
  add_facts(cls);
  add_points(cls);
}

}  // namespace halyard::python
