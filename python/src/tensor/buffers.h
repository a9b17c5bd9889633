// SPDX-License-Identifier: Apache-2.0
// Python's buffer protocol (PEP 3118), from tensors and to tensors.
#pragma once

#include <cstddef>
#include <memory>

#include "bindings.h"
#include "halyard/tensor.h"

namespace halyard::python {

/// A mapping that views share: it is released when the last of them is. Constructed in place,
/// because it is a large object. Raises the errors of Tensor::map().
struct SharedMap {
  SharedMap(const Tensor& tensor, Access access)
      : opened(tensor.map_unclaimed(access)), map(checked(opened)) {}
  SharedMap(const SharedMap&) = delete;
  SharedMap& operator=(const SharedMap&) = delete;
  Result<TensorMap> opened;
  const TensorMap& map;
  std::size_t views = 0;  ///< exported buffers; changed with the interpreter's lock held

 private:
  static const TensorMap& checked(const Result<TensorMap>& result) {
    if (!result) raise(result.error());
    return *result;
  }
};

/// Fills `view` for the elements of `map` as the flags require; `view.internal` keeps `map` until
/// release_view(). Returns 0, or -1 with BufferError set. With `bits`, elements of bfloat16 are
/// shown as uint16, as they are stored.
int fill_view(PyObject* exporter, Py_buffer* view, int flags, const std::shared_ptr<SharedMap>& map,
              bool bits = false) noexcept;
/// The same for the first size_bytes() bytes as a flat run of bytes, whatever the padding.
/// BufferError if elements do not follow one another in C order (negative, zero or transposed
/// strides): such a run would leave the tensor's bytes.
int fill_flat_view(PyObject* exporter, Py_buffer* view, int flags,
                   const std::shared_ptr<SharedMap>& map) noexcept;
void release_view(PyObject* exporter, Py_buffer* view) noexcept;

/// Maps for reading and writing, or only for reading if the memory is read-only, without a
/// claim. Raises the errors of Tensor::map().
std::shared_ptr<SharedMap> map_shared(const Tensor& tensor);

/// A tensor over the memory of an object with a buffer, which stays exported as long as somebody
/// uses the bytes. Raises InvalidArgumentError or UnsupportedError naming `argument`: byte order,
/// element type, axes. With `to_write`, AccessError if the memory is read-only or elements share
/// bytes; without it such memory is wrapped read-only.
Tensor wrap_buffer(nb::handle object, const char* argument, bool to_write);

/// The object whose export a buffer of wrap_buffer() holds, borrowed; null for other buffers, and
/// for objects that the garbage collector does not know. The buffer owns one reference.
PyObject* lender_of(const Buffer& buffer) noexcept;

}  // namespace halyard::python
