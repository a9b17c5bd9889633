// SPDX-License-Identifier: Apache-2.0
// halyard.Tensor as other files of the extension see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "bindings.h"
#include "halyard/tensor.h"

namespace halyard::python {

/// What Python's tensors hold, the class `_Tensor`: every call takes it, whichever of the classes
/// below an object has. `value` changes in place (set_format, decode_image) and only under the
/// interpreter's lock: take a copy of it before you release the lock.
struct PyTensor {
  Tensor value;
  /// Buffers of Python that are out, each with a map of `value`'s memory of its own.
  std::size_t exports = 0;
  /// What the first of them lies over (Buffer::id()); 0 where a later one lies over another buffer.
  std::uint64_t exported_id = 0;
};
/// halyard.Tensor: shape, dtype, size and reshape as NumPy has them.
struct PyNativeTensor : PyTensor {};
/// halyard.edgefirst.Tensor: as EdgeFirst HAL has them. The calls of halyard.edgefirst make it, and
/// parts and copies are of the class of what they are taken from.
struct PyReferenceTensor : PyTensor {};

/// The tensor behind `object`, of either class; raises TypeError naming `argument` for anything
/// else.
PyTensor& tensor_object(nb::handle object, const char* argument);
/// The same, null for anything else.
PyTensor* try_tensor_object(nb::handle object) noexcept;

/// A tensor to read from: a Tensor, or any object whose memory can be seen without a copy (NumPy
/// arrays and other buffers, DLPack on the CPU). It keeps the memory alive. Raises TypeError or
/// InvalidArgumentError naming `argument`.
Tensor tensor_to_read(nb::handle object, const char* argument);
/// A tensor to write to; read-only memory raises AccessError.
Tensor tensor_to_write(nb::handle object, const char* argument);

/// A new tensor of one of the classes.
template <class Kind = PyNativeTensor>
nb::object tensor_result(Tensor&& tensor) {
  nb::object made = nb::inst_alloc(nb::type<Kind>());
  new (nb::inst_ptr<Kind>(made)) Kind{{std::move(tensor)}};
  nb::inst_mark_ready(made);
  return made;
}

}  // namespace halyard::python
