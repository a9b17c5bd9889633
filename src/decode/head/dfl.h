// SPDX-License-Identifier: Apache-2.0
// Distribution focal loss: decodes a box from four distributions.
#pragma once

#include <array>
#include <span>

namespace halyard::decode {

/// Mean bin of each side's distribution, from 4 * bins logits: left, top, right, bottom in strides.
/// Li et al., "Generalized focal loss", 2020. Overwrites `logits`.
std::array<float, 4> distances_of_bins(std::span<float> logits) noexcept;

}  // namespace halyard::decode
