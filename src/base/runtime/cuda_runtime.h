// SPDX-License-Identifier: Apache-2.0
// CudaRuntime: the functions of NVIDIA's CUDA runtime (libcudart) that the library calls. It is
// loaded when the first of them is needed. No header of CUDA is needed: the types below are those
// of its C interface, which CUDA 11 to 13 share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "halyard/result.h"

namespace halyard {

namespace cuda_abi {

using Code = int;            // cudaError_t
using Stream = void*;        // cudaStream_t; null: the default stream
using Resource = void*;      // cudaGraphicsResource_t
using MemoryHandle = void*;  // cudaExternalMemory_t

inline constexpr Code success = 0;
inline constexpr Code out_of_memory = 2;
/// cudaStreamPerThread: not a stream, but a name for another stream on each thread.
inline constexpr std::uintptr_t per_thread_stream = 2;
inline constexpr unsigned register_read_write = 0;  // cudaGraphicsRegisterFlagsNone
inline constexpr int all_gl_devices = 1;            // cudaGLDeviceListAll
inline constexpr int opaque_fd = 1;                 // cudaExternalMemoryHandleTypeOpaqueFd

/// cudaExternalMemoryHandleDesc. CUDA 13 added `reserved`, which must be zero; earlier versions do
/// not read it.
struct MemoryHandleDesc {
  int type = opaque_fd;
  union {
    int fd;
    void* pointers[2];
  } handle = {};
  unsigned long long size = 0;
  unsigned flags = 0;
  unsigned reserved[16] = {};
};
/// cudaExternalMemoryBufferDesc, likewise.
struct MemoryBufferDesc {
  unsigned long long offset = 0;
  unsigned long long size = 0;
  unsigned flags = 0;
  unsigned reserved[16] = {};
};
// Offsets on machines with 64-bit pointers.
static_assert(sizeof(void*) != 8 ||
              (offsetof(MemoryHandleDesc, handle) == 8 && offsetof(MemoryHandleDesc, size) == 24 &&
               offsetof(MemoryHandleDesc, flags) == 32 &&
               offsetof(MemoryHandleDesc, reserved) == 36));
static_assert(offsetof(MemoryBufferDesc, size) == 8 && offsetof(MemoryBufferDesc, flags) == 16 &&
              offsetof(MemoryBufferDesc, reserved) == 20);

}  // namespace cuda_abi

/// The functions, named as in CUDA without the prefix. They stay loaded until the process ends.
struct CudaRuntime {
  cuda_abi::Code (*get_device_count)(int* count) = nullptr;
  cuda_abi::Code (*get_device)(int* device) = nullptr;
  cuda_abi::Code (*set_device)(int device) = nullptr;
  cuda_abi::Code (*get_last_error)() = nullptr;
  const char* (*get_error_name)(cuda_abi::Code code) = nullptr;
  const char* (*get_error_string)(cuda_abi::Code code) = nullptr;
  cuda_abi::Code (*stream_synchronize)(cuda_abi::Stream stream) = nullptr;
  cuda_abi::Code (*free)(void* address) = nullptr;

  cuda_abi::Code (*gl_get_devices)(unsigned* count, int* devices, unsigned max_devices,
                                   int list) = nullptr;
  cuda_abi::Code (*graphics_gl_register_buffer)(cuda_abi::Resource* resource, unsigned buffer,
                                                unsigned flags) = nullptr;
  cuda_abi::Code (*graphics_unregister_resource)(cuda_abi::Resource resource) = nullptr;
  cuda_abi::Code (*graphics_map_resources)(int count, cuda_abi::Resource* resources,
                                           cuda_abi::Stream stream) = nullptr;
  cuda_abi::Code (*graphics_unmap_resources)(int count, cuda_abi::Resource* resources,
                                             cuda_abi::Stream stream) = nullptr;
  cuda_abi::Code (*graphics_resource_get_mapped_pointer)(void** address, std::size_t* size_bytes,
                                                         cuda_abi::Resource resource) = nullptr;

  cuda_abi::Code (*import_external_memory)(cuda_abi::MemoryHandle* memory,
                                           const cuda_abi::MemoryHandleDesc* desc) = nullptr;
  cuda_abi::Code (*external_memory_get_mapped_buffer)(void** address, cuda_abi::MemoryHandle memory,
                                                      const cuda_abi::MemoryBufferDesc* desc) =
      nullptr;
  cuda_abi::Code (*destroy_external_memory)(cuda_abi::MemoryHandle memory) = nullptr;

  /// Loads the first of the objects `names` that has all functions and finds a device. Errors:
  /// unsupported (no object can be loaded, a function is missing, no device or no driver), with the
  /// reason of the first object that is there; invalid_argument (no names).
  static Result<CudaRuntime> open(std::span<const char* const> names);

  /// Turns the answer of one of the functions into a Status. `what` is the error's text; the detail
  /// has CUDA's name and description of the code. A code for a lack of memory gives no_memory, any
  /// other one `code`. Clears the error of the calling thread, so that the program does not see it.
  Status check(cuda_abi::Code answer, Errc code, const char* what) const;
};

/// The runtime of this process, loaded at the first call and then kept. CUDA does not survive
/// fork(): a child of a process that had loaded it gets an error. Thread-safe.
/// Errors: those of open(), unsupported (forked).
Result<const CudaRuntime*> cuda_runtime();

/// Makes `device` the calling thread's CUDA device, and the earlier one again at destruction.
class CudaDeviceScope {
 public:
  CudaDeviceScope(const CudaRuntime& cuda, int device) noexcept;
  CudaDeviceScope(const CudaDeviceScope&) = delete;
  CudaDeviceScope& operator=(const CudaDeviceScope&) = delete;
  ~CudaDeviceScope();

 private:
  const CudaRuntime& cuda_;
  int device_;
  int before_;
};

}  // namespace halyard
