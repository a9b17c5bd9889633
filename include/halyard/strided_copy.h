// SPDX-License-Identifier: Apache-2.0
// Copies between arrays of any strides: transposed, with gaps, mirrored.
#pragma once

#include <cstddef>

#include "halyard/export.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Whether the ranges of addresses from the lowest to the highest byte of two arrays meet. Takes
/// the addresses of the first elements. Thread-safe.
bool may_share_bytes(const Layout& a, const std::byte* data_a, const Layout& b,
                     const std::byte* data_b) noexcept;

/// Copies element i in C order of `from` to element i of `to`. Both layouts have the same element
/// size and the same number of elements; their shapes may differ. `source` and `destination` are
/// the addresses of the first elements, and no byte belongs to both. Transposed arrays are copied
/// by blocks, so that each cache line is read once. Thread-safe. Throws std::bad_alloc where the
/// shapes do not divide one another and memory for a copy cannot be had.
void copy_elements(const Layout& from, const std::byte* source, const Layout& to,
                   std::byte* destination);

/// As copy_elements(), for arrays that may share bytes: the result is as if the source had been
/// copied first.
void copy_overlapping_elements(const Layout& from, const std::byte* source, const Layout& to,
                               std::byte* destination);

}  // namespace halyard
HALYARD_EXPORTS_END
