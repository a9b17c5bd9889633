// SPDX-License-Identifier: Apache-2.0
// What programs written for EdgeFirst HAL call, in C++: its units, defaults and orders of results.
// The C interface (hal.h) and the Python package stand on it; new C++ programs need none of it.
#pragma once

#include "halyard/compat/decode.h"
#include "halyard/compat/draw.h"
#include "halyard/compat/tile.h"
#include "halyard/compat/track.h"
