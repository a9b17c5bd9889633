// SPDX-License-Identifier: Apache-2.0
// A program in C that asks for OpenGL: the same pixels as on the CPU, within 1, in every way in
// which the interface converts. Exits with 77 where there is no OpenGL; with the argument `probe`
// it does nothing else.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <halyard/hal.h>

#include "capi/check.h"

enum { src_width = 64, src_height = 48, dst_width = 40, dst_height = 36 };

static hal_image_processor* gpu;
static hal_image_processor* cpu;

static hal_tensor* new_image(size_t width, size_t height, hal_pixel_format format,
                             hal_dtype dtype) {
  return hal_tensor_new_image(width, height, format, dtype, HAL_TENSOR_MEMORY_MEM);
}

// Noise, always the same.
static void fill(hal_tensor* image) {
  hal_tensor_map* map = hal_tensor_map_create(image);
  uint8_t* at = (uint8_t*)hal_tensor_map_data(map);
  uint32_t state = 12345;
  size_t i;
  CHECK(at != NULL);
  for (i = 0; at != NULL && i < hal_tensor_map_size(map); ++i) {
    state = state * 1664525U + 1013904223U;
    at[i] = (uint8_t)(state >> 24);
  }
  hal_tensor_map_unmap(map);
}

// The greatest difference in codes; images of one kind.
static double difference(const hal_tensor* a, const hal_tensor* b) {
  hal_tensor_map* left = hal_tensor_map_create(a);
  hal_tensor_map* right = hal_tensor_map_create(b);
  double worst = 0;
  CHECK(left != NULL && right != NULL);
  if (left != NULL && right != NULL) {
    const size_t count = hal_tensor_map_size(left);
    size_t i;
    CHECK(count == hal_tensor_map_size(right) && count > 0);
    if (hal_tensor_dtype(a) == HAL_DTYPE_F32) {
      const float* l = (const float*)hal_tensor_map_data_const(left);
      const float* r = (const float*)hal_tensor_map_data_const(right);
      for (i = 0; i < count / 4; ++i) {
        const double off = 255 * ((double)l[i] - (double)r[i]);
        if (off > worst || -off > worst) worst = off < 0 ? -off : off;
      }
    } else {
      const bool is_signed = hal_tensor_dtype(a) == HAL_DTYPE_I8;
      const uint8_t* l = (const uint8_t*)hal_tensor_map_data_const(left);
      const uint8_t* r = (const uint8_t*)hal_tensor_map_data_const(right);
      for (i = 0; i < count; ++i) {
        const int off = is_signed ? (int8_t)l[i] - (int8_t)r[i] : l[i] - r[i];
        if (off > worst || -off > worst) worst = off < 0 ? -off : off;
      }
    }
  }
  hal_tensor_map_unmap(left);
  hal_tensor_map_unmap(right);
  return worst;
}

static bool runs_on_gpu(const hal_tensor* src, const hal_tensor* dst) {
  char* text = hal_processor_explain(gpu, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, NULL);
  const bool out = text != NULL && strstr(text, "opengl: runs it") == text;
  free(text);
  return out;
}

static void check_pair(hal_pixel_format from, hal_pixel_format to, hal_dtype dtype,
                       hal_rotation rotation, hal_flip flip, const hal_crop* crop) {
  hal_tensor* src = new_image(src_width, src_height, from, HAL_DTYPE_U8);
  hal_tensor* by_gpu = new_image(dst_width, dst_height, to, dtype);
  hal_tensor* by_cpu = new_image(dst_width, dst_height, to, dtype);
  CHECK(src != NULL && by_gpu != NULL && by_cpu != NULL);
  fill(src);
  CHECK(runs_on_gpu(src, by_gpu));
  CHECK(hal_image_processor_convert(gpu, src, by_gpu, rotation, flip, crop) == 0);
  CHECK(hal_image_processor_convert(cpu, src, by_cpu, rotation, flip, crop) == 0);
  CHECK(difference(by_gpu, by_cpu) <= 1);
  hal_tensor_free(by_cpu);
  hal_tensor_free(by_gpu);
  hal_tensor_free(src);
}

static void formats_and_dtypes_agree(void) {
  const hal_pixel_format sources[] = {
      HAL_PIXEL_FORMAT_NV12, HAL_PIXEL_FORMAT_NV16, HAL_PIXEL_FORMAT_YUYV, HAL_PIXEL_FORMAT_RGB,
      HAL_PIXEL_FORMAT_RGBA, HAL_PIXEL_FORMAT_BGRA, HAL_PIXEL_FORMAT_GREY};
  const hal_pixel_format targets[] = {HAL_PIXEL_FORMAT_RGB, HAL_PIXEL_FORMAT_RGBA,
                                      HAL_PIXEL_FORMAT_BGRA, HAL_PIXEL_FORMAT_GREY,
                                      HAL_PIXEL_FORMAT_PLANAR_RGB};
  size_t i;
  size_t k;
  for (i = 0; i < sizeof sources / sizeof *sources; ++i)
    for (k = 0; k < sizeof targets / sizeof *targets; ++k)
      check_pair(sources[i], targets[k], HAL_DTYPE_U8, HAL_ROTATION_NONE, HAL_FLIP_NONE, NULL);
  check_pair(HAL_PIXEL_FORMAT_NV12, HAL_PIXEL_FORMAT_PLANAR_RGB, HAL_DTYPE_F32, HAL_ROTATION_NONE,
             HAL_FLIP_NONE, NULL);
  check_pair(HAL_PIXEL_FORMAT_NV12, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_I8, HAL_ROTATION_NONE,
             HAL_FLIP_NONE, NULL);
}

static void turns_and_crops_agree(void) {
  const hal_rotation rotations[] = {HAL_ROTATION_NONE, HAL_ROTATION_ROTATE90,
                                    HAL_ROTATION_ROTATE180, HAL_ROTATION_ROTATE270};
  const hal_flip flips[] = {HAL_FLIP_NONE, HAL_FLIP_VERTICAL, HAL_FLIP_HORIZONTAL};
  const hal_rect part = hal_rect_new(8, 4, 30, 20);
  const hal_rect place = hal_rect_new(4, 6, 24, 20);
  hal_crop crop = hal_crop_new();
  size_t i;
  size_t k;
  hal_crop_set_src_rect(&crop, &part);
  hal_crop_set_dst_rect(&crop, &place);
  hal_crop_set_dst_color(&crop, 114, 90, 70, 255);
  for (i = 0; i < 4; ++i) {
    for (k = 0; k < 3; ++k) {
      check_pair(HAL_PIXEL_FORMAT_NV12, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, rotations[i], flips[k],
                 NULL);
      check_pair(HAL_PIXEL_FORMAT_RGBA, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, rotations[i], flips[k],
                 &crop);
    }
  }
}

// Images where the processor reaches them, and requests that wait for flush().
static void own_images_and_queues_agree(void) {
  hal_tensor* src = hal_image_processor_create_image(gpu, src_width, src_height,
                                                     HAL_PIXEL_FORMAT_NV12, HAL_DTYPE_U8);
  hal_tensor* by_gpu[3];
  hal_tensor* by_cpu = new_image(dst_width, dst_height, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8);
  int fence = 0;
  int i;
  CHECK(src != NULL && by_cpu != NULL);
  fill(src);
  for (i = 0; i < 3; ++i) {
    by_gpu[i] = hal_image_processor_create_image(gpu, dst_width, dst_height, HAL_PIXEL_FORMAT_RGB,
                                                 HAL_DTYPE_U8);
    CHECK(by_gpu[i] != NULL);
  }
  CHECK(hal_tensor_memory_type(by_gpu[0]) == HAL_TENSOR_MEMORY_PBO ||
        hal_tensor_memory_type(by_gpu[0]) == HAL_TENSOR_MEMORY_DMA);
  CHECK(hal_image_processor_convert(cpu, src, by_cpu, HAL_ROTATION_NONE, HAL_FLIP_NONE, NULL) == 0);
  for (i = 0; i < 2; ++i) {
    CHECK(hal_image_processor_convert_deferred(gpu, src, by_gpu[i], HAL_ROTATION_NONE,
                                               HAL_FLIP_NONE, NULL) == 0);
  }
  CHECK(hal_image_processor_flush(gpu) == 0);
  CHECK(hal_image_processor_convert_fence(gpu, src, by_gpu[2], HAL_ROTATION_NONE, HAL_FLIP_NONE,
                                          NULL, &fence) == 0);
  if (fence < 0) CHECK(difference(by_gpu[2], by_cpu) <= 1);
  for (i = 0; i < 2; ++i)
    CHECK(difference(by_gpu[i], by_cpu) <= 1);
  for (i = 0; i < 3; ++i)
    hal_tensor_free(by_gpu[i]);
  hal_tensor_free(by_cpu);
  hal_tensor_free(src);
}

int main(int argc, char** argv) {
  gpu = hal_image_processor_new_with_backend(HAL_COMPUTE_BACKEND_OPENGL);
  if (gpu == NULL) {
    printf("%s\n", hal_last_error());
    return 77;
  }
  if (argc < 2 || strcmp(argv[1], "probe") != 0) {
    cpu = hal_image_processor_new_with_backend(HAL_COMPUTE_BACKEND_CPU);
    CHECK(cpu != NULL);
    formats_and_dtypes_agree();
    turns_and_crops_agree();
    own_images_and_queues_agree();
    hal_image_processor_free(cpu);
    printf("%s: %d failed\n", __FILE__, failures);
  }
  hal_image_processor_free(gpu);
  return failures == 0 ? 0 : 1;
}
