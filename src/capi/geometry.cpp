// SPDX-License-Identifier: Apache-2.0
// Rectangles in C.
#include "halyard/hal_base.h"

hal_region hal_region_new(size_t x, size_t y, size_t width, size_t height) {
  return {.x = x, .y = y, .width = width, .height = height};
}
