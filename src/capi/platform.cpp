// SPDX-License-Identifier: Apache-2.0
// Features of this system and process in C; memory of other systems is refused.
#include "capi/error.h"
#include "capi/handles.h"
#include "halyard/buffer.h"
#include "halyard/c/image.h"
#include "halyard/c/tensor.h"
#include "halyard/device.h"
#include "halyard/drm.h"

namespace {

template <class T>
T declined(T failed, const char* what) noexcept {
  halyard::capi::report(halyard::Errc::unsupported, what);
  return failed;
}

constexpr const char* no_surfaces = "IOSurface: this is not an Apple system";
constexpr const char* no_hardware_buffers = "AHardwareBuffer: this is not Android";

bool available(halyard::Memory memory) noexcept {
  return halyard::capi::guarded<int>(0, [memory]() -> halyard::Result<int> {
           return halyard::memory_available(memory) ? 1 : 0;
         }) != 0;
}

}  // namespace

hal_tensor* hal_tensor_from_iosurface(hal_dtype, void*, const size_t*, size_t, const char*) {
  return declined<hal_tensor*>(nullptr, no_surfaces);
}

hal_tensor* hal_tensor_from_hardware_buffer(hal_dtype, void*, const size_t*, size_t, const char*) {
  return declined<hal_tensor*>(nullptr, no_hardware_buffers);
}

void* hal_tensor_hardware_buffer_ptr(const hal_tensor*) {
  return declined<void*>(nullptr, no_hardware_buffers);
}

int hal_tensor_hardware_buffer_physical_dims(const hal_tensor*, size_t*, size_t*) {
  return declined(-1, no_hardware_buffers);
}

uint32_t hal_tensor_iosurface_id(const hal_tensor*) {
  return declined<uint32_t>(0, no_surfaces);
}

void* hal_tensor_iosurface_ref(const hal_tensor*) {
  return declined<void*>(nullptr, no_surfaces);
}

HalCompression hal_tensor_compression(const hal_tensor* tensor) {
  if (!halyard::capi::is_valid(tensor)) return HAL_COMPRESSION_NONE;
  return static_cast<HalCompression>(halyard::compression_of(tensor->tensor.modifier()));
}

uint64_t hal_compression_fallback_count(void) {
  return halyard::compression_fallbacks();
}

uint64_t hal_unplanned_cpu_access_count(void) {
  return halyard::unplanned_cpu_accesses();
}

bool hal_is_dma_available(void) {
  return available(halyard::Memory::dma);
}

bool hal_is_iosurface_available(void) {
  return false;
}

bool hal_is_gpu_buffer_available(void) {
  return available(halyard::Memory::dma);
}

bool hal_is_shm_available(void) {
  return available(halyard::Memory::shm);
}

bool hal_is_cuda_available(void) {
  return halyard::capi::guarded<int>(0, []() -> halyard::Result<int> {
           return halyard::device_available(halyard::DeviceKind::cuda) ? 1 : 0;
         }) != 0;
}

bool hal_platform_compression_support(hal_pixel_format, hal_dtype) {
  return false;
}
