// SPDX-License-Identifier: Apache-2.0
// The C interface from C: built as C99 and as C11. Prints what failed and exits with its count.
#include "halyard/hal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dlpack_structs.h"

static void a_new_tensor_is_zero_and_keeps_what_is_written(void) {
  const size_t shape[3] = {2, 3, 4};
  size_t ndim = 0;
  size_t i;
  struct hal_tensor* tensor = NULL;
  hal_tensor_map* map = NULL;
  char* name = NULL;
  errno = 77;
  tensor = hal_tensor_new(HAL_DTYPE_F32, shape, 3, HAL_TENSOR_MEMORY_SHM, "images");
  CHECK(tensor != NULL);
  CHECK(errno == 77);
  CHECK(hal_tensor_dtype(tensor) == HAL_DTYPE_F32);
  CHECK(hal_tensor_dtype_size(tensor) == 4);
  CHECK(hal_tensor_memory_type(tensor) == HAL_TENSOR_MEMORY_SHM);
  CHECK(memcmp(hal_tensor_shape(tensor, &ndim), shape, sizeof shape) == 0);
  CHECK(ndim == 3);
  CHECK(hal_tensor_len(tensor) == 24);
  CHECK(hal_tensor_size(tensor) == 96);
  name = hal_tensor_name(tensor);
  CHECK(name != NULL && strcmp(name, "images") == 0);
  free(name);

  map = hal_tensor_map_create(tensor);
  CHECK(map != NULL);
  CHECK(hal_tensor_map_len(map) == 24);
  CHECK(hal_tensor_map_size(map) == 96);
  CHECK(hal_tensor_map_shape(map, NULL)[2] == 4);
  CHECK(hal_tensor_map_data(map) == hal_tensor_map_data_const(map));
  for (i = 0; i < 24; ++i)
    CHECK(((const float*)hal_tensor_map_data_const(map))[i] == 0.0F);
  ((float*)hal_tensor_map_data(map))[23] = 1.5F;
  hal_tensor_map_unmap(map);
  map = hal_tensor_map_create(tensor);
  // The map keeps the bytes when the tensor goes first.
  hal_tensor_free(tensor);
  CHECK(((const float*)hal_tensor_map_data_const(map))[23] == 1.5F);
  hal_tensor_map_unmap(map);
}

static void failures_set_errno_and_say_why(void) {
  const size_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const size_t huge[2] = {(size_t)1 << 62, 8};
  enum hal_dtype wrong = (enum hal_dtype)99;
  errno = 0;
  CHECK(hal_tensor_new(HAL_DTYPE_U8, NULL, 1, HAL_TENSOR_MEMORY_MEM, NULL) == NULL);
  CHECK(errno == EINVAL);
  CHECK(strstr(hal_last_error(), "shape") != NULL);
  CHECK(hal_tensor_new(HAL_DTYPE_U8, shape, 0, HAL_TENSOR_MEMORY_MEM, NULL) == NULL);
  CHECK(strstr(hal_last_error(), "ndim") != NULL);
  CHECK(hal_tensor_new(HAL_DTYPE_U8, shape, 9, HAL_TENSOR_MEMORY_MEM, NULL) == NULL);
  CHECK(strstr(hal_last_error(), "9") != NULL);
  CHECK(hal_tensor_new(HAL_DTYPE_U8, huge, 2, HAL_TENSOR_MEMORY_MEM, NULL) == NULL);
  CHECK(errno == EINVAL);
  CHECK(hal_tensor_new(wrong, shape, 1, HAL_TENSOR_MEMORY_MEM, NULL) == NULL);
  CHECK(errno == EINVAL && strstr(hal_last_error(), "dtype") != NULL);
  errno = 0;
  CHECK(hal_tensor_clone_fd(NULL) == -1);
  CHECK(errno == EINVAL);
}

static void null_is_taken_everywhere(void) {
  size_t ndim = 5;
  errno = 77;
  hal_tensor_free(NULL);
  hal_tensor_map_unmap(NULL);
  hal_copy_stats(NULL, NULL);
  CHECK(hal_tensor_dtype(NULL) == HAL_DTYPE_U8);
  CHECK(hal_tensor_dtype_size(NULL) == 0);
  CHECK(hal_tensor_memory_type(NULL) == HAL_TENSOR_MEMORY_MEM);
  CHECK(hal_tensor_shape(NULL, &ndim) == NULL);
  CHECK(ndim == 0);
  CHECK(hal_tensor_len(NULL) == 0 && hal_tensor_size(NULL) == 0);
  CHECK(hal_tensor_map_data(NULL) == NULL && hal_tensor_map_data_const(NULL) == NULL);
  CHECK(hal_tensor_map_shape(NULL, NULL) == NULL);
  CHECK(hal_tensor_map_len(NULL) == 0 && hal_tensor_map_size(NULL) == 0);
  CHECK(errno == 77);
}

static void dlpack_goes_out_and_in_without_a_copy(void) {
  const size_t shape[2] = {2, 3};
  uint64_t before = 0;
  uint64_t after = 0;
  hal_tensor* tensor = hal_tensor_new(HAL_DTYPE_I16, shape, 2, HAL_TENSOR_MEMORY_MEM, NULL);
  hal_tensor* back = NULL;
  hal_tensor_map* map = NULL;
  DLManagedTensorVersioned* managed = NULL;
  DLManagedTensor* older = NULL;
  hal_copy_stats(&before, NULL);
  managed = hal_tensor_to_dlpack_versioned(tensor, false);
  older = hal_tensor_to_dlpack(tensor);
  CHECK(managed != NULL && older != NULL);
  CHECK(managed->version.major == 1 && managed->flags == 0);
  CHECK(managed->dl_tensor.device.device_type == 1);
  CHECK(managed->dl_tensor.ndim == 2 && managed->dl_tensor.shape[1] == 3);
  CHECK(managed->dl_tensor.strides[0] == 3 && managed->dl_tensor.strides[1] == 1);
  CHECK(managed->dl_tensor.dtype.code == 0 && managed->dl_tensor.dtype.bits == 16);
  CHECK(managed->dl_tensor.data == older->dl_tensor.data);
  ((int16_t*)managed->dl_tensor.data)[4] = -4;
  hal_tensor_free(tensor);
  back = hal_tensor_from_dlpack_versioned(managed);
  CHECK(back != NULL);
  map = hal_tensor_map_create(back);
  CHECK(hal_tensor_map_data(map) == older->dl_tensor.data);
  CHECK(((const int16_t*)hal_tensor_map_data_const(map))[4] == -4);
  hal_tensor_map_unmap(map);
  hal_tensor_free(back);
  older->deleter(older);
  hal_copy_stats(&after, NULL);
  CHECK(after == before);
}

int main(void) {
  CHECK(hal_last_error()[0] == '\0');
  a_new_tensor_is_zero_and_keeps_what_is_written();
  failures_set_errno_and_say_why();
  null_is_taken_everywhere();
  dlpack_goes_out_and_in_without_a_copy();
  printf("%s: %d failed\n", __FILE__, failures);
  return failures;
}
