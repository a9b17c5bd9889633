// SPDX-License-Identifier: Apache-2.0
// Tensor: parts that share its bytes, other shapes and formats, copies. The results have the class
// of the tensor that they come from.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "enums.h"
#include "tensor/buffers.h"
#include "tensor/tensor_class.h"
#include "values.h"

namespace halyard::python {
namespace {

// One axis of NumPy's reshape(): -1, which `rest` remembers, is computed from the others.
std::size_t axis_from(nb::handle item, std::size_t i, std::optional<std::size_t>& rest) {
  const nb::object index = nb::steal(PyNumber_Index(item.ptr()));
  if (!index.is_valid()) replace_type_error("shape", "ints", item);
  const Py_ssize_t extent = PyLong_AsSsize_t(index.ptr());
  if (extent == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (extent < -1 || (extent == -1 && rest))
    raise(Errc::invalid_argument,
          "shape: must not hold negative extents, but for one -1 (" + std::to_string(extent) + ")");
  if (extent == -1) rest = i;
  return extent == -1 ? 1 : static_cast<std::size_t>(extent);
}

// The shape of NumPy's reshape() for a tensor of so many elements: ints, or one sequence of them.
Shape new_shape_from(const nb::args& given, std::size_t elements) {
  const bool is_list = given.size() == 1 && PyIndex_Check(nb::object(given[0]).ptr()) == 0;
  const nb::object extents = is_list ? nb::object(given[0]) : nb::object(given);
  Shape shape;
  std::optional<std::size_t> rest;
  shape.rank = for_each_item(
      extents, "shape", "ints, or a sequence of ints", max_rank,
      [&](nb::handle item, std::size_t i) { shape.extent[i] = axis_from(item, i, rest); });
  if (shape.rank == 0 || shape.rank > max_rank)
    raise(Errc::invalid_argument, "shape: must have 1 to " + std::to_string(max_rank) + " axes (" +
                                      count_text(shape.rank, max_rank) + ")");
  if (!rest) return shape;
  std::size_t others = 1;
  for (const std::size_t extent : shape.dims())
    if (__builtin_mul_overflow(others, extent, &others)) others = 0;
  if (others == 0 || elements % others != 0)
    raise(Errc::invalid_argument, "shape: -1 must be a whole extent; " + std::to_string(elements) +
                                      " elements, the other axes have " + std::to_string(others));
  shape.extent[*rest] = elements / others;
  return shape;
}

nb::object reshaped(const PyNativeTensor& self, const nb::args& given) {
  const Tensor tensor = self.value;
  const Shape shape = new_shape_from(given, tensor.element_count());
  Result<Tensor> made = tensor.reshape(shape.dims());
  if (!made && made.error().code == Errc::unsupported)
    raise(Errc::unsupported,
          "reshape: there are gaps between elements; numpy.asarray(tensor).reshape() copies them");
  return tensor_result(take(std::move(made)));
}

AxisRange range_from(nb::handle slice, std::size_t extent) {
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) != 0) throw nb::python_error();
  const Py_ssize_t count =
      PySlice_AdjustIndices(static_cast<Py_ssize_t>(extent), &start, &stop, step);
  return {static_cast<std::size_t>(std::max<Py_ssize_t>(start, 0)), static_cast<std::size_t>(count),
          step, true};
}

// The keys of t[...] with the ellipsis expanded, at most one for each axis.
nb::object keys_of(nb::handle key, std::size_t axes) {
  nb::list keys;
  const bool is_tuple = PyTuple_Check(key.ptr()) != 0;
  const nb::object given = is_tuple ? nb::borrow(key) : nb::make_tuple(key);
  const std::size_t count = nb::len(given);
  for (const nb::handle one : given) {
    if (one.ptr() != Py_Ellipsis) {
      keys.append(one);
      continue;
    }
    for (std::size_t i = count - 1; i < axes; ++i)
      keys.append(nb::steal(PySlice_New(nullptr, nullptr, nullptr)));
  }
  if (nb::len(keys) > axes)
    throw nb::index_error(("tensor: more indices than axes, " + std::to_string(axes)).c_str());
  return keys;
}

Tensor image_part(const Tensor& image, nb::handle key) {
  const nb::object keys = keys_of(key, 2);
  Region region{0, 0, static_cast<std::int32_t>(image.width()),
                static_cast<std::int32_t>(image.height())};
  for (std::size_t i = 0; i < nb::len(keys); ++i) {
    const nb::object one = keys[i];
    if (!PySlice_Check(one.ptr())) raise_wrong_type("index of an image", "a slice", one);
    const AxisRange range = range_from(one, i == 0 ? image.height() : image.width());
    if (range.step != 1)
      raise(Errc::unsupported, "index: slices of images have no step; use numpy.asarray");
    (i == 0 ? region.y : region.x) = static_cast<std::int32_t>(range.start);
    (i == 0 ? region.height : region.width) = static_cast<std::int32_t>(range.count);
  }
  return take(image.slice(region));
}

std::size_t index_from(nb::handle object, std::size_t extent) {
  PyObject* number = PyNumber_Index(object.ptr());
  if (number == nullptr) replace_type_error("index", "an int or a slice", object);
  const nb::object index = nb::steal(number);
  Py_ssize_t n = PyLong_AsSsize_t(index.ptr());
  if (n == -1 && PyErr_Occurred() != nullptr) {
    forget_error(PyExc_OverflowError);
    n = std::numeric_limits<Py_ssize_t>::max();
  }
  if (n < 0) n += static_cast<Py_ssize_t>(extent);
  if (n < 0 || n >= static_cast<Py_ssize_t>(extent))
    throw nb::index_error(
        ("index: must be below " + std::to_string(extent) + ", the extent of its axis").c_str());
  return static_cast<std::size_t>(n);
}

[[noreturn]] void raise_one_element() {
  raise(Errc::unsupported, "index: gives one element; read it through numpy.asarray or map()");
}

Tensor array_part(const Tensor& tensor, nb::handle key) {
  // A copy: code of the keys may give the tensor another shape.
  const Layout whole = tensor.layout();
  const nb::object keys = keys_of(key, whole.rank);
  const std::size_t count = nb::len(keys);
  std::array<AxisRange, max_rank> ranges;
  std::size_t kept = whole.rank;
  bool has_elements = true;
  for (std::size_t i = 0; i < count; ++i) {
    const nb::object one = keys[i];
    ranges[i] = PySlice_Check(one.ptr()) != 0 ? range_from(one, whole.shape[i])
                                              : AxisRange::index(index_from(one, whole.shape[i]));
    if (!ranges[i].keeps_axis) --kept;
    has_elements = has_elements && ranges[i].count != 0;
  }
  if (kept == 0) raise_one_element();
  if (!has_elements) raise(Errc::invalid_argument, "index: selects no elements");
  return take(tensor.part(std::span<const AxisRange>(ranges).first(count)));
}

template <class Kind>
nb::object get_item(const Kind& self, nb::handle key) {
  const Tensor& tensor = self.value;
  if (tensor.is_empty()) throw nb::index_error("tensor: is empty");
  if (tensor.is_image()) return tensor_result<Kind>(image_part(Tensor(tensor), key));
  // Fast path for the usual key: no code but Python's own runs for it.
  if (!PyLong_CheckExact(key.ptr())) return tensor_result<Kind>(array_part(tensor, key));
  const AxisRange range = AxisRange::index(index_from(key, tensor.shape()[0]));
  if (tensor.rank() == 1) raise_one_element();
  return tensor_result<Kind>(take(tensor.part({&range, 1})));
}

Tensor empty_like(const Tensor& from, Memory memory) {
  Tensor made;
  if (from.is_image()) {
    ImageOptions options;
    options.dtype = from.dtype();
    options.memory = memory;
    made = take(Tensor::create_image(from.width(), from.height(), *from.format(), options));
  } else {
    made = take(Tensor::create(from.dtype(), from.shape(), memory));
    check(made.set_item_format(from.item_format()));
  }
  made.set_colorimetry(from.colorimetry());
  made.set_orientation(from.orientation());
  made.set_name(from.name());
  check(made.set_quantization(from.quantization()));
  return made;
}

Tensor copy_of(const Tensor& from, nb::handle mem) {
  if (from.is_empty()) return {};
  const Memory memory = mem.is_none() ? from.memory() : enum_from<Memory>(mem, "mem");
  Tensor made = empty_like(from, memory == Memory::pbo ? Memory::mem : memory);
  check(released([&] { return copy(from, made); }));
  return made;
}

void fill_tensor(nb::handle self, nb::handle value) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(self);
  array.attr("__setitem__")(nb::ellipsis(), value);
}

void def_reshape(NativeTensorClass& cls) {
  cls.def("reshape", &reshaped,
          nb::sig("def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex]) -> Tensor"),
          "A tensor of another shape over the same bytes: ints, or a sequence of them; one may be\n"
          "-1. Drops the image format. Raises ValueError if the count differs,\n"
          "UnsupportedError if rows are padded: NumPy copies then.");
}

void def_reshape(ReferenceTensorClass& cls) {
  cls.def(
      "reshape",
      [](PyReferenceTensor& self, nb::handle shape) {
        self.value = take(self.value.reshape(shape_from(shape, "shape").dims()));
      },
      nb::arg("shape"), nb::sig("def reshape(self, shape: Sequence[int]) -> None"),
      "Gives the tensor another shape of the same count of elements, in place. Drops the image "
      "format.\n"
      "Raises RuntimeError if the count differs or rows are padded.");
}

template <class Kind>
void def_parts(nb::class_<Kind, PyTensor>& cls) {
  def_reshape(cls);
  cls.def(
         "view",
         [](const Kind& t, nb::handle region) {
           return tensor_result<Kind>(take(t.value.slice(region_from(region, "region"))));
         },
         nb::arg("region"), nb::sig("def view(self, region: Region | Rect) -> Tensor"),
         "A rectangle of an image that shares its bytes. Subsampled formats need x and y at\n"
         "multiples of the chroma block. Raises RuntimeError outside the image.")
      .def(
          "batch",
          [](const Kind& t, nb::handle n) {
            return tensor_result<Kind>(take(t.value.batch(size_from(n, "n"))));
          },
          nb::arg("n"), nb::sig("def batch(self, n: int) -> Tensor"),
          "Element n of the outermost axis, sharing its bytes. Raises RuntimeError if n is out\n"
          "of range, or for a single image.")
      .def(
          "__getitem__", &get_item<Kind>, nb::arg("key"),
          nb::sig("def __getitem__(self, key: Any) -> Tensor"),
          "A part that shares the bytes: for an image t[y0:y1, x0:x1]; for other tensors ints and\n"
          "slices for the leading axes; t[n] is batch(n).");
}

template <class Kind>
void def_copies(nb::class_<Kind, PyTensor>& cls) {
  cls.def(
         "copy",
         [](const Kind& t, nb::handle mem) {
           return tensor_result<Kind>(copy_of(Tensor(t.value), mem));
         },
         nb::arg("mem") = nb::none(),
         nb::sig("def copy(self, mem: TensorMemoryLike | None = None) -> Tensor"),
         "A copy with the same elements and properties, in memory of the same kind or\n"
         "of `mem`. Rows may be padded differently.")
      .def(
          "__copy__", [](const Kind& t) { return tensor_result<Kind>(Tensor(t.value)); },
          nb::sig("def __copy__(self) -> Tensor"))
      .def(
          "__deepcopy__",
          [](const Kind& t, nb::handle) {
            return tensor_result<Kind>(copy_of(Tensor(t.value), nb::none()));
          },
          nb::arg("memo").none(), nb::sig("def __deepcopy__(self, memo: Any) -> Tensor"));
}

}  // namespace

template <class Class>
void add_parts(Class& cls) {
  def_parts(cls);
  def_copies(cls);
}
template void add_parts(NativeTensorClass& cls);
template void add_parts(ReferenceTensorClass& cls);

void add_formats(TensorClass& cls) {
  cls.def(
         "set_format",
         [](PyTensor& t, nb::handle format) {
           t.value = take(t.value.with_format(enum_from<PixelFormat>(format, "format")));
         },
         nb::arg("format"), nb::sig("def set_format(self, format: PixelFormatLike) -> None"),
         "Makes the tensor an image of this format, in place. Raises RuntimeError if the shape\n"
         "cannot be one: packed [H,W,C], planar [C,H,W], NV12 [3H/2,W], NV16 [2H,W], NV24\n"
         "[3H,W].")
      .def("fill", &fill_tensor, nb::arg("value"), nb::sig("def fill(self, value: float) -> None"),
           "Sets every element. Raises OverflowError for a value that the dtype cannot hold.");
}

}  // namespace halyard::python
