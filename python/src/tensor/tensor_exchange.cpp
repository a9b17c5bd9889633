// SPDX-License-Identifier: Apache-2.0
// Tensor: to and from NumPy and DLPack.
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "args.h"
#include "enums.h"
#include "halyard/dlpack.h"
#include "tensor/array_view.h"
#include "tensor/buffers.h"
#include "tensor/dlpack_capsule.h"
#include "tensor/tensor_class.h"
#include "tensor/tensor_map.h"
#include "values.h"

namespace halyard::python {
namespace {

constexpr std::uint64_t is_copied = 1U << 1;

nb::object tensor_capsule(const PyTensor& self, nb::handle stream, nb::handle max_version,
                          nb::handle dl_device, nb::handle copy) {
  if (!stream.is_none())
    raise(Errc::invalid_argument, "stream: must be None, the memory is the CPU's");
  if (!dl_device.is_none() && !dl_device.equal(nb::make_tuple(1, 0)))
    throw nb::buffer_error("dl_device: only (1, 0), the CPU, is served");
  const bool is_copy = !copy.is_none() && truth_from(copy);
  Tensor tensor = self.value;
  if (tensor.is_empty()) throw nb::buffer_error("tensor: is empty");
  if (is_copy) {
    Tensor own = take_or_buffer_error(Tensor::create(tensor.dtype(), tensor.shape(), Memory::mem));
    const Tensor plain =
        take_or_buffer_error(Tensor::wrap(tensor.buffer(), tensor.layout(), tensor.offset_bytes()));
    const Status copied = released([&] { return halyard::copy(plain, own); });
    if (!copied) throw nb::buffer_error(copied.error().message().c_str());
    tensor = std::move(own);
  }
  if (!is_versioned(max_version))
    return capsule_of(take_or_buffer_error(to_dlpack_unversioned(tensor)));
  DlpackOptions options;
  options.read_only = !tensor.buffer()->is_writable();
  DLManagedTensorVersioned* managed = take_or_buffer_error(to_dlpack(tensor, options));
  if (is_copy) managed->flags |= is_copied;
  return capsule_of(managed);
}

template <class Managed>
Tensor consume(nb::handle capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), capsule_name<Managed>));
  Tensor tensor = take(from_dlpack(managed));
  PyCapsule_SetName(capsule.ptr(), used_name<Managed>);
  return tensor;
}

Tensor from_capsule(nb::handle capsule, const char* argument) {
  if (PyCapsule_IsValid(capsule.ptr(), capsule_name<DLManagedTensorVersioned>) != 0)
    return consume<DLManagedTensorVersioned>(capsule);
  if (PyCapsule_IsValid(capsule.ptr(), capsule_name<DLManagedTensor>) != 0)
    return consume<DLManagedTensor>(capsule);
  raise(Errc::invalid_argument,
        std::string(argument) + ": must be a DLPack capsule that was not used before");
}

nb::object capsule_from(nb::handle producer) {
  PyObject* method = PyObject_GetAttrString(producer.ptr(), "__dlpack__");
  if (method == nullptr) throw nb::python_error();
  const nb::object call = nb::steal(method);
  try {
    return call(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return call();
}

Tensor tensor_of_dlpack(nb::handle object, const char* argument) {
  if (PyCapsule_CheckExact(object.ptr()) != 0) return from_capsule(object, argument);
  if (!has_attribute(object, "__dlpack__"))
    raise_wrong_type(argument, "an object with __dlpack__", object);
  return from_capsule(capsule_from(object), argument);
}

// DLPack may give such strides; NumPy's arrays with them are read-only here.
void check_destination(const Tensor& tensor, const char* argument) {
  if (may_overlap_itself(tensor.layout()))
    raise(Errc::permission,
          std::string(argument) + ": its elements share bytes, so it cannot be written to");
}

Tensor tensor_of(nb::handle object, const char* argument, bool to_write) {
  if (const PyTensor* tensor = try_tensor_object(object)) {
    if (to_write) check_destination(tensor->value, argument);
    return tensor->value;
  }
  Tensor found;
  if (PyObject_CheckBuffer(object.ptr()) != 0 && !PyBytes_Check(object.ptr()))
    found = wrap_buffer(object, argument, to_write);
  else if (has_attribute(object, "__dlpack__"))
    found = tensor_of_dlpack(object, argument);
  else if (const nb::object array = array_of_interface(object, argument); array.is_valid())
    found = wrap_buffer(array, argument, to_write);
  else
    raise_wrong_type(argument, "a Tensor, or an array with a buffer or DLPack", object);
  if (to_write && !found.buffer()->is_writable())
    raise(Errc::permission, std::string(argument) + ": its memory is read-only");
  if (to_write) check_destination(found, argument);
  return found;
}

// bfloat16 has no buffer: its bits are viewed, then given the dtype.
nb::object array_of_bfloat16(const Tensor& tensor) {
  const nb::object type = bfloat16_type();
  Layout layout = tensor.layout();
  layout.dtype = DType::u16;
  const nb::object bits =
      tensor_result(take(Tensor::wrap(tensor.buffer(), layout, tensor.offset_bytes())));
  return nb::module_::import_("numpy").attr("asarray")(bits).attr("view")(type);
}

nb::object to_array(nb::handle self, nb::handle dtype, nb::handle copy) {
  const Tensor tensor = instance_of<PyTensor>(self).value;
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array;
  if (tensor.dtype() == DType::bf16) {
    array = array_of_bfloat16(tensor);
  } else {
    PyObject* view = PyMemoryView_FromObject(self.ptr());
    if (view == nullptr) throw nb::python_error();
    array = numpy.attr("asarray")(nb::steal(view));
  }
  return array_result(array, dtype, copy);
}

template <class Kind>
nb::object from_array(nb::handle array, bool copy) {
  Tensor seen = tensor_to_read(array, "array");
  if (!copy) return tensor_result<Kind>(std::move(seen));
  return tensor_result<Kind>(std::move(seen)).attr("copy")();
}

void add_numpy(TensorClass& cls) {
  cls.def("__array__", &to_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) "
                  "-> numpy.ndarray"),
          "The elements as a NumPy array; without a copy unless another dtype is requested.")
      .def("__dlpack__", &tensor_capsule, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none(),
           nb::sig("def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | "
                   "None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = "
                   "None) -> Any"),
           "A DLPack capsule on the CPU. Raises BufferError if the tensor cannot be exported.")
      .def(
          "__dlpack_device__", [](const PyTensor&) { return nb::make_tuple(1, 0); },
          "(1, 0): the CPU.");
}

template <class Kind>
void def_imports(nb::class_<Kind, PyTensor>& cls) {
  cls.def_static(
         "from_dlpack", [](nb::handle x) { return tensor_result<Kind>(tensor_of_dlpack(x, "x")); },
         nb::arg("x"), nb::sig("def from_dlpack(x: Any) -> Tensor"),
         "A tensor over another library's memory (PyTorch, JAX, NumPy), without a copy. CPU only.")
      .def_static("from_array", &from_array<Kind>, nb::arg("array"), nb::arg("copy") = false,
                  nb::sig("def from_array(array: Any, copy: bool = False) -> Tensor"),
                  "A tensor over the memory of an array: of NumPy, or any object with a buffer,\n"
                  "DLPack or NumPy's array interface. With `copy`, a tensor with its own memory. "
                  "Memory whose\n"
                  "elements share bytes is read-only. Set the image format by set_format().");
}

}  // namespace

template <class Class>
void add_imports(Class& cls) {
  def_imports(cls);
}
template void add_imports(NativeTensorClass& cls);
template void add_imports(ReferenceTensorClass& cls);

nb::object bfloat16_type() {
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    raise(Errc::unsupported, "tensor: NumPy has no bfloat16 without the package ml_dtypes");
  }
}

nb::object array_result(const nb::object& array, nb::handle dtype, nb::handle copy) {
  const bool must_copy = !copy.is_none() && truth_from(copy);
  const nb::module_ numpy = nb::module_::import_("numpy");
  if (!dtype.is_none() && !array.attr("dtype").equal(numpy.attr("dtype")(dtype))) {
    if (!copy.is_none() && !must_copy)
      throw nb::value_error("copy: False, but another dtype needs a copy");
    return array.attr("astype")(dtype);
  }
  return must_copy ? array.attr("copy")() : array;
}

Tensor tensor_to_read(nb::handle object, const char* argument) {
  return tensor_of(object, argument, false);
}

Tensor tensor_to_write(nb::handle object, const char* argument) {
  return tensor_of(object, argument, true);
}

void add_exchange(TensorClass& cls) {
  add_numpy(cls);
}

}  // namespace halyard::python
