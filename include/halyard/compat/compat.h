// SPDX-License-Identifier: Apache-2.0
// The C++ interface for programs written for EdgeFirst HAL: its units, defaults and orders of
// results. The C interface (hal.h) and the Python package are built on it; new C++ programs do not
// need it.
#pragma once

#include "halyard/compat/decode.h"
#include "halyard/compat/draw.h"
#include "halyard/compat/tile.h"
#include "halyard/compat/track.h"
