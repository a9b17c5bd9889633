// SPDX-License-Identifier: Apache-2.0
// Compares shapes of tensors and descriptions.
#include "decode/matching.h"

namespace halyard::decode {

std::optional<std::size_t> missing_axes(const Tensor& tensor, std::span<const std::size_t> shape,
                                        std::optional<std::size_t> batch_axis) {
  if (tensor.rank() > shape.size()) return std::nullopt;
  const std::size_t missing = shape.size() - tensor.rank();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i < missing ? shape[i] != 1 : batch_axis != i && tensor.shape()[i - missing] != shape[i])
      return std::nullopt;
  }
  return missing;
}

std::size_t batch_extent(const Tensor& tensor, std::optional<std::size_t> batch_axis,
                         std::size_t missing) {
  return batch_axis && *batch_axis >= missing ? tensor.shape()[*batch_axis - missing] : 1;
}

}  // namespace halyard::decode
