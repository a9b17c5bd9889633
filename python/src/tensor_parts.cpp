// SPDX-License-Identifier: Apache-2.0
// Tensor: parts that share its bytes, other shapes and formats, quantization, copies.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "buffers.h"
#include "enums.h"
#include "tensor_class.h"
#include "values.h"

namespace halyard::python {
namespace {

void reshape(PyTensor& self, nb::handle shape) {
  self.value = take(self.value.reshape(shape_from(shape, "shape").dims()));
}

void set_format(PyTensor& self, nb::handle format) {
  self.value = take(self.value.with_format(enum_from<PixelFormat>(format, "format")));
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

// The keys of t[...] with an ellipsis spelt out, at most one for each axis.
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

Tensor picture_part(const Tensor& picture, nb::handle key) {
  const nb::object keys = keys_of(key, 2);
  Region region{0, 0, static_cast<std::int32_t>(picture.width()),
                static_cast<std::int32_t>(picture.height())};
  for (std::size_t i = 0; i < nb::len(keys); ++i) {
    const nb::object one = keys[i];
    if (!PySlice_Check(one.ptr())) raise_wrong_type("index of a picture", "a slice", one);
    const AxisRange range = range_from(one, i == 0 ? picture.height() : picture.width());
    if (range.step != 1)
      raise(Errc::unsupported, "index: slices of pictures have no step; use numpy.asarray");
    (i == 0 ? region.y : region.x) = static_cast<std::int32_t>(range.start);
    (i == 0 ? region.height : region.width) = static_cast<std::int32_t>(range.count);
  }
  return take(picture.slice(region));
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
  // Of its own: code of the keys may give the tensor another shape.
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

nb::object get_item(const PyTensor& self, nb::handle key) {
  const Tensor& tensor = self.value;
  if (tensor.is_empty()) throw nb::index_error("tensor: is empty");
  if (tensor.is_image()) return tensor_result(picture_part(Tensor(tensor), key));
  // The usual key by a short way: no code but Python's own runs for it.
  if (!PyLong_CheckExact(key.ptr())) return tensor_result(array_part(tensor, key));
  const AxisRange range = AxisRange::index(index_from(key, tensor.shape()[0]));
  if (tensor.rank() == 1) raise_one_element();
  return tensor_result(take(tensor.part({&range, 1})));
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

nb::object copy_of(const PyTensor& self, nb::handle mem) {
  const Tensor from = self.value;
  if (from.is_empty()) return tensor_result({});
  const Memory memory = mem.is_none() ? from.memory() : enum_from<Memory>(mem, "mem");
  Tensor made = empty_like(from, memory == Memory::pbo ? Memory::mem : memory);
  check(released([&] { return copy(from, made); }));
  return tensor_result(std::move(made));
}

void fill(nb::handle self, nb::handle value) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(self);
  array.attr("__setitem__")(nb::ellipsis(), value);
}

// How many scales there may be along an axis; one scale is always told apart from too many.
std::size_t extent_of(const PyTensor& self, std::size_t axis) {
  return axis < self.value.rank() ? std::max<std::size_t>(self.value.shape()[axis], 1) : 1;
}

}  // namespace

void add_parts(TensorClass& cls) {
  cls.def(
         "reshape", &reshape, nb::arg("shape"),
         nb::sig("def reshape(self, shape: Sequence[int]) -> None"),
         "Gives the tensor another shape of as many elements, in place. Drops the picture format.\n"
         "Raises RuntimeError when the count differs or rows are padded.")
      .def(
          "set_format", &set_format, nb::arg("format"),
          nb::sig("def set_format(self, format: PixelFormat | str) -> None"),
          "Calls the bytes a picture of this format, in place. Raises RuntimeError when the shape\n"
          "cannot be one: packed [H,W,C], planar [C,H,W], NV12 [3H/2,W], NV16 [2H,W], NV24\n"
          "[3H,W].")
      .def(
          "view",
          [](const PyTensor& t, nb::handle region) {
            return tensor_result(take(t.value.slice(region_from(region, "region"))));
          },
          nb::arg("region"), nb::sig("def view(self, region: Region | Rect) -> Tensor"),
          "A rectangle of a picture that shares its bytes. Subsampled formats need x and y at\n"
          "multiples of the chroma block. Raises RuntimeError outside the picture.")
      .def(
          "batch",
          [](const PyTensor& t, nb::handle n) {
            return tensor_result(take(t.value.batch(size_from(n, "n"))));
          },
          nb::arg("n"), nb::sig("def batch(self, n: int) -> Tensor"),
          "Element n of the outermost axis, sharing its bytes. Raises RuntimeError when n is out\n"
          "of range, or for a single picture.")
      .def("__getitem__", &get_item, nb::arg("key"),
           nb::sig("def __getitem__(self, key: Any) -> Tensor"),
           "A part that shares the bytes: of a picture t[y0:y1, x0:x1]; of other tensors ints and\n"
           "slices for the leading axes, t[n] being batch(n).")
      .def("copy", &copy_of, nb::arg("mem") = nb::none(),
           nb::sig("def copy(self, mem: TensorMemory | None = None) -> Tensor"),
           "A tensor of its own with the same elements and labels, in memory of the same kind or\n"
           "of `mem`. Rows may be padded differently.")
      .def("fill", &fill, nb::arg("value"), nb::sig("def fill(self, value: float) -> None"),
           "Sets every element. Raises OverflowError for a value that the dtype cannot hold.");
}

void add_quantization(TensorClass& cls) {
  const auto set = [](PyTensor& t, Quantization q) {
    if (q.scale.size() == 1) q.axis.reset();
    check(t.value.set_quantization(std::move(q)));
  };
  cls.def_prop_rw(
         "quantization",
         [](const PyTensor& t) {
           return t.value.quantization() ? nb::cast(*t.value.quantization()) : nb::none();
         },
         [](PyTensor& t, nb::handle q) {
           if (q.is_none()) return check(t.value.set_quantization({}));
           const Quantization* given = nullptr;
           if (!nb::try_cast(q, given) || given == nullptr)
             raise_wrong_type("quantization", "a Quantization or None", q);
           check(t.value.set_quantization(*given));
         },
         nb::arg("value").none(), nb::sig("def quantization(self) -> Quantization | None"),
         "How integers stand for real numbers; always None for floats.")
      .def(
          "set_quantization_per_tensor",
          [set](PyTensor& t, FloatArg<"scale"> scale, IntArg<"zero_point"> zero_point) {
            set(t, {{scale}, {zero_point}, {}});
          },
          nb::arg("scale"), nb::arg("zero_point"),
          "One scale and zero point. Integer tensors only; raises RuntimeError for others.")
      .def(
          "set_quantization_per_tensor_symmetric",
          [set](PyTensor& t, FloatArg<"scale"> scale) {
            set(t, {{scale}, {}, {}});
          },
          nb::arg("scale"), "One scale, zero point 0.")
      .def(
          "set_quantization_per_channel",
          [set](PyTensor& t, nb::handle scales, nb::handle zero_points, SizeArg<"axis"> axis) {
            const std::size_t along = axis;
            const std::size_t most = extent_of(t, along);
            std::vector<float> factors = float_list_from(scales, "scales", most);
            std::vector<std::int32_t> zeros = int_list_from(zero_points, "zero_points", most);
            if (zeros.size() != factors.size())
              raise(Errc::invalid_argument, "zero_points: must be as many as scales");
            set(t, {std::move(factors), std::move(zeros), along});
          },
          nb::arg("scales"), nb::arg("zero_points"), nb::arg("axis"),
          nb::sig("def set_quantization_per_channel(self, scales: Sequence[float], zero_points: "
                  "Sequence[int], axis: int) -> None"),
          "One scale and zero point for each index of `axis`.")
      .def(
          "set_quantization_per_channel_symmetric",
          [set](PyTensor& t, nb::handle scales, SizeArg<"axis"> axis) {
            const std::size_t along = axis;
            set(t, {float_list_from(scales, "scales", extent_of(t, along)), {}, along});
          },
          nb::arg("scales"), nb::arg("axis"),
          nb::sig("def set_quantization_per_channel_symmetric(self, scales: Sequence[float], axis: "
                  "int) -> None"),
          "One scale for each index of `axis`.")
      .def(
          "clear_quantization", [](PyTensor& t) { check(t.value.set_quantization({})); },
          "Forgets the quantization.");
}

}  // namespace halyard::python
