// SPDX-License-Identifier: Apache-2.0
// Fills rows with a pattern of any length.
#pragma once

#include <cstddef>
#include <span>

#include "halyard/tensor.h"

namespace halyard::ipc {

/// Repeats `pattern`, 1..16 bytes, in each row of a plane that is mapped for writing. Rows have a
/// whole number of patterns.
void fill_plane(const MappedPlane& plane, std::span<const std::byte> pattern) noexcept;

}  // namespace halyard::ipc
