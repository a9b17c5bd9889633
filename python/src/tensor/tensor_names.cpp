// SPDX-License-Identifier: Apache-2.0
// Device and TensorDescriptor: where a tensor is, and its name for other processes.
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <optional>
#include <string>

#include "args.h"
#include "enums.h"
#include "ipc/pools.h"

namespace halyard::python {
namespace {

using DeviceClass = nb::class_<Device>;
using DescriptorClass = nb::class_<TensorDescriptor>;

nb::object descriptor_bytes(const TensorDescriptor& descriptor) {
  return nb::bytes(reinterpret_cast<const char*>(&descriptor), sizeof descriptor);
}

TensorDescriptor descriptor_of_bytes(nb::handle object, const char* argument) {
  const BytesArg given(object, argument);
  if (given.bytes().size() != sizeof(TensorDescriptor))
    raise(Errc::invalid_argument, std::string(argument) + ": must have " +
                                      std::to_string(sizeof(TensorDescriptor)) + " bytes (" +
                                      std::to_string(given.bytes().size()) + ")");
  TensorDescriptor descriptor;
  std::memcpy(static_cast<void*>(&descriptor), given.bytes().data(), sizeof descriptor);
  return descriptor;
}

nb::object numbers(std::span<const std::uint64_t> given) {
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  return shape_tuple({reinterpret_cast<const std::size_t*>(given.data()), given.size()});
}

std::string descriptor_repr(const TensorDescriptor& d) {
  std::string text = "TensorDescriptor(pool_id=" + std::to_string(d.pool_id) +
                     ", slot_id=" + std::to_string(d.slot_id) + ", shape=[";
  const auto shape = d.shape();
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  const auto dtype = d.dtype();
  return text + "], dtype=" + (dtype ? dtype_name(*dtype) : "unknown") + ")";
}

void bind_device(nb::module_& m) {
  DeviceClass(m, "Device",
              "The place of a tensor's elements: a label, which allocates nothing.\n\n"
              "Args:\n"
              "    name: \"cpu\", \"cuda\", \"gpu:1\", \"dma_buf\"..., in any case.")
      .def(
          "__init__",
          [](Device* self, nb::handle name) { new (self) Device(device_from(name, "name")); },
          nb::arg("name") = "cpu", nb::sig("def __init__(self, name: str = 'cpu') -> None"))
      .def_static(
          "cpu", [] { return Device::cpu(); }, nb::sig("def cpu() -> Device"), "The CPU.")
      .def_static(
          "cuda",
          [](nb::handle id) {
            return Device::cuda(static_cast<std::uint32_t>(size_from(id, "id", UINT32_MAX)));
          },
          nb::arg("id") = 0, nb::sig("def cuda(id: int = 0) -> Device"),
          "A CUDA device by its number.")
      .def_prop_ro(
          "type", [](const Device& d) { return std::string(to_string(d.type)); },
          "\"cpu\", \"cuda\", \"cuda_host\", \"cuda_managed\" or \"dma_buf\".")
      .def_prop_ro(
          "id", [](const Device& d) { return d.id; }, "The number of the device, from 0.")
      .def("is_cpu", &Device::is_cpu, "Whether it is the CPU.")
      .def("is_cuda", &Device::is_cuda, "Whether it is a CUDA device.")
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Device& d) { return static_cast<Py_ssize_t>(d.type) * 65537 + d.id; })
      .def("__str__", [](const Device& d) { return to_string(d); })
      .def("__repr__", [](const Device& d) { return "Device('" + to_string(d) + "')"; });
}

void add_place(DescriptorClass& cls) {
  cls.def_prop_ro(
         "pool_id", [](const TensorDescriptor& d) { return d.pool_id; }, "The pool's number.")
      .def_prop_ro(
          "slot_id", [](const TensorDescriptor& d) { return d.slot_id; },
          "The slot; the upper 8 bits are the part of the pool, which belongs to one process.")
      .def_prop_ro("generation", &TensorDescriptor::generation,
                   "Generation of the slot; odd while it has a tensor.")
      .def_prop_ro(
          "offset", [](const TensorDescriptor& d) { return d.offset; },
          "Offset of the first element, in the memory of its part of the pool.")
      .def_prop_ro(
          "size", [](const TensorDescriptor& d) { return d.size; },
          "Bytes from there to the end of the elements.")
      .def_prop_ro(
          "is_read_only",
          [](const TensorDescriptor& d) {
            return (d.flags & TensorDescriptor::read_only_flag) != 0;
          },
          "Whether the tensor was published.");
}

void add_layout(DescriptorClass& cls) {
  cls.def_prop_ro(
         "shape", [](const TensorDescriptor& d) { return numbers(d.shape()); },
         nb::sig("def shape(self) -> tuple[int, ...]"), "Extents, outermost first.")
      .def_prop_ro(
          "strides",
          [](const TensorDescriptor& d) {
            return numbers(std::span<const std::uint64_t>(d.strides).first(d.shape().size()));
          },
          nb::sig("def strides(self) -> tuple[int, ...]"),
          "Bytes from one index of each axis to the next.")
      .def_prop_ro(
          "dtype",
          [](const TensorDescriptor& d) {
            const auto dtype = d.dtype();
            return dtype ? numpy_dtype(*dtype) : nb::none();
          },
          nb::sig("def dtype(self) -> numpy.dtype[Any] | None"), "None for a foreign number.")
      .def_prop_ro(
          "device",
          [](const TensorDescriptor& d) {
            const auto device = d.device();
            return device ? nb::cast(*device) : nb::none();
          },
          nb::sig("def device(self) -> Device | None"), "None for a foreign number.");
}

void bind_descriptor(nb::module_& m) {
  DescriptorClass cls(
      m, "TensorDescriptor",
      "Identifies a tensor of a pool for other processes: 168 bytes, which\n"
      "``bytes(d)`` gives and this class takes. ``TensorPool.attach()`` makes a\n"
      "tensor of it. Bytes of other processes may be malformed; ``validate()`` checks them.");
  cls.def(
      "__init__",
      [](TensorDescriptor* self, nb::handle data) {
        new (self) TensorDescriptor(descriptor_of_bytes(data, "data"));
      },
      nb::arg("data"), nb::sig("def __init__(self, data: Buffer) -> None"));
  add_place(cls);
  add_layout(cls);
  cls.def("__bytes__", &descriptor_bytes, nb::sig("def __bytes__(self) -> bytes"))
      .def("__len__", [](const TensorDescriptor&) { return sizeof(TensorDescriptor); })
      .def(
          "__reduce__",
          [](nb::handle_t<TensorDescriptor> self) {
            return nb::make_tuple(
                nb::type<TensorDescriptor>(),
                nb::make_tuple(descriptor_bytes(instance_of<TensorDescriptor>(self))));
          },
          nb::sig("def __reduce__(self) -> tuple[Any, ...]"))
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def(
          "__hash__", [](const TensorDescriptor& d) { return nb::hash(descriptor_bytes(d)); },
          nb::sig("def __hash__(self) -> int"))
      .def("__repr__", &descriptor_repr);
}

}  // namespace

Device device_from(nb::handle object, const char* argument) {
  const Device* device = nullptr;
  if (nb::try_cast(object, device) && device != nullptr) return *device;
  if (PyUnicode_Check(object.ptr()) == 0)
    raise_wrong_type(argument, "a Device or its name", object);
  const auto parsed = Device::parse(text_from(object, argument));
  if (!parsed) raise(parsed.error().code, std::string(argument) + ": " + parsed.error().message());
  return *parsed;
}

TensorDescriptor descriptor_from(nb::handle object, const char* argument) {
  const TensorDescriptor* descriptor = nullptr;
  if (nb::try_cast(object, descriptor) && descriptor != nullptr) return *descriptor;
  return descriptor_of_bytes(object, argument);
}

void bind_tensor_names(nb::module_& m) {
  bind_device(m);
  bind_descriptor(m);
  m.def(
      "cuda_available", [] { return halyard::cuda_available(); },
      "Whether this process can use a CUDA device: the driver exists and reports at least one.");
  m.def(
      "cuda_device_count", [] { return halyard::cuda_device_count(); },
      "The number of CUDA devices that the driver reports; 0 without a driver.");
}

}  // namespace halyard::python
