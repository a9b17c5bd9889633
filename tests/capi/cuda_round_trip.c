// SPDX-License-Identifier: Apache-2.0
// A pixel buffer from the CPU to CUDA and back, as a program of a user does it, with whatever CUDA
// runtime the loader finds. `refused TEXT`: no runtime can be used, and TEXT is a part of why.
// Without arguments: the real one, or skipped (77) where there is none.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <errno.h>
#include <halyard/hal.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { size = 100000, skipped = 77, to_device = 1, to_host = 2 };

typedef int (*memcpy_function)(void* to, const void* from, size_t count, int kind);

// cudaMemcpy() of the runtime that the library has loaded.
static memcpy_function find_memcpy(void) {
  static const char* const names[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12",
                                      "libcudart.so.11.0"};
  memcpy_function found = NULL;
  for (size_t i = 0; i < 4 && found == NULL; ++i) {
    void* const object = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    void* const symbol = object == NULL ? NULL : dlsym(object, "cudaMemcpy");
    memcpy(&found, &symbol, sizeof found);
  }
  return found;
}

static hal_tensor* make(hal_tensor_memory memory) {
  const size_t shape = size;
  return hal_tensor_new(HAL_DTYPE_U8, &shape, 1, memory, NULL);
}

// NULL is a usual answer: errno keeps its value, and the reason can be read.
static void check_usual_answer(hal_tensor* tensor, const char* reason) {
  errno = 99;
  CHECK(hal_tensor_cuda_map(tensor) == NULL);
  CHECK(errno == 99);
  CHECK(strstr(hal_last_error(), reason) != NULL);
}

static void fill(hal_tensor* tensor, unsigned char* expected) {
  hal_tensor_map* const map = hal_tensor_map_create(tensor);
  CHECK(map != NULL);
  if (map == NULL) return;
  for (size_t i = 0; i < size; ++i)
    expected[i] = (unsigned char)(i * 7 + i / 251);
  memcpy(hal_tensor_map_data(map), expected, size);
  hal_tensor_map_unmap(map);
}

// The device has what the CPU wrote, and the CPU what the device wrote; the middle byte changes.
static void exchange(hal_tensor* tensor, memcpy_function copy, unsigned char* expected) {
  static unsigned char seen[size];
  size_t bytes = 0;
  void* const map = hal_tensor_cuda_map(tensor);
  CHECK(map != NULL);
  if (map == NULL) {
    fprintf(stderr, "%s\n", hal_last_error());
    return;
  }
  unsigned char* const device = hal_tensor_cuda_device_ptr(map, &bytes);
  CHECK(bytes == size);
  CHECK(copy(seen, device, size, to_host) == 0);
  CHECK(memcmp(seen, expected, size) == 0);
  expected[size / 2] ^= 0xFF;
  CHECK(copy(device + size / 2, expected + size / 2, 1, to_device) == 0);
  errno = 0;
  CHECK(hal_tensor_map_create(tensor) == NULL && errno == EBUSY);
  CHECK(hal_tensor_cuda_map(tensor) == NULL && errno == EBUSY);
  hal_tensor_cuda_unmap(map);
}

static void check_read(hal_tensor* tensor, const unsigned char* expected) {
  hal_tensor_map* const map = hal_tensor_map_create(tensor);
  CHECK(map != NULL);
  if (map == NULL) return;
  errno = 0;
  CHECK(hal_tensor_cuda_map(tensor) == NULL && errno == EBUSY);
  CHECK(memcmp(hal_tensor_map_data_const(map), expected, size) == 0);
  hal_tensor_map_unmap(map);
}

static int round_trip(hal_tensor* pixels) {
  static unsigned char expected[size];
  const memcpy_function copy = find_memcpy();
  CHECK(copy != NULL);
  if (copy == NULL) return failures;
  for (int round = 0; round < 3; ++round) {
    fill(pixels, expected);
    exchange(pixels, copy, expected);
    check_read(pixels, expected);
  }
  return failures;
}

int main(int count, char** arguments) {
  const char* const reason =
      count == 3 && strcmp(arguments[1], "refused") == 0 ? arguments[2] : NULL;
  hal_tensor* const plain = make(HAL_TENSOR_MEMORY_MEM);
  check_usual_answer(plain, "no address in cuda");
  hal_tensor_free(plain);
  hal_tensor* const pixels = make(HAL_TENSOR_MEMORY_PBO);
  if (pixels == NULL) {
    printf("skipped: %s\n", hal_last_error());
    return failures ? failures : skipped;
  }
  if (hal_is_cuda_available() == (reason != NULL)) {
    if (reason == NULL) check_usual_answer(pixels, "cuda: ");
    printf("skipped: %s\n", reason == NULL ? hal_last_error() : "another runtime is installed");
    hal_tensor_free(pixels);
    return failures ? failures : skipped;
  }
  const int result = reason == NULL ? round_trip(pixels) : failures;
  if (reason != NULL) check_usual_answer(pixels, reason);
  hal_tensor_free(pixels);
  return result + (reason != NULL ? failures : 0);
}
