// SPDX-License-Identifier: Apache-2.0
// Arrays of NumPy, and tensors, as elements to copy.
#include "tensor/strided_array.h"

#include <string>

#include "halyard/strided_copy.h"
#include "tensor/tensor.h"

namespace halyard::python {

StridedArray::StridedArray(nb::handle object, const char* argument) {
  const bool is_array = try_tensor_object(object) == nullptr && !PyBytes_Check(object.ptr());
  if (is_array && array_.open(object, argument, ArrayUse::read)) {
    layout_ = array_.layout(argument);
    data_ = array_.data();
    return;
  }
  tensor_ = tensor_to_read(object, argument);
  map_ = take(tensor_.map_unclaimed(Access::read));
  if (!map_.planes_adjacent())
    raise(Errc::unsupported, std::string(argument) + ": its planes lie in several places");
  layout_ = map_.layout();
  data_ = map_.data();
}

bool StridedArray::shares_bytes(const Tensor& tensor, const TensorMap& map) const {
  // One kernel object may be mapped at several addresses.
  if (!tensor_.is_empty() && aliases(tensor_, tensor)) return true;
  return may_share_bytes(layout_, data_, map.layout(), map.data());
}

}  // namespace halyard::python
