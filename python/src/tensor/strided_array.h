// SPDX-License-Identifier: Apache-2.0
// Arrays of any strides that Python code hands over to be copied.
#pragma once

#include <cstddef>

#include "bindings.h"
#include "halyard/tensor.h"
#include "tensor/array_view.h"

namespace halyard::python {

/// An array of NumPy or any other buffer, exported while this lives. Unlike wrap_buffer() it takes
/// elements at any address. Raises TypeError or InvalidArgumentError naming `argument`.
class StridedArray {
 public:
  StridedArray(nb::handle object, const char* argument);
  StridedArray(const StridedArray&) = delete;
  StridedArray& operator=(const StridedArray&) = delete;
  const Layout& layout() const { return layout_; }
  const std::byte* data() const { return data_; }
  /// Whether an element may share a byte with an element of `tensor`, which `map` maps.
  bool shares_bytes(const Tensor& tensor, const TensorMap& map) const;

 private:
  ArrayView array_;
  Tensor tensor_;
  TensorMap map_;
  Layout layout_;
  const std::byte* data_ = nullptr;
};

<<<<<<< HEAD:python/src/tensor/strided_array.h
=======
/// Copies element i of `from` to element i of `to`, in C order; dtypes and counts are equal, memory
/// is disjoint. Transposed arrays are copied in blocks, so that each cache line is read once.
void copy_in_order(const Layout& from, const std::byte* source, const Layout& to,
                   std::byte* destination);
/// The same if source and destination may share bytes: as if the source had been copied first.
void copy_overlapping(const Layout& from, const std::byte* source, const Layout& to,
                      std::byte* destination);

>>>>>>> prose8:python/src/tensor/strided_copy.h
}  // namespace halyard::python
