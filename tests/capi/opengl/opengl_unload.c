// SPDX-License-Identifier: Apache-2.0
// Loads the library by dlopen, converts on OpenGL, and unloads it, again and again: no thread may
// be left in code that has gone. The argument is the library. Exits with 77 where there is no
// OpenGL.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <halyard/hal.h>

#include "capi/check.h"

enum { rounds = 5, image_size = 32 };

typedef const char* (*last_error_function)(void);
typedef hal_image_processor* (*new_function)(hal_compute_backend);
typedef hal_tensor* (*image_function)(size_t, size_t, hal_pixel_format, hal_dtype,
                                      hal_tensor_memory);
typedef int (*convert_function)(hal_image_processor*, const hal_tensor*, hal_tensor*, hal_rotation,
                                hal_flip, const hal_crop*);
typedef void (*free_tensor_function)(hal_tensor*);
typedef void (*free_function)(hal_image_processor*);

// ISO C has no cast from an object's address to a function's.
static void find(void* library, const char* name, void* function) {
  void* const address = dlsym(library, name);
  CHECK(address != NULL);
  memcpy(function, &address, sizeof address);
}

static int thread_count(void) {
  DIR* const folder = opendir("/proc/self/task");
  int count = -2;  // . and ..
  if (folder == NULL) return 0;
  while (readdir(folder) != NULL)
    ++count;
  closedir(folder);
  return count;
}

// Whether the code of a library is in this process.
static int is_loaded(const char* library) {
  char line[4096];
  int found = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 0;
  while (fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, library) != NULL) found = 1;
  fclose(maps);
  return found;
}

static void convert(void* library, hal_image_processor* processor) {
  image_function new_image;
  convert_function convert_image;
  free_tensor_function free_tensor;
  hal_tensor* src;
  hal_tensor* dst;
  find(library, "hal_tensor_new_image", (void*)&new_image);
  find(library, "hal_image_processor_convert", (void*)&convert_image);
  find(library, "hal_tensor_free", (void*)&free_tensor);
  src =
      new_image(image_size, image_size, HAL_PIXEL_FORMAT_RGBA, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_PBO);
  dst =
      new_image(image_size, image_size, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  CHECK(src != NULL && dst != NULL);
  CHECK(convert_image(processor, src, dst, HAL_ROTATION_NONE, HAL_FLIP_NONE, NULL) == 0);
  free_tensor(dst);
  free_tensor(src);
}

// Returns 77 where there is no OpenGL.
static int load_use_unload(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  last_error_function last_error;
  new_function new_processor;
  free_function free_processor;
  hal_image_processor* processor;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  find(library, "hal_last_error", (void*)&last_error);
  find(library, "hal_image_processor_new_with_backend", (void*)&new_processor);
  find(library, "hal_image_processor_free", (void*)&free_processor);
  processor = new_processor(HAL_COMPUTE_BACKEND_OPENGL);
  if (processor == NULL) {
    printf("%s\n", last_error());
    return 77;
  }
  convert(library, processor);
  free_processor(processor);
  CHECK(dlclose(library) == 0);
  return 0;
}

int main(int argc, char** argv) {
  const struct timespec pause = {0, 50 * 1000 * 1000};
  int threads = 0;
  int i;
  if (argc < 2) return 1;
  for (i = 0; i < rounds; ++i) {
    const int status = load_use_unload(argv[1]);
    if (status != 0) return status;
    nanosleep(&pause, NULL);  // a thread that runs on would run here
    if (i == 0) threads = thread_count();
    CHECK(thread_count() <= threads);
  }
  printf("%s: the library is %s, %d threads, %d failed\n", __FILE__,
         is_loaded(argv[1]) ? "kept" : "unloaded", thread_count(), failures);
  return failures == 0 ? 0 : 1;
}
