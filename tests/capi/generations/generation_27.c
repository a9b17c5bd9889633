// SPDX-License-Identifier: Apache-2.0
// The newer half of a program of two generations: plain names mean those of 0.27.
#define HAL_API_VERSION 27
#include "capi/check.h"
#include "capi/layouts.h"
#include "generations.h"

// A red image in the middle of a blue letterbox.
int newer_half(const char* path) {
  hal_image_processor* proc = hal_image_processor_new_with_backend(HAL_COMPUTE_BACKEND_CPU);
  const hal_region half = hal_region_new(0, 0, 32, 16);
  struct hal_crop crop = hal_crop_new();
  hal_tensor* src = hal_tensor_new_image(64, 48, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8,
                                         HAL_TENSOR_MEMORY_MEM, HAL_CPU_ACCESS_READ_WRITE);
  hal_tensor* dst = hal_image_processor_create_image(proc, 32, 32, HAL_PIXEL_FORMAT_RGB,
                                                     HAL_DTYPE_U8, HAL_CPU_ACCESS_READ);
  size_t width = 0;
  size_t height = 0;
  uint16_t degrees = 1;
  bool mirrored = true;
  char* text = NULL;
  int fence = 7;
  CHECK(hal_tensor_decode_image_file(src, path, &width, &height, &degrees, &mirrored) == 0);
  CHECK(width == 64 && height == 48 && degrees == 0 && !mirrored);
  CHECK(hal_tensor_pixel_format(src) == HAL_PIXEL_FORMAT_NV12);
  hal_crop_set_source(&crop, &half);
  hal_crop_set_letterbox(&crop, 0, 0, 255, 255);
  CHECK(crop.fit == HAL_FIT_LETTERBOX && crop.has_source && crop.source.height == 16);
  CHECK(hal_image_processor_convert(proc, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, &crop) == 0);
  CHECK(hal_image_processor_convert_deferred(proc, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE,
                                             &crop) == 0);
  CHECK(hal_image_processor_flush(proc) == 0);
  CHECK(hal_image_processor_convert_fence(proc, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, &crop,
                                          &fence) == 0);
  CHECK(fence == -1);
  CHECK(is_blue(dst, 0, 0) && !is_blue(dst, 16, 16) && is_blue(dst, 16, 31));
  text = hal_processor_explain(proc, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, NULL);
  CHECK(text != NULL && text[0] != '\0');
  free(text);
  hal_tensor_free(dst);
  hal_tensor_free(src);
  hal_image_processor_free(proc);
  return failures;
}
