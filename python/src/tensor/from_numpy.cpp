// SPDX-License-Identifier: Apache-2.0
// Tensor.from_numpy: copies elements of any strided array into a tensor, in C order.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "enums.h"
#include "halyard/strided_copy.h"
#include "tensor/strided_array.h"
#include "tensor/tensor_class.h"

namespace halyard::python {
namespace {

// Releasing the interpreter costs a tenth of a microsecond: not worth it for less than this.
constexpr std::size_t worth_releasing = 16384;

void copy_from_numpy(PyTensor& self, nb::handle source) {
  const Tensor destination = self.value;
  if (destination.is_empty()) raise(Errc::invalid_argument, "tensor: is empty");
  if (may_overlap_itself(destination.layout()))
    raise(Errc::permission, "tensor: its elements share bytes, so it cannot be written to");
  const StridedArray array(source, "src");
  if (array.layout().dtype != destination.dtype())
    raise(Errc::invalid_argument, std::string("src: must have the tensor's dtype ") +
                                      dtype_name(destination.dtype()) + " (" +
                                      dtype_name(array.layout().dtype) + ")");
  const std::size_t count = array.layout().element_count();
  if (count != destination.element_count())
    raise(Errc::invalid_argument, "src: must have as many elements as the tensor, " +
                                      std::to_string(destination.element_count()) + " (" +
                                      std::to_string(count) + ")");
  const auto run = [&]() -> Status {
    HALYARD_TRY(const TensorMap map, destination.map_unclaimed(Access::write));
    if (!map.planes_adjacent())
      return make_error(Errc::unsupported, "tensor: its planes lie in several places");
    const auto copy =
        array.shares_bytes(destination, map) ? &copy_overlapping_elements : &copy_elements;
    copy(array.layout(), array.data(), map.layout(), map.writable());
    return {};
  };
  check(destination.size_bytes() < worth_releasing ? run() : released(run));
}

}  // namespace

void add_copies(TensorClass& cls) {
  cls.def(
      "from_numpy", &copy_from_numpy, nb::arg("src"),
      nb::sig("def from_numpy(self, src: ArrayLike) -> None"),
      "Copies the elements of an array, of any strides, into this tensor. Count and dtype must\n"
      "be the tensor's; the shape may differ. The array may share bytes with the tensor: the\n"
      "result is as if it had been copied first. Raises RuntimeError if count or dtype differ,\n"
      "TypeError for other objects. The interpreter is released meanwhile.");
}

}  // namespace halyard::python
