// SPDX-License-Identifier: Apache-2.0
// The older half of a program of two generations, and its beginning: plain names mean those of
// 0.24, as in programs that define nothing.
#include <stdio.h>
#include <string.h>

#include "capi/check.h"
#include "capi/layouts.h"
#include "generations.h"

bool is_blue(const hal_tensor* image, size_t x, size_t y) {
  hal_tensor_map* map = hal_tensor_map_create(image);
  const uint8_t* at = (const uint8_t*)hal_tensor_map_data_const(map);
  bool blue = false;
  if (at != NULL) {
    at += y * hal_tensor_row_stride(image) + 3 * x;
    blue = at[0] == 0 && at[1] == 0 && at[2] == 255;
  }
  hal_tensor_map_unmap(map);
  return blue;
}

static void paint_red(hal_tensor* image) {
  hal_tensor_map* map = hal_tensor_map_create(image);
  uint8_t* at = (uint8_t*)hal_tensor_map_data(map);
  size_t i;
  for (i = 0; at != NULL && i < hal_tensor_map_len(map); i += 3) {
    at[i] = 255;
    at[i + 1] = 0;
    at[i + 2] = 0;
  }
  hal_tensor_map_unmap(map);
}

static void the_older_forms_work(const char* path) {
  hal_image_processor* proc = hal_image_processor_new();
  const struct hal_rect part = hal_rect_new(0, 0, 32, 16);
  const hal_rect place = hal_rect_new(8, 8, 16, 16);
  struct hal_crop crop = hal_crop_new();
  hal_tensor* src =
      hal_tensor_new_image(64, 48, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  hal_tensor* dst =
      hal_image_processor_create_image(proc, 32, 32, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8);
  size_t width = 0;
  size_t height = 0;
  CHECK(hal_tensor_decode_image_file(src, path, HAL_PIXEL_FORMAT_RGB, &width, &height) == 0);
  CHECK(width == 64 && height == 48 && hal_tensor_pixel_format(src) == HAL_PIXEL_FORMAT_RGB);
  hal_crop_set_src_rect(&crop, &part);
  hal_crop_set_dst_rect(&crop, &place);
  hal_crop_set_dst_color(&crop, 0, 0, 255, 255);
  CHECK(hal_image_processor_convert(proc, src, dst, HAL_ROTATION_ROTATE90, HAL_FLIP_VERTICAL,
                                    &crop) == 0);
  CHECK(is_blue(dst, 7, 7) && is_blue(dst, 24, 24) && !is_blue(dst, 8, 8) && !is_blue(dst, 23, 23));
  crop = hal_crop_new();
  CHECK(!crop.has_src_rect && !crop.has_dst_rect && !crop.has_dst_color && !crop.letterbox);
  hal_tensor_free(dst);
  hal_tensor_free(src);
  hal_image_processor_free(proc);
}

int main(void) {
  const char* const path = GENERATIONS_FILE;
  hal_tensor* image =
      hal_tensor_new_image(64, 48, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  paint_red(image);
  CHECK(hal_tensor_save_jpeg(image, path, 90) == 0);
  hal_tensor_free(image);
  the_older_forms_work(path);
  CHECK(newer_half(path) == 0);
  CHECK(remove(path) == 0);
  printf("%s: %d failed\n", __FILE__, failures);
  return failures;
}
