// SPDX-License-Identifier: Apache-2.0
// A delegate without a device: three tensors in one memfd. Its second one is of a version whose
// struct is shorter, its third one has no shape.
#ifndef _GNU_SOURCE  // C++ has it
#define _GNU_SOURCE
#endif
#define HAL_DELEGATE_IMPLEMENTATION
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "halyard/c/delegate.h"

static struct {
  int fd;
  int for_device;
  int for_cpu;
} state = {-1, 0, 0};

hal_delegate_t hal_dmabuf_get_instance(void) {
  if (state.fd < 0) {
    state.fd = memfd_create("delegate", MFD_CLOEXEC);
    if (state.fd < 0 || ftruncate(state.fd, 8192) != 0) return NULL;
  }
  return &state;
}

int hal_dmabuf_is_supported(hal_delegate_t delegate) {
  return delegate == &state;
}

int hal_dmabuf_get_tensor_info(hal_delegate_t delegate, int tensor_index,
                               hal_dmabuf_tensor_info* info, size_t info_size) {
  hal_dmabuf_tensor_info full;
  memset(&full, 0, sizeof full);
  if (delegate != &state || tensor_index < 0) {
    errno = EINVAL;
    return -1;
  }
  if (tensor_index > 3) {
    errno = ERANGE;
    return -1;
  }
  if (tensor_index == 3) return -1;  // fails without a word
  full.size = 48;
  full.offset = 4096;
  full.shape[0] = 4;
  full.shape[1] = 4;
  full.shape[2] = 3;
  full.ndim = tensor_index == 2 ? 0 : 3;
  full.fd = state.fd;
  full.dtype = HAL_DTYPE_U8;
  if (hal_delegate_fill(info, info_size, &full, sizeof full, 96) != 0) {
    errno = EINVAL;
    return -1;
  }
  return 0;
}

static int count(hal_delegate_t delegate, int tensor_index, int* counter) {
  if (delegate != &state || tensor_index < 0) {
    errno = EINVAL;
    return -1;
  }
  if (tensor_index > 2) {
    errno = ERANGE;
    return -1;
  }
  ++*counter;
  return 0;
}

int hal_dmabuf_sync_for_device(hal_delegate_t delegate, int tensor_index) {
  return count(delegate, tensor_index, &state.for_device);
}

int hal_dmabuf_sync_for_cpu(hal_delegate_t delegate, int tensor_index) {
  return count(delegate, tensor_index, &state.for_cpu);
}

int hal_camera_adaptor_is_supported(hal_delegate_t delegate, const char* format) {
  return delegate == &state && strcmp(format, "rgba") == 0;
}

int hal_camera_adaptor_get_format_info(hal_delegate_t delegate, const char* format,
                                       hal_camera_adaptor_format_info* info, size_t info_size) {
  const hal_camera_adaptor_format_info full = {4, 3, "RGBA"};
  if (!hal_camera_adaptor_is_supported(delegate, format)) {
    errno = ENOTSUP;
    return -1;
  }
  if (hal_delegate_fill(info, info_size, &full, sizeof full, 16) != 0) {
    errno = EINVAL;
    return -1;
  }
  return 0;
}
