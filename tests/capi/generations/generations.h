// SPDX-License-Identifier: Apache-2.0
// What the two halves of a program of two generations call of each other.
#pragma once

#include <stdlib.h>

#include "halyard/hal.h"

/// How many of its checks failed.
int newer_half(const char* path);
bool is_blue(const hal_tensor* image, size_t x, size_t y);
