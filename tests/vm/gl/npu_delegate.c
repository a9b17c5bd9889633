// SPDX-License-Identifier: Apache-2.0
// A delegate that owns its tensors in DMA-BUFs of the system heap, and a network that runs on the
// CPU where a device would have an NPU. Input 0: u8 [1, 64, 64, 3], RGB. Output 1: f32 [1, 7, 84],
// as a YOLOv8 of three classes gives it, in pixels of the input. The network finds the rectangle of
// the pixels with a channel above 128; its class is the channel that is largest in their sum.
#define _GNU_SOURCE
#define HAL_DELEGATE_IMPLEMENTATION
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "halyard/c/delegate.h"

enum { side = 64, channels = 3, features = 7, anchors = 84, tensors = 2 };

static const size_t sizes[tensors] = {side * side * channels, features* anchors * sizeof(float)};
static struct {
  int fds[tensors];
  void* bytes[tensors];
  int is_for_device;  // the caller has told that the input is written
  int is_for_cpu;     // the caller may read the output
} state;

static int allocate(size_t size) {
  struct dma_heap_allocation_data request = {.len = (size + 4095) / 4096 * 4096,
                                             .fd_flags = O_RDWR | O_CLOEXEC};
  const int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
  if (heap < 0) return -1;
  if (ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &request) != 0) request.fd = (uint32_t)-1;
  close(heap);
  return (int)request.fd;
}

hal_delegate_t hal_dmabuf_get_instance(void) {
  for (int i = 0; i < tensors && state.bytes[i] == NULL; ++i) {
    state.fds[i] = allocate(sizes[i]);
    if (state.fds[i] < 0) return NULL;
    void* const at = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_SHARED, state.fds[i], 0);
    if (at == MAP_FAILED) return NULL;
    state.bytes[i] = at;
  }
  return &state;
}

int hal_dmabuf_is_supported(hal_delegate_t delegate) {
  return delegate == &state;
}

int hal_dmabuf_get_tensor_info(hal_delegate_t delegate, int tensor_index,
                               hal_dmabuf_tensor_info* info, size_t info_size) {
  static const hal_dmabuf_tensor_info infos[tensors] = {{.size = side * side * channels,
                                                         .shape = {1, side, side, channels},
                                                         .ndim = 4,
                                                         .dtype = HAL_DTYPE_U8},
                                                        {.size = features * anchors * sizeof(float),
                                                         .shape = {1, features, anchors},
                                                         .ndim = 3,
                                                         .dtype = HAL_DTYPE_F32}};
  if (delegate != &state || tensor_index < 0 || tensor_index >= tensors) {
    errno = delegate == &state && tensor_index >= tensors ? ERANGE : EINVAL;
    return -1;
  }
  hal_dmabuf_tensor_info full = infos[tensor_index];
  full.fd = state.fds[tensor_index];
  if (hal_delegate_fill(info, info_size, &full, sizeof full, 96) == 0) return 0;
  errno = EINVAL;
  return -1;
}

static int mark(hal_delegate_t delegate, int tensor_index, int* flag) {
  if (delegate != &state || tensor_index < 0 || tensor_index >= tensors) {
    errno = EINVAL;
    return -1;
  }
  *flag = 1;
  return 0;
}

int hal_dmabuf_sync_for_device(hal_delegate_t delegate, int tensor_index) {
  return mark(delegate, tensor_index, &state.is_for_device);
}

int hal_dmabuf_sync_for_cpu(hal_delegate_t delegate, int tensor_index) {
  return mark(delegate, tensor_index, &state.is_for_cpu);
}

// Runs the network. Fails if its input was not handed to it.
HAL_DELEGATE_EXPORT int npu_run(void) {
  const uint8_t* const pixels = state.bytes[0];
  float* const out = state.bytes[1];
  int x0 = side, y0 = side, x1 = 0, y1 = 0;
  unsigned long sums[channels] = {0, 0, 0};
  if (pixels == NULL || !state.is_for_device) return -1;
  state.is_for_device = 0;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const uint8_t* const pixel = pixels + (y * side + x) * channels;
      if (pixel[0] <= 128 && pixel[1] <= 128 && pixel[2] <= 128) continue;
      for (int c = 0; c < channels; ++c)
        sums[c] += pixel[c];
      x0 = x < x0 ? x : x0;
      y0 = y < y0 ? y : y0;
      x1 = x + 1 > x1 ? x + 1 : x1;
      y1 = y + 1 > y1 ? y + 1 : y1;
    }
  }
  memset(out, 0, sizes[1]);
  if (x1 <= x0) return 0;
  out[0 * anchors] = (float)(x0 + x1) / 2;
  out[1 * anchors] = (float)(y0 + y1) / 2;
  out[2 * anchors] = (float)(x1 - x0);
  out[3 * anchors] = (float)(y1 - y0);
  int best = 0;
  for (int c = 1; c < channels; ++c)
    if (sums[c] > sums[best]) best = c;
  out[(4 + best) * anchors] = 0.9F;
  return 0;
}
