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

}  // namespace halyard::python
