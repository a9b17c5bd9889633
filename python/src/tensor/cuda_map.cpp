// SPDX-License-Identifier: Apache-2.0
// CudaMap: a tensor's elements at an address of a CUDA device, until it and all exports are gone.
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "args.h"
#include "halyard/device.h"
#include "halyard/dlpack.h"
#include "tensor/buffers.h"
#include "tensor/dlpack_capsule.h"
#include "tensor/tensor_class.h"

namespace halyard::python {
namespace {

constexpr int cuda_device_type = 2;  // kDLCUDA

// Numbers that Python's protocols give to streams.
constexpr std::int64_t no_stream = -1;  // DLPack: the consumer orders its work itself
constexpr std::int64_t default_stream = 1;

struct PyCudaMap {
  Tensor tensor;
  std::shared_ptr<const DeviceMap> map;  ///< null after release(); exports hold it too
};

// A copy, which keeps the map open for one access.
std::shared_ptr<const DeviceMap> open_map(const PyCudaMap& self) {
  if (!self.map) throw nb::buffer_error("CudaMap: is released");
  return self.map;
}

std::uintptr_t address_of(const PyCudaMap& self) {
  if (!self.map) return 0;
  return reinterpret_cast<std::uintptr_t>(self.map->address()) + self.tensor.offset_bytes();
}

std::size_t size_of_map(const PyCudaMap& self) {
  return self.map ? self.map->size_bytes() - self.tensor.offset_bytes() : 0;
}

std::int64_t stream_number(const DeviceMap& map) {
  const auto number = reinterpret_cast<std::uintptr_t>(map.stream());
  return number == 0 ? default_stream : static_cast<std::int64_t>(number);
}

void release(PyCudaMap& self) {
  auto map = std::exchange(self.map, nullptr);
  released([&] {
    map.reset();
    return true;
  });
}

// NumPy's typestr in little endian; bfloat16 has none.
const char* typestr_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return "|u1";
    case DType::i8:
      return "|i1";
    case DType::u16:
      return "<u2";
    case DType::i16:
      return "<i2";
    case DType::u32:
      return "<u4";
    case DType::i32:
      return "<i4";
    case DType::u64:
      return "<u8";
    case DType::i64:
      return "<i8";
    case DType::f16:
      return "<f2";
    case DType::f32:
      return "<f4";
    case DType::f64:
      return "<f8";
    case DType::boolean:
      return "|b1";
    case DType::bf16:
      break;
  }
  throw nb::attribute_error("__cuda_array_interface__: has no bfloat16; use DLPack");
}

nb::object cuda_array_interface(const PyCudaMap& self) {
  const auto map = open_map(self);
  const Tensor& tensor = self.tensor;
  if (!tensor.planes_adjacent())
    throw nb::attribute_error("__cuda_array_interface__: the image's planes lie apart");
  const Layout& layout = tensor.layout();
  nb::dict out;
  out["version"] = 3;
  out["typestr"] = typestr_of(layout.dtype);
  out["shape"] = shape_tuple(layout.dims());
  if (layout.is_contiguous()) {
    out["strides"] = nb::none();
  } else {
    out["strides"] = stride_tuple(std::span(layout.stride_bytes).first(layout.rank));
  }
  const std::uintptr_t address = layout.element_count() == 0 ? 0 : address_of(self);
  out["data"] = nb::make_tuple(address, !tensor.buffer()->is_writable());
  out["stream"] = stream_number(*map);
  return out;
}

// Work of the consumer's stream comes after what the map waits for.
void order(const DeviceMap& map, nb::handle stream) {
  std::int64_t number = default_stream;
  if (!stream.is_none() && !nb::try_cast(stream, number))
    raise_wrong_type("stream", "an int or None", stream);
  if (number == 0 || number < no_stream)
    raise(Errc::invalid_argument, "stream: must be -1, or a stream of CUDA; 0 has two meanings");
  if (number == no_stream || number == stream_number(map)) return;
  check(released([&] { return map.wait(); }));
}

void check_request(const DeviceMap& map, nb::handle dl_device, nb::handle copy) {
  const nb::tuple own = nb::make_tuple(cuda_device_type, map.device_number());
  if (!dl_device.is_none() && !dl_device.equal(own))
    throw nb::buffer_error("dl_device: only the map's own CUDA device is served");
  if (!copy.is_none() && truth_from(copy))
    throw nb::buffer_error("copy: a map of a device cannot be copied; copy on the device");
}

nb::object to_capsule(const PyCudaMap& self, nb::handle stream, nb::handle max_version,
                      nb::handle dl_device, nb::handle copy) {
  const auto map = open_map(self);
  check_request(*map, dl_device, copy);
  const bool has_flags = is_versioned(max_version);
  order(*map, stream);
  if (!has_flags) return capsule_of(take_or_buffer_error(to_dlpack_unversioned(self.tensor, map)));
  DlpackOptions options;
  options.read_only = !self.tensor.buffer()->is_writable();
  return capsule_of(take_or_buffer_error(to_dlpack(self.tensor, map, options)));
}

constexpr const char* cuda_map_doc =
    "A tensor's elements as CUDA sees them; made by ``Tensor.cuda_map()``.\n\n"
    "A context manager. ``cupy.asarray(m)`` and ``torch.from_dlpack(m)`` see the elements without\n"
    "a copy. While it or an array of it lives, the CPU cannot map a pixel buffer. CUDA's work on\n"
    "the elements must be in the map's stream, or be done, before the last of them is deleted.";

using CudaMapClass = nb::class_<PyCudaMap>;

void add_life(CudaMapClass& cls) {
  cls.def_prop_ro("device_ptr", &address_of, "Address of the elements; 0 after release().")
      .def_prop_ro("size", &size_of_map,
                   "Bytes from there to the end of the memory; 0 after release().")
      .def("__len__", &size_of_map)
      .def("release", &release,
           "Ends the mapping, or leaves that to the arrays of it that are alive. A second call\n"
           "does nothing.")
      .def(
          "__enter__", [](nb::handle_t<PyCudaMap> self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> CudaMap"))
      .def(
          "__exit__", [](PyCudaMap& self, nb::handle, nb::handle, nb::handle) { release(self); },
          nb::arg("exc_type").none(), nb::arg("exc").none(), nb::arg("traceback").none());
}

void add_exports(CudaMapClass& cls) {
  cls.def_prop_ro("__cuda_array_interface__", &cuda_array_interface,
                  nb::sig("def __cuda_array_interface__(self) -> dict"),
                  "Version 3 of the interface. Raises AttributeError for bfloat16 and for images\n"
                  "whose planes lie apart, BufferError after release().")
      .def("__dlpack__", &to_capsule, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none(),
           nb::sig("def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, "
                   "int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | "
                   "None = None) -> Any"),
           "A DLPack capsule on the CUDA device. Waits for the map's stream if `stream` is\n"
           "another one. Raises BufferError if the elements cannot be exported.")
      .def(
          "__dlpack_device__",
          [](const PyCudaMap& self) {
            return nb::make_tuple(cuda_device_type, open_map(self)->device_number());
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"),
          "(2, n): CUDA, and the number of the device.");
}

nb::object map_cuda(const PyTensor& self, nb::handle stream) {
  const std::size_t number = stream.is_none() ? 0 : size_from(stream, "stream");
  Tensor tensor = self.value;
  if (tensor.is_empty() || !tensor.is_in_one_buffer()) return nb::none();
  auto map = released([&] {
    return map_device(tensor.buffer(), DeviceKind::cuda, reinterpret_cast<void*>(number));
  });
  if (!map && map.error().code == Errc::unsupported) return nb::none();
  auto shared = std::make_shared<const DeviceMap>(take(std::move(map)));
  nb::object made = nb::inst_alloc(nb::type<PyCudaMap>());
  new (nb::inst_ptr<PyCudaMap>(made)) PyCudaMap{std::move(tensor), std::move(shared)};
  nb::inst_mark_ready(made);
  return made;
}

}  // namespace

void add_cuda_map(TensorClass& cls) {
  cls.def(
      "cuda_map", &map_cuda, nb::arg("stream") = nb::none(),
      nb::sig("def cuda_map(self, stream: int | None = None) -> CudaMap | None"),
      "The elements on a CUDA device, ordered before later work of `stream` (a handle of CUDA;\n"
      "None: the default stream). None where they have no address: heap and shared memory, no\n"
      "CUDA runtime or device, memory that CUDA refuses. Pixel buffers of OpenGL and DMA-BUFs\n"
      "may have one. Raises BusyError if it is mapped already, or a pixel buffer by the CPU.");
}

void bind_cuda_map(nb::module_& m) {
  CudaMapClass cls(m, "CudaMap", nb::type_slots(made_by_calls), cuda_map_doc);
  add_life(cls);
  add_exports(cls);
}

}  // namespace halyard::python
