// SPDX-License-Identifier: Apache-2.0
// HALYARD_ASSERT: checks an invariant of our own code. It never guards input from outside.
#pragma once

#include <cassert>

#define HALYARD_ASSERT(condition) assert(condition)
