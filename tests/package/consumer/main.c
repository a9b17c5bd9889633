/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of an installed Halyard, seen by a C99 program: one image through it. */
#ifdef WITH_EDGEFIRST
#include <edgefirst/hal.h>
#else
#include <halyard/hal.h>
#endif
#include <stdio.h>
#include <string.h>

int plugin_width(void);

int main(void) {
  hal_image_processor* processor = hal_image_processor_new();
  hal_tensor* from =
      hal_tensor_new_image(64, 48, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  hal_tensor* to =
      hal_tensor_new_image(32, 32, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  if (!processor || !from || !to) return 1;
  if (hal_image_processor_convert(processor, from, to, HAL_ROTATION_NONE, HAL_FLIP_NONE, NULL))
    return 2;
  if (hal_tensor_new_image(0, 48, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM) ||
      strlen(hal_last_error()) == 0)
    return 3;
#ifdef WITH_PLUGIN
  if (plugin_width() != 24) return 4;
#endif
  printf("width %d\n", (int)hal_tensor_width(to));
  hal_tensor_free(to);
  hal_tensor_free(from);
  hal_image_processor_free(processor);
  return 0;
}
