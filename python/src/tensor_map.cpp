// SPDX-License-Identifier: Apache-2.0
// TensorMap: CPU access to a tensor's elements, as long as it or a view of it lives.
#include "tensor_map.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <optional>
#include <string>

#include "args.h"
#include "buffers.h"
#include "enums.h"
#include "tensor_class.h"

namespace halyard::python {
namespace {

// What TensorMap.numpy() takes a memoryview of.
struct FlatBytes {
  std::shared_ptr<SharedMap> map;
};

const std::shared_ptr<SharedMap>& open_map(const PyTensorMap& self) {
  if (!self.map) throw nb::buffer_error("TensorMap: is unmapped");
  return self.map;
}

int map_getbuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  const auto& map = nb::inst_ptr<PyTensorMap>(self)->map;
  if (map) return fill_view(self, view, flags, map);
  if (view != nullptr) view->obj = nullptr;
  PyErr_SetString(PyExc_BufferError, "TensorMap: is unmapped");
  return -1;
}

int flat_getbuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  return fill_flat_view(self, view, flags, nb::inst_ptr<FlatBytes>(self)->map);
}

PyType_Slot map_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&map_getbuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_view)},
    {0, nullptr},
};
PyType_Slot flat_slots[] = {
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

// Element i in C order.
std::byte* element(const PyTensorMap& self, nb::handle key) {
  const TensorMap& map = open_map(self)->map;
  const std::size_t i = size_from(key, "index");
  const Layout& layout = map.layout();
  if (i >= layout.element_count())
    throw nb::buffer_error(("index: must be below " + std::to_string(layout.element_count()) +
                            " (" + std::to_string(i) + ")")
                               .c_str());
  if (!map.planes_adjacent()) throw nb::buffer_error("tensor: its planes lie in several places");
  std::size_t rest = i;
  std::ptrdiff_t offset = 0;
  for (std::size_t axis = layout.rank; axis-- > 0;) {
    offset += static_cast<std::ptrdiff_t>(rest % layout.shape[axis]) * layout.stride_bytes[axis];
    rest /= layout.shape[axis];
  }
  return const_cast<std::byte*>(map.data()) + offset;
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

nb::object get_element(const PyTensorMap& self, nb::handle key) {
  const std::byte* at = element(self, key);
  switch (self.map->map.layout().dtype) {
    case DType::u8:
      return nb::int_(load<std::uint8_t>(at));
    case DType::i8:
      return nb::int_(load<std::int8_t>(at));
    case DType::u16:
      return nb::int_(load<std::uint16_t>(at));
    case DType::i16:
      return nb::int_(load<std::int16_t>(at));
    case DType::u32:
      return nb::int_(load<std::uint32_t>(at));
    case DType::i32:
      return nb::int_(load<std::int32_t>(at));
    case DType::u64:
      return nb::int_(load<std::uint64_t>(at));
    case DType::i64:
      return nb::int_(load<std::int64_t>(at));
    case DType::f16:
      return nb::float_(to_float(load<Half>(at)));
    case DType::bf16:
      return nb::float_(to_float(load<BFloat16>(at)));
    case DType::f32:
      return nb::float_(load<float>(at));
    case DType::f64:
      return nb::float_(load<double>(at));
    case DType::boolean:
      return nb::bool_(load<std::uint8_t>(at) != 0);
  }
  return nb::none();
}

template <class T>
void store_int(std::byte* to, nb::handle value) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    raise_wrong_type("value", "an int", value);
  }
  T number{};
  if (!nb::try_cast(index, number)) {
    PyErr_SetString(PyExc_OverflowError, "value: does not fit the dtype");
    throw nb::python_error();
  }
  std::memcpy(to, &number, sizeof number);
}

// Halves are rounded by struct.pack, which rounds to nearest even and refuses what does not fit.
void store_half(std::byte* to, double value) {
  const nb::object packed = nb::module_::import_("struct").attr("pack")("=e", value);
  std::memcpy(to, PyBytes_AsString(packed.ptr()), 2);
}

void store_bfloat16(std::byte* to, float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t rounded = is_nan ? bits | 0x400000U : bits + 0x7FFFU + ((bits >> 16) & 1U);
  const auto half = static_cast<std::uint16_t>(rounded >> 16);
  std::memcpy(to, &half, sizeof half);
}

void set_element(const PyTensorMap& self, nb::handle key, nb::handle value) {
  std::byte* at = element(self, key);
  if (self.map->map.writable() == nullptr)
    throw nb::buffer_error("tensor: its memory is read-only");
  switch (self.map->map.layout().dtype) {
    case DType::u8:
      return store_int<std::uint8_t>(at, value);
    case DType::i8:
      return store_int<std::int8_t>(at, value);
    case DType::u16:
      return store_int<std::uint16_t>(at, value);
    case DType::i16:
      return store_int<std::int16_t>(at, value);
    case DType::u32:
      return store_int<std::uint32_t>(at, value);
    case DType::i32:
      return store_int<std::int32_t>(at, value);
    case DType::u64:
      return store_int<std::uint64_t>(at, value);
    case DType::i64:
      return store_int<std::int64_t>(at, value);
    case DType::f16:
      return store_half(at, number_from(value, "value"));
    case DType::bf16:
      return store_bfloat16(at, static_cast<float>(number_from(value, "value")));
    case DType::f32: {
      const auto number = static_cast<float>(number_from(value, "value"));
      std::memcpy(at, &number, sizeof number);
      return;
    }
    case DType::f64: {
      const double number = number_from(value, "value");
      std::memcpy(at, &number, sizeof number);
      return;
    }
    case DType::boolean:
      *at = static_cast<std::byte>(nb::cast<bool>(nb::bool_(value)) ? 1 : 0);
  }
}

std::string repr_of(const PyTensorMap& self) {
  if (!self.map) return "Unmapped Tensor";
  const Layout& layout = self.map->map.layout();
  std::string text = std::string("TensorMap(dtype=") + dtype_name(layout.dtype) + ", shape=[";
  for (std::size_t i = 0; i < layout.rank; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(layout.shape[i]);
  return text + "])";
}

nb::object strides_of(const PyTensorMap& self) {
  const Layout& layout = open_map(self)->map.layout();
  nb::list list;
  for (std::size_t i = 0; i < layout.rank; ++i)
    list.append(layout.stride_bytes[i]);
  return list;
}

constexpr const char* map_doc =
    "CPU access to the elements of a tensor; made by ``Tensor.map()``.\n\n"
    "A context manager, and a buffer: ``numpy.asarray(m)`` and ``memoryview(m)`` see the elements\n"
    "with their true strides. ``numpy()`` gives flat bytes. Views keep the mapping alive: the end\n"
    "of ``with`` closes the map for new accesses and gives the memory back when the last view\n"
    "goes; ``unmap()`` under live views raises BufferError. ``len(m)``, ``m[i]`` and\n"
    "``m[i] = v`` count elements in C order. Access to a closed map raises BufferError.";

void bind_map(nb::module_& m) {
  nb::class_<FlatBytes>(m, "_FlatBytes", nb::type_slots(flat_slots));
  nb::class_<PyTensorMap>(m, "TensorMap", nb::type_slots(map_slots), map_doc)
      .def(
          "__enter__",
          [](nb::handle_t<PyTensorMap> self) {
            open_map(*nb::inst_ptr<PyTensorMap>(self));
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> TensorMap"))
      .def(
          "__exit__",
          [](PyTensorMap& self, nb::handle, nb::handle, nb::handle) { self.map.reset(); },
          nb::arg("exc_type").none(), nb::arg("exc").none(), nb::arg("traceback").none())
      .def("unmap", &unmap,
           "Closes the map. A second call does nothing. Raises BufferError while\n"
           "views are alive, and stays open.")
      .def("numpy", &flat_bytes, nb::sig("def numpy(self) -> memoryview"),
           "The elements' bytes as a flat memoryview of prod(shape) * itemsize bytes. Where rows\n"
           "are padded these are not the elements alone: take numpy.asarray(m) then.")
      .def(
          "array",
          [](nb::handle self) { return nb::module_::import_("numpy").attr("asarray")(self); },
          "The elements as a NumPy array with their strides, without a copy.")
      .def("__len__",
           [](const PyTensorMap& s) { return s.map ? s.map->map.layout().element_count() : 0; })
      .def("__getitem__", &get_element, nb::arg("index"))
      .def("__setitem__", &set_element, nb::arg("index"), nb::arg("value"))
      .def_prop_ro("strides", &strides_of, nb::sig("def strides(self) -> list[int]"),
                   "Bytes from one index of each axis to the next.")
      .def_prop_ro(
          "shape",
          [](const PyTensorMap& s) { return shape_list(open_map(s)->map.layout().dims()); },
          nb::sig("def shape(self) -> list[int]"), "Extents, outermost first.")
      .def("__repr__", &repr_of);
}

}  // namespace

void add_mapping(TensorClass& cls) {
  cls.def(
         "map", [](const PyTensor& t) { return PyTensorMap{map_shared(t.value)}; },
         "Opens the elements to the CPU for reading and writing (read-only memory: for reading).\n"
         "Use it in a with statement. Any number of maps may be open. Raises RuntimeError for\n"
         "memory that the CPU cannot see.")
      .def(
          "cuda_map", [](const PyTensor&) { return nb::none(); },
          "The elements on a CUDA device: None, as no tensor of this build has them there.")
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
