// SPDX-License-Identifier: Apache-2.0
// TensorHandle: a Tensor in the memory of a pool.
#include <array>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "args.h"
#include "ipc/pools.h"
#include "tensor/tensor_class.h"
#include "values.h"

namespace halyard::python {
namespace {

using HandleClass = nb::class_<PyTensorHandle, PyNativeTensor>;

TensorHandle handle_of(const PyTensorHandle& self) {
  return take(TensorHandle::of(self.value));
}

// The handle of the caller counts once, however often this call copies it.
std::uint64_t refcount_of(const PyTensorHandle& self) {
  const long before = self.value.buffer().use_count();
  const TensorHandle copy = handle_of(self);
  const long copies = self.value.buffer().use_count() - before;
  return copy.refcount() - static_cast<std::uint64_t>(copies);
}

nb::object view(const PyTensorHandle& self, nb::handle shape) {
  if (has_attribute(shape, "width"))
    return handle_result(take(self.value.slice(region_from(shape, "shape"))));
  return handle_result(take(handle_of(self).view(shape_from(shape, "shape").dims())));
}

nb::object permute(const PyTensorHandle& self, nb::handle order) {
  std::array<std::size_t, max_rank> axes{};
  const std::size_t count =
      for_each_item(order, "order", "a sequence of axes", max_rank,
                    [&](nb::handle axis, std::size_t i) { axes[i] = size_from(axis, "order"); });
  if (count > max_rank) raise(Errc::invalid_argument, "order: must name each axis once");
  return handle_result(take(handle_of(self).permute(std::span(axes).first(count))));
}

nb::object of_tensor(nb::handle tensor) {
  return handle_result(take(TensorHandle::of(tensor_object(tensor, "tensor").value)));
}

void add_views(HandleClass& cls) {
  cls.def(
         "slice_first_dim",
         [](const PyTensorHandle& self, nb::handle start, nb::handle end) {
           return handle_result(take(
               handle_of(self).slice_first_dim(size_from(start, "start"), size_from(end, "end"))));
         },
         nb::arg("start"), nb::arg("end"),
         nb::sig("def slice_first_dim(self, start: int, end: int) -> TensorHandle"),
         "Indices start..end-1 of the first axis, sharing the slot.")
      .def("view", &view, nb::arg("shape"),
           nb::sig("def view(self, shape: Sequence[int] | Region | Rect) -> TensorHandle"),
           "The same elements under another shape, sharing the slot; with a Region, a rectangle\n"
           "of an image, as Tensor.view(). Raises InvalidArgumentError if the count differs,\n"
           "UnsupportedError if there are gaps between elements.")
      .def("permute", &permute, nb::arg("order"),
           nb::sig("def permute(self, order: Sequence[int]) -> TensorHandle"),
           "The axes in another order, sharing the slot.");
}

// The memory of a slot stays in place as long as the caller keeps its handle.
nb::object array_interface(nb::handle self) {
  if (nb::cast<PyTensorHandle&>(self).value.dtype() == DType::bf16)
    throw nb::attribute_error("__array_interface__: it has no code for bfloat16");
  return self.attr("__array__")().attr("__array_interface__");
}

void add_place(HandleClass& cls) {
  cls.def_static("of", &of_tensor, nb::arg("tensor"),
                 nb::sig("def of(tensor: Tensor) -> TensorHandle"),
                 "A Tensor in a pool's memory (a part of a handle, an image's tensor) as the\n"
                 "TensorHandle that it is. Raises InvalidArgumentError for other memory.")
      .def(
          "descriptor",
          [](const PyTensorHandle& self) { return take(handle_of(self).descriptor()); },
          nb::sig("def descriptor(self) -> TensorDescriptor"),
          "Identifies the tensor for other processes of the pool, as long as it is alive.")
      .def_prop_ro("refcount", &refcount_of,
                   "Handles, parts, views and topics' windows of this process that share the slot.")
      .def_prop_ro(
          "device", [](const PyTensorHandle& self) { return handle_of(self).device(); },
          "Where the elements are.")
      .def_prop_ro(
          "pool", [](const PyTensorHandle& self) { return pool_result(handle_of(self).pool()); },
          nb::sig("def pool(self) -> TensorPool | None"),
          "None if this process has released the pool.")
      .def_prop_ro(
          "__array_interface__", &array_interface,
          nb::sig("def __array_interface__(self) -> dict[str, Any]"),
          "NumPy's array interface, version 3, of the same bytes: for PIL and others that\n"
          "read it. AttributeError for bfloat16, for which it has no code.");
}

}  // namespace

nb::object handle_result(Tensor&& tensor) {
  if (!TensorHandle::of(tensor)) return tensor_result(std::move(tensor));
  nb::object made = nb::inst_alloc(nb::type<PyTensorHandle>());
  new (nb::inst_ptr<PyTensorHandle>(made)) PyTensorHandle{{{std::move(tensor)}}};
  nb::inst_mark_ready(made);
  return made;
}

void bind_tensor_handle(nb::module_& m) {
  HandleClass cls(
      m, "TensorHandle", nb::type_slots(tensor_handle_slots()), nb::is_weak_referenceable(),
      "A Tensor in the memory of a pool; ``TensorPool.alloc()``, ``attach()`` and topics\n"
      "make it.\n\n"
      "Writable until it is published by a topic, from then on read-only, as are tensors\n"
      "of other processes: NumPy's views (``flags.writeable``) and DLPack's flag report this.\n"
      "A view that was taken before publishing can still write, but must not. The last object\n"
      "that holds the slot, views included, frees it.");
  add_views(cls);
  add_place(cls);
}

}  // namespace halyard::python
