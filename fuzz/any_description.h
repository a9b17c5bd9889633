// SPDX-License-Identifier: Apache-2.0
// Descriptions made from bytes: of the layouts of the tests and of every preset, with or without
// mistakes, or entirely random.
#pragma once

#include "fuzz/source.h"
#include "halyard/description.h"

namespace halyard::fuzz {

/// Valid or not.
ModelDescription any_description(Source& from);

}  // namespace halyard::fuzz
