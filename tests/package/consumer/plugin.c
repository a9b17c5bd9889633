/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object over the forms of 0.27, beside a program that uses those of 0.24. */
#define HAL_API_VERSION 27
#ifdef WITH_EDGEFIRST
#include <edgefirst/hal.h>
#else
#include <halyard/hal.h>
#endif

int plugin_width(void);

int plugin_width(void) {
  hal_tensor* made = hal_tensor_new_image(24, 8, HAL_PIXEL_FORMAT_GREY, HAL_DTYPE_U8,
                                          HAL_TENSOR_MEMORY_MEM, HAL_CPU_ACCESS_READ_WRITE);
  const int width = (int)hal_tensor_width(made);
  hal_tensor_free(made);
  return width;
}
