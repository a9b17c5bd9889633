// SPDX-License-Identifier: Apache-2.0
// halyard.Tensor, for other files of the extension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "bindings.h"
#include "halyard/tensor.h"

namespace halyard::python {

/// The content of Python's tensors, the class `_Tensor`: every call takes it, whichever of the
/// classes below an object has. `value` changes in place (set_format, decode_image) and only with
/// the interpreter's lock held: take a copy of it before you release the lock.
struct PyTensor {
  Tensor value;
  /// Exported Python buffers, each with its own map of `value`'s memory.
  std::size_t exports = 0;
  /// Id (Buffer::id()) of the first one's buffer; 0 if a later one has another buffer.
  std::uint64_t exported_id = 0;
};
/// halyard.Tensor: shape, dtype, size and reshape as in NumPy.
struct PyNativeTensor : PyTensor {};
/// halyard.edgefirst.Tensor: as in EdgeFirst HAL. The calls of halyard.edgefirst make it; parts and
/// copies have the class of the tensor that they come from.
struct PyReferenceTensor : PyTensor {};

/// The tensor of `object`, of either class; raises TypeError naming `argument` for anything
/// else.
PyTensor& tensor_object(nb::handle object, const char* argument);
/// The same, null for anything else.
PyTensor* try_tensor_object(nb::handle object) noexcept;

/// A tensor to read from: a Tensor, or any object whose memory can be read without a copy (NumPy
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
