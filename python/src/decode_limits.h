// SPDX-License-Identifier: Apache-2.0
// The argument `limits` of every call that decodes.
#pragma once

#include "bindings.h"
#include "halyard/codec.h"

namespace halyard::python {

/// None: the process's limits. Raises TypeError for anything except a DecodeLimits.
DecodeLimits limits_from(nb::handle object);

}  // namespace halyard::python
