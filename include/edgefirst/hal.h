// SPDX-License-Identifier: Apache-2.0
// For programs written for EdgeFirst HAL's C interface: the header name that they include, and the
// standard headers that they expect. Installed by the component `compat`.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "halyard/hal.h"
