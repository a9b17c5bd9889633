// SPDX-License-Identifier: Apache-2.0
// Distribution focal loss: the mean of each side's distribution.
#pragma once

#include <array>
#include <span>

namespace halyard::decode {

/// Mean bin of each side's distribution of logits (4 * bins of them): left, top, right, bottom in
/// strides. Li et al., "Generalized focal loss", 2020. `logits` is overwritten.
std::array<float, 4> distances_of_bins(std::span<float> logits) noexcept;

}  // namespace halyard::decode
