// SPDX-License-Identifier: Apache-2.0
// How far a tensor may differ from the described shape.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "halyard/description.h"
#include "halyard/tensor.h"

namespace halyard::decode {

/// Number of leading axes of extent 1 that the tensor lacks. Empty if the shapes differ otherwise,
/// except in the batch extent.
std::optional<std::size_t> missing_axes(const Tensor& tensor, std::span<const std::size_t> shape,
                                        std::optional<std::size_t> batch_axis);

/// Batch extent of a tensor that lacks `missing` axes; 1 if it has no batch axis.
std::size_t batch_extent(const Tensor& tensor, std::optional<std::size_t> batch_axis,
                         std::size_t missing);

/// One table of priors serves all images of a batch.
inline bool is_shared(OutputRole role, std::size_t extent) noexcept {
  return role == OutputRole::priors && extent == 1;
}

}  // namespace halyard::decode
