// SPDX-License-Identifier: Apache-2.0
// A check for test programs in C: prints what failed; main() returns the count.
#pragma once

#include <stdio.h>

static int failures;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)
