// SPDX-License-Identifier: Apache-2.0
// Slots of Python's tensor types: buffers, and the garbage collector.
#include <string>
#include <utility>

#include "tensor/buffers.h"
#include "tensor/tensor_class.h"

namespace halyard::python {
namespace {

// Runs `fill` and converts its exceptions to BufferError.
template <class F>
int guarded_export(Py_buffer* view, F&& fill) noexcept {
  try {
    return fill();
  } catch (const nb::python_error& error) {
    if (view != nullptr) view->obj = nullptr;
    PyErr_Format(PyExc_BufferError, "%S", error.value().ptr());
  } catch (const std::exception&) {
    if (view != nullptr) view->obj = nullptr;
    PyErr_NoMemory();
  }
  return -1;
}

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  return guarded_export(view, [&] {
    PyTensor& tensor = instance_of<PyTensor>(self);
    const int done = fill_view(self, view, flags, map_shared(tensor.value));
    if (done != 0) return done;
    const std::uint64_t id = tensor.value.buffer()->id();
    if (tensor.exports++ == 0)
      tensor.exported_id = id;
    else if (tensor.exported_id != id)
      tensor.exported_id = 0;
    return 0;
  });
}

void tensor_releasebuffer(PyObject* self, Py_buffer* view) noexcept {
  release_view(self, view);
  --nb::inst_ptr<PyTensor>(self)->exports;
}

// The tensor's own references to the buffer of its first plane.
long own_references(const Tensor& tensor) {
  if (!tensor.is_image() || info(*tensor.format()).kind != FormatKind::semi_planar) return 1;
  const auto chroma = tensor.image_plane(1);
  return chroma && chroma->buffer == tensor.buffer() ? 2 : 1;
}

// The Python object whose memory the tensor shows, if only this object and buffers that it exported
// hold it: then its reference counts as this object's, for the garbage collector. Null if another
// tensor, a map or C++ holds the memory too, which the collector does not see.
PyObject* sole_lender(PyObject* self) noexcept {
  if (!nb::inst_ready(self)) return nullptr;
  const PyTensor& tensor = *nb::inst_ptr<PyTensor>(self);
  const std::shared_ptr<Buffer>& buffer = tensor.value.buffer();
  if (buffer == nullptr || (tensor.exports > 0 && tensor.exported_id != buffer->id()))
    return nullptr;
  PyObject* lender = lender_of(*buffer);
  if (lender == nullptr) return nullptr;
  const long known = own_references(tensor.value) + static_cast<long>(tensor.exports);
  return buffer.use_count() == known ? lender : nullptr;
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  PyObject* lender = sole_lender(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(lender);
  return 0;
}

// Live views keep their own maps; the memory is released with the last of them.
int tensor_clear(PyObject* self) noexcept {
  if (sole_lender(self) == nullptr) return 0;
  Tensor last;
  std::swap(last, nb::inst_ptr<PyTensor>(self)->value);
  return 0;
}

PyType_Slot shared_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&tensor_getbuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&tensor_releasebuffer)},
    {Py_tp_traverse, reinterpret_cast<void*>(&tensor_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&tensor_clear)},
    {0, nullptr},
};
PyType_Slot handle_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&refuse_new)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(&tensor_getbuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&tensor_releasebuffer)},
    {Py_tp_traverse, reinterpret_cast<void*>(&tensor_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&tensor_clear)},
    {0, nullptr},
};

}  // namespace

PyType_Slot* tensor_slots() noexcept {
  return shared_slots;
}

PyType_Slot* tensor_handle_slots() noexcept {
  return handle_slots;
}

}  // namespace halyard::python
