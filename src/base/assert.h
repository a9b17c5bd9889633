// SPDX-License-Identifier: Apache-2.0
// HALYARD_ASSERT: a broken promise of our own code. Never guards input from outside.
#pragma once

#include <cassert>

#define HALYARD_ASSERT(condition) assert(condition)
