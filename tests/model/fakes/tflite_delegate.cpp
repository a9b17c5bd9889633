// SPDX-License-Identifier: Apache-2.0
// A delegate that owns the tensors 4 (input) and 7 (output) of the fake library's networks, f32, in
// memory with descriptors. It computes there, and refuses to run on an input that was not handed to
// it. Settings: "bytes" of a tensor; "mode" fail, or plain (without buffers).
#define HAL_DELEGATE_IMPLEMENTATION
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "fake_tflite.h"
#include "halyard/c/delegate.h"

namespace {

struct State {
  fake::Delegate object{0, nullptr};
  std::size_t bytes = 0;
  bool has_buffers = false;
  int fds[2] = {-1, -1};
  float* data[2] = {nullptr, nullptr};
  bool is_for_device = false;
  bool is_for_cpu = true;
} state;

bool run(float scale) {
  if (!state.has_buffers) return false;
  if (!state.is_for_device || !state.is_for_cpu) fake::misused("a buffer is not synchronised");
  state.is_for_device = state.is_for_cpu = false;
  for (std::size_t i = 0; i < state.bytes / sizeof(float); ++i)
    state.data[1][i] = state.data[0][i] * scale;
  return true;
}

int place_of(int tensor_index) {
  return tensor_index == 4 ? 0 : tensor_index == 7 ? 1 : -1;
}

}  // namespace

extern "C" {

HAL_DELEGATE_EXPORT void* tflite_plugin_create_delegate(char** keys, char** values,
                                                        std::size_t count,
                                                        void (*report)(const char*)) {
  if (state.object.magic != 0) fake::misused("one delegate at a time");
  state = State();
  state.has_buffers = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string key = keys[i];
    const std::string value = values[i];
    if (key == "bytes") state.bytes = std::strtoul(values[i], nullptr, 10);
    if (key == "mode" && value == "plain") state.has_buffers = false;
    if (key == "mode" && value == "fail") return report("the NPU is not there"), nullptr;
  }
  for (int i = 0; i < 2 && state.has_buffers; ++i) {
    state.fds[i] = ::memfd_create("fake delegate", MFD_CLOEXEC);
    if (::ftruncate(state.fds[i], 65536) != 0) return nullptr;
    void* const at = ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, state.fds[i], 0);
    state.data[i] = static_cast<float*>(at);
  }
  state.object = {fake::delegate_magic, run};
  return &state.object;
}

HAL_DELEGATE_EXPORT void tflite_plugin_destroy_delegate(void* delegate) {
  if (delegate != &state.object || state.object.magic != fake::delegate_magic)
    fake::misused("a delegate is destroyed twice");
  for (int i = 0; i < 2 && state.has_buffers; ++i) {
    ::munmap(state.data[i], 65536);
    ::close(state.fds[i]);
  }
  state.object.magic = 0;
}

hal_delegate_t hal_dmabuf_get_instance(void) {
  return state.object.magic != 0 && state.has_buffers ? &state : nullptr;
}
int hal_dmabuf_is_supported(hal_delegate_t delegate) {
  return delegate == &state;
}
int hal_dmabuf_get_tensor_info(hal_delegate_t delegate, int tensor_index,
                               hal_dmabuf_tensor_info* info, size_t info_size) {
  const int place = place_of(tensor_index);
  if (delegate != &state || place < 0) return errno = delegate == &state ? ERANGE : EINVAL, -1;
  hal_dmabuf_tensor_info full{};
  full.size = state.bytes;
  full.fd = state.fds[place];
  full.dtype = HAL_DTYPE_F32;
  return hal_delegate_fill(info, info_size, &full, sizeof full, 96);
}
int hal_dmabuf_sync_for_device(hal_delegate_t delegate, int tensor_index) {
  if (delegate != &state || tensor_index != 4) return errno = EINVAL, -1;
  state.is_for_device = true;
  return 0;
}
int hal_dmabuf_sync_for_cpu(hal_delegate_t delegate, int tensor_index) {
  if (delegate != &state || tensor_index != 7) return errno = EINVAL, -1;
  state.is_for_cpu = true;
  return 0;
}

}  // extern "C"
