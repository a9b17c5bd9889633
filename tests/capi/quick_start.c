// SPDX-License-Identifier: Apache-2.0
// Programs as their documents show them, with their own include: the quick start, and the cache of
// imported camera buffers by inode. Only what the documents leave open is filled in.
#define _POSIX_C_SOURCE 200809L
#include <edgefirst/hal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { w = 64, h = 48 };

// clang-format off
static void quick_start(const char *path, uint8_t *pixel) {
struct hal_image_processor *proc = hal_image_processor_new();
struct hal_tensor *src = hal_tensor_load_file(path, HAL_PIXEL_FORMAT_RGB);
struct hal_tensor *dst = hal_image_processor_create_image(
proc, 640, 640, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8);
hal_image_processor_convert(proc, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, NULL);

hal_tensor_map *map = hal_tensor_map_create(dst);
CHECK(src && dst && map);
CHECK(hal_tensor_width(dst) == 640 && hal_tensor_height(dst) == 640);
if (map) memcpy(pixel, (const uint8_t *)hal_tensor_map_data_const(map)
                + 320 * hal_tensor_row_stride(dst) + 3 * 320, 3);
hal_tensor_map_unmap(map);
hal_tensor_free(dst);
hal_tensor_free(src);
hal_image_processor_free(proc);
}

typedef struct { ino_t inode; size_t offset; } BufferKey;
typedef struct { BufferKey key; struct hal_tensor *tensor; } Entry;
typedef struct { Entry entries[4]; int used; int imports; } Cache;

static struct hal_tensor *lookup_tensor(Cache *cache, const BufferKey *key) {
  int i;
  for (i = 0; i < cache->used; ++i)
    if (cache->entries[i].key.inode == key->inode && cache->entries[i].key.offset == key->offset)
      return cache->entries[i].tensor;
  return NULL;
}

static void insert_tensor(Cache *cache, const BufferKey *key, struct hal_tensor *tensor) {
  cache->entries[cache->used].key = *key;
  cache->entries[cache->used++].tensor = tensor;
  ++cache->imports;
}

static void frames(struct hal_image_processor *proc, Cache *cache, const int *fds, int count,
                   size_t plane_offset, struct hal_tensor *dst) {
for (int i = 0; i < count; ++i) {
const int fd = fds[i];
struct stat st;
if (fstat(fd, &st) != 0) continue;
BufferKey key = { .inode = st.st_ino, .offset = plane_offset };
struct hal_tensor *tensor = lookup_tensor(cache, &key);
if (!tensor) {
struct hal_plane_descriptor *pd = hal_plane_descriptor_new(fd);
if (!pd) { perror("hal_plane_descriptor_new"); continue; }
tensor = hal_import_image(proc, pd, NULL, w, h,
HAL_PIXEL_FORMAT_NV12, HAL_DTYPE_U8);
// pd is consumed by hal_import_image (success or failure)
if (!tensor) { perror("hal_import_image"); continue; }
insert_tensor(cache, &key, tensor);
}
CHECK(hal_image_processor_convert(proc, tensor, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, NULL) == 0);
}
}
// clang-format on

static void fill(struct hal_tensor* tensor, int value) {
  hal_tensor_map* map = hal_tensor_map_create(tensor);
  CHECK(map != NULL);
  if (map != NULL) memset(hal_tensor_map_data(map), value, hal_tensor_map_size(map));
  hal_tensor_map_unmap(map);
}

// The documents' third program; they record into the system's folder for temporary files.
static void a_trace_is_recorded(const char* file) {
  struct stat st;
  hal_start_tracing("trace.json");
  quick_start(file, (uint8_t[3]){0});
  hal_stop_tracing();
  CHECK(stat("trace.json", &st) == 0 && st.st_size > 100);
  unlink("trace.json");
}

static void the_quick_start_converts_a_file(void) {
  const char* const path = "quick_start.jpg";
  uint8_t pixel[3] = {0, 0, 0};
  struct hal_tensor* image =
      hal_tensor_new_image(w, h, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  fill(image, 200);
  CHECK(hal_tensor_save_jpeg(image, path, 95) == 0);
  hal_tensor_free(image);
  quick_start(path, pixel);
  a_trace_is_recorded(path);
  CHECK(pixel[0] > 197 && pixel[0] < 203 && pixel[2] > 197 && pixel[2] < 203);
  unlink(path);
}

// Two buffers of a camera under descriptors that change: each is imported once.
static void buffers_are_imported_once_by_inode(void) {
  const size_t shape[2] = {h + h / 2, w};
  hal_image_processor* proc = hal_image_processor_new();
  hal_tensor* dst =
      hal_image_processor_create_image(proc, 32, 32, HAL_PIXEL_FORMAT_GREY, HAL_DTYPE_U8);
  hal_tensor* buffers[2];
  Cache cache = {0};
  int fds[6];
  int i;
  for (i = 0; i < 2; ++i) {
    buffers[i] = hal_tensor_new(HAL_DTYPE_U8, shape, 2, HAL_TENSOR_MEMORY_SHM, NULL);
    fill(buffers[i], 100 + i);
  }
  for (i = 0; i < 6; ++i)
    fds[i] = hal_tensor_clone_fd(buffers[i % 2]);
  frames(proc, &cache, fds, 6, 0, dst);
  CHECK(cache.imports == 2);
  for (i = 0; i < cache.used; ++i)
    hal_tensor_free(cache.entries[i].tensor);
  for (i = 0; i < 6; ++i)
    close(fds[i]);
  for (i = 0; i < 2; ++i)
    hal_tensor_free(buffers[i]);
  hal_tensor_free(dst);
  hal_image_processor_free(proc);
}

int main(void) {
  the_quick_start_converts_a_file();
  buffers_are_imported_once_by_inode();
  printf("%s: %d failed\n", __FILE__, failures);
  return failures;
}
