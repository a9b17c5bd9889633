// SPDX-License-Identifier: Apache-2.0
// TensorMap: CPU access to a tensor's elements, as long as it or a view of it lives.
#include "tensor/tensor_map.h"

#include <nanobind/stl/string.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "args.h"
#include "enums.h"
#include "kept.h"
#include "tensor/buffers.h"
#include "tensor/tensor_class.h"

namespace halyard::python {
namespace {

// The object of which TensorMap.numpy() takes a memoryview.
struct FlatBytes {
  std::shared_ptr<SharedMap> map;
};

// The base of bfloat16 arrays.
struct StoredBits {
  std::shared_ptr<SharedMap> map;
};

// A copy, which keeps the map open for one access even if Python code closes it meanwhile.
std::shared_ptr<SharedMap> open_map(const PyTensorMap& self) {
  if (!self.map) throw nb::buffer_error("TensorMap: is unmapped");
  return self.map;
}

int refuse_export(PyObject* self, Py_buffer* view) noexcept {
  if (view != nullptr) view->obj = nullptr;
  PyErr_SetString(PyExc_BufferError,
                  nb::inst_ready(self) ? "TensorMap: is unmapped" : "TensorMap: has not been made");
  return -1;
}

int map_getbuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (!nb::inst_ready(self)) return refuse_export(self, view);
  const auto map = nb::inst_ptr<PyTensorMap>(self)->map;
  return map ? fill_view(self, view, flags, map) : refuse_export(self, view);
}

int flat_getbuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (!nb::inst_ready(self)) return refuse_export(self, view);
  return fill_flat_view(self, view, flags, nb::inst_ptr<FlatBytes>(self)->map);
}

int bits_getbuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (!nb::inst_ready(self)) return refuse_export(self, view);
  return fill_view(self, view, flags, nb::inst_ptr<StoredBits>(self)->map, true);
}

PyType_Slot map_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&refuse_new)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&map_getbuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_view)},
    {0, nullptr},
};
PyType_Slot bits_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&refuse_new)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&bits_getbuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_view)},
    {0, nullptr},
};
PyType_Slot flat_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&refuse_new)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&flat_getbuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_view)},
    {0, nullptr},
};

void unmap(PyTensorMap& self) {
  const std::size_t views = self.map ? self.map->views : 0;
  if (views > 0)
    throw nb::buffer_error(
        ("TensorMap: " + std::to_string(views) + " view(s) of it are alive; delete them first")
            .c_str());
  self.map.reset();
}

nb::object flat_bytes(const PyTensorMap& self) {
  const nb::object bytes = nb::cast(FlatBytes{open_map(self)});
  PyObject* view = PyMemoryView_FromObject(bytes.ptr());
  if (view == nullptr) throw nb::python_error();
  return nb::steal(view);
}

// Past the last element: a BufferError, as programs expect it, and an IndexError, which ends
// iteration.
[[noreturn]] void raise_outside(std::size_t i, std::size_t count) {
  static PyObject* place = nullptr;
  const nb::handle type = kept_attribute(place, "halyard._errors", "MapIndexError");
  const std::string text =
      "index: must be below " + std::to_string(count) + " (" + std::to_string(i) + ")";
  PyErr_SetString(type.ptr(), text.c_str());
  throw nb::python_error();
}

// Distance in bytes of element i, in C order, from element 0.
std::ptrdiff_t offset_of(const TensorMap& map, std::size_t i) {
  const Layout& layout = map.layout();
  if (i >= layout.element_count()) raise_outside(i, layout.element_count());
  if (!map.planes_adjacent()) throw nb::buffer_error("tensor: its planes lie in several places");
  std::size_t rest = i;
  std::ptrdiff_t offset = 0;
  for (std::size_t axis = layout.rank; axis-- > 0;) {
    offset += static_cast<std::ptrdiff_t>(rest % layout.shape[axis]) * layout.stride_bytes[axis];
    rest /= layout.shape[axis];
  }
  return offset;
}

template <class T>
T load_element(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

nb::object get_element(const PyTensorMap& self, nb::handle key) {
  const std::size_t i = size_from(key, "index");  // may run Python code, which may close the map
  const auto shared = open_map(self);
  const std::byte* at = shared->map.data() + offset_of(shared->map, i);
  switch (shared->map.layout().dtype) {
    case DType::u8:
      return nb::int_(load_element<std::uint8_t>(at));
    case DType::i8:
      return nb::int_(load_element<std::int8_t>(at));
    case DType::u16:
      return nb::int_(load_element<std::uint16_t>(at));
    case DType::i16:
      return nb::int_(load_element<std::int16_t>(at));
    case DType::u32:
      return nb::int_(load_element<std::uint32_t>(at));
    case DType::i32:
      return nb::int_(load_element<std::int32_t>(at));
    case DType::u64:
      return nb::int_(load_element<std::uint64_t>(at));
    case DType::i64:
      return nb::int_(load_element<std::int64_t>(at));
    case DType::f16:
      return nb::float_(to_float(load_element<Half>(at)));
    case DType::bf16:
      return nb::float_(to_float(load_element<BFloat16>(at)));
    case DType::f32:
      return nb::float_(load_element<float>(at));
    case DType::f64:
      return nb::float_(load_element<double>(at));
    case DType::boolean:
      return nb::bool_(load_element<std::uint8_t>(at) != 0);
  }
  return nb::none();
}

// The bytes of one element.
using Element = std::array<std::byte, 8>;

template <class T>
Element element_of(const T& number) {
  Element element{};
  std::memcpy(element.data(), &number, sizeof number);
  return element;
}

template <class T>
Element int_element(nb::handle value) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) replace_type_error("value", "an int", value);
  T number{};
  if (!nb::try_cast(index, number)) {
    PyErr_SetString(PyExc_OverflowError, "value: does not fit the dtype");
    throw nb::python_error();
  }
  return element_of(number);
}

// Halves are rounded by struct.pack, which rounds to nearest even and refuses what does not fit.
Element half_element(double value) {
  const nb::object packed = nb::module_::import_("struct").attr("pack")("=e", value);
  Element element{};
  std::memcpy(element.data(), PyBytes_AsString(packed.ptr()), 2);
  return element;
}

Element bfloat16_element(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t rounded = is_nan ? bits | 0x400000U : bits + 0x7FFFU + ((bits >> 16) & 1U);
  return element_of(static_cast<std::uint16_t>(rounded >> 16));
}

Element element_from(nb::handle value, DType dtype) {
  switch (dtype) {
    case DType::u8:
      return int_element<std::uint8_t>(value);
    case DType::i8:
      return int_element<std::int8_t>(value);
    case DType::u16:
      return int_element<std::uint16_t>(value);
    case DType::i16:
      return int_element<std::int16_t>(value);
    case DType::u32:
      return int_element<std::uint32_t>(value);
    case DType::i32:
      return int_element<std::int32_t>(value);
    case DType::u64:
      return int_element<std::uint64_t>(value);
    case DType::i64:
      return int_element<std::int64_t>(value);
    case DType::f16:
      return half_element(number_from(value, "value"));
    case DType::bf16:
      return bfloat16_element(static_cast<float>(number_from(value, "value")));
    case DType::f32:
      return element_of(static_cast<float>(number_from(value, "value")));
    case DType::f64:
      return element_of(number_from(value, "value"));
    case DType::boolean:
      break;
  }
  return element_of(nb::cast<bool>(nb::bool_(value)));
}

// Index and value first: converting them may run Python code, which may close the map.
void set_element(const PyTensorMap& self, nb::handle key, nb::handle value) {
  const DType dtype = open_map(self)->map.layout().dtype;
  const std::size_t i = size_from(key, "index");
  const Element element = element_from(value, dtype);
  const auto shared = open_map(self);
  const std::ptrdiff_t offset = offset_of(shared->map, i);
  std::byte* to = shared->map.writable();
  if (to == nullptr) throw nb::buffer_error("tensor: its memory is read-only");
  std::memcpy(to + offset, element.data(), size_of(dtype));
}

std::string map_repr(const PyTensorMap& self) {
  if (!self.map) return "Unmapped Tensor";
  const auto shared = open_map(self);
  const Layout& layout = shared->map.layout();
  std::string text = std::string("TensorMap(dtype=") + dtype_name(layout.dtype) + ", shape=[";
  for (std::size_t i = 0; i < layout.rank; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(layout.shape[i]);
  return text + "])";
}

nb::object map_strides(const PyTensorMap& self) {
  const auto shared = open_map(self);
  const Layout& layout = shared->map.layout();
  return stride_tuple(std::span(layout.stride_bytes).first(layout.rank));
}

constexpr const char* map_doc =
    "CPU access to the elements of a tensor; made by ``Tensor.map()``.\n\n"
    "A context manager, and a buffer: ``numpy.asarray(m)`` and ``memoryview(m)`` see the elements\n"
    "with their true strides. ``numpy()`` gives flat bytes. Views keep the mapping alive: the end\n"
    "of ``with`` closes the map for new accesses and releases the memory when the last view\n"
    "is deleted; ``unmap()`` with live views raises BufferError. ``len(m)``, ``m[i]`` and\n"
    "``m[i] = v`` count elements in C order from 0; a negative index raises OverflowError, one\n"
    "past the last element an error that is a BufferError and an IndexError, so that iteration\n"
    "ends. Access to a closed map raises BufferError.";

nb::object map_array(nb::handle self, nb::handle dtype, nb::handle copy) {
  const auto map = open_map(instance_of<PyTensorMap>(self));
  const nb::object asarray = nb::module_::import_("numpy").attr("asarray");
  if (map->map.layout().dtype == DType::bf16) {
    const nb::object bits = asarray(nb::cast(StoredBits{map}));
    return array_result(bits.attr("view")(bfloat16_type()), dtype, copy);
  }
  const nb::object view = nb::steal(PyMemoryView_FromObject(self.ptr()));
  if (!view.is_valid()) throw nb::python_error();
  return array_result(asarray(view), dtype, copy);
}

using MapClass = nb::class_<PyTensorMap>;

void add_life(MapClass& cls) {
  cls.def(
         "__enter__",
         [](nb::handle_t<PyTensorMap> self) {
           open_map(instance_of<PyTensorMap>(self));
           return nb::borrow(self);
         },
         nb::sig("def __enter__(self) -> TensorMap"))
      .def(
          "__exit__",
          [](PyTensorMap& self, nb::handle, nb::handle, nb::handle) { self.map.reset(); },
          nb::arg("exc_type").none(), nb::arg("exc").none(), nb::arg("traceback").none())
      .def("unmap", &unmap,
           "Closes the map; a second call does nothing. While views are alive, raises\n"
           "BufferError and leaves the map open.");
}

void add_map_arrays(MapClass& cls) {
  cls.def("numpy", &flat_bytes, nb::sig("def numpy(self) -> memoryview"),
          "The elements' bytes as a flat memoryview of prod(shape) * itemsize bytes. If rows\n"
          "are padded these are not only the elements: use numpy.asarray(m) then. Raises\n"
          "BufferError if elements do not follow one another in C order (flipped, repeated or\n"
          "transposed arrays).")
      .def(
          "array",
          [](nb::handle self) { return nb::module_::import_("numpy").attr("asarray")(self); },
          "The elements as a NumPy array with their strides, without a copy.")
      .def(
          "view",
          [](nb::handle self) { return nb::module_::import_("numpy").attr("asarray")(self); },
          nb::sig("def view(self) -> numpy.ndarray"),
          "The same as array(), by the name in EdgeFirst HAL 0.24.")
      .def("__array__", &map_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) "
                   "-> numpy.ndarray"),
           "The elements as a NumPy array; without a copy unless another dtype is requested.");
}

void add_elements(MapClass& cls) {
  cls.def("__len__",
          [](const PyTensorMap& s) { return s.map ? s.map->map.layout().element_count() : 0; })
      .def("__getitem__", &get_element, nb::arg("index"))
      .def("__setitem__", &set_element, nb::arg("index"), nb::arg("value"))
      .def_prop_ro("strides", &map_strides, nb::sig("def strides(self) -> tuple[int, ...]"),
                   "Bytes from one index of each axis to the next.")
      .def_prop_ro(
          "shape",
          [](const PyTensorMap& s) {
            const auto shared = open_map(s);
            return shape_tuple(shared->map.layout().dims());
          },
          nb::sig("def shape(self) -> tuple[int, ...]"), "Extents, outermost first.")
      .def("__repr__", &map_repr);
}

void bind_map(nb::module_& m) {
  nb::class_<FlatBytes>(m, "_FlatBytes", nb::type_slots(flat_slots));
  nb::class_<StoredBits>(m, "_StoredBits", nb::type_slots(bits_slots));
  MapClass cls(m, "TensorMap", nb::type_slots(map_slots), map_doc);
  add_life(cls);
  add_map_arrays(cls);
  add_elements(cls);
}

}  // namespace

void add_mapping(TensorClass& cls) {
  cls.def(
         "map", [](const PyTensor& t) { return PyTensorMap{map_shared(t.value)}; },
         "Opens the elements to the CPU for reading and writing (read-only memory: for reading).\n"
         "Use it in a with statement. Any number of maps may be open. Raises RuntimeError for\n"
         "memory that the CPU cannot access.")
      .def(
          "numpy",
          [](nb::handle self) { return nb::module_::import_("numpy").attr("asarray")(self); },
          nb::sig("def numpy(self) -> numpy.ndarray"),
          "The elements as a NumPy array without a copy, as numpy.asarray(t).");
}

void bind_tensor_map(nb::module_& m) {
  bind_map(m);
}

}  // namespace halyard::python
