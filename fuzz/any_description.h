// SPDX-License-Identifier: Apache-2.0
// Descriptions drawn from bytes: of the layouts that the tests know and of every preset, with or
// without mistakes put into them, and of nothing but chance.
#pragma once

#include "fuzz/source.h"
#include "halyard/description.h"

namespace halyard::fuzz {

/// Valid or not.
ModelDescription any_description(Source& from);

}  // namespace halyard::fuzz
