// SPDX-License-Identifier: Apache-2.0
// Fills rows with a pattern of any length.
#pragma once

#include <cstddef>
#include <span>

#include "halyard/tensor.h"

namespace halyard::ipc {

/// Repeats `pattern`, of 1..16 bytes, in each row of a plane that is mapped for writing. The length
/// of a row must be a multiple of the pattern's.
void fill_plane(const MappedPlane& plane, std::span<const std::byte> pattern) noexcept;

}  // namespace halyard::ipc
