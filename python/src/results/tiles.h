// SPDX-License-Identifier: Apache-2.0
// Value classes of halyard/_tiling.py in C++.
#pragma once

#include <span>

#include "bindings.h"
#include "halyard/compat/tile.h"

namespace halyard::python {

/// Of a TilePlacement. Raises TypeError or InvalidArgumentError naming the field.
compat::TilePlacement placement_from(nb::handle placement);
/// A list of TilePlacement.
nb::list placement_list(std::span<const compat::TilePlacement> placements);
/// Of a TilingConfig. Raises TypeError or InvalidArgumentError naming the field.
compat::TilingConfig tiling_from(nb::handle config);

}  // namespace halyard::python
