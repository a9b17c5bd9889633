// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime without a device: a shared object with the functions that the library loads, and
// with others for tests (fake_cudart.h). Addresses "on the device" are memory of the process: a
// registered GL buffer is copied in at each map and back at each unmap, an imported descriptor is
// mapped. It notes each call that real CUDA forbids.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fake_state.h"

namespace fake_cuda {
namespace {

struct MemoryDesc {
  int type;
  union {
    int fd;
    void* pointers[2];
  } handle;
  unsigned long long size;
  unsigned flags;
  unsigned reserved[16];
};
struct BufferDesc {
  unsigned long long offset;
  unsigned long long size;
  unsigned flags;
  unsigned reserved[16];
};

bool is_zero(const unsigned (&values)[16]) {
  return std::all_of(values, values + 16, [](unsigned value) { return value == 0; });
}

}  // namespace

EXPORTED int cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&](State&) {
    *count = device_count();
    return ok;
  });
}

EXPORTED int cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&](State& s) {
    *device = s.thread().device;
    return ok;
  });
}

EXPORTED int cudaSetDevice(int device) {
  return call("cudaSetDevice", [&](State& s) {
    if (device < 0 || device >= device_count()) return static_cast<int>(bad_value);
    s.thread().device = device;
    return static_cast<int>(ok);
  });
}

EXPORTED int cudaGetLastError() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return std::exchange(s.thread().last_error, static_cast<int>(ok));
}

EXPORTED const char* cudaGetErrorName(int code) {
  return code == no_device ? "cudaErrorNoDevice"
         : code == 801     ? "cudaErrorNotSupported"
                           : "cudaErrorFake";
}

EXPORTED const char* cudaGetErrorString(int) {
  return "as the test wants";
}

EXPORTED int cudaStreamSynchronize(void*) {
  return call("cudaStreamSynchronize", [](State&) { return ok; });
}

EXPORTED int cudaMemcpy(void* to, const void* from, std::size_t size, int) {
  return call("cudaMemcpy", [&](State&) {
    std::memcpy(to, from, size);
    return ok;
  });
}

EXPORTED int cudaImportExternalMemory(void** memory, const MemoryDesc* desc) {
  return call("cudaImportExternalMemory", [&](State& s) {
    struct stat found {};
    if (desc->type != 1 || desc->flags != 0 || !is_zero(desc->reserved))
      return s.fault("an import has a wrong description", bad_value);
    if (::fstat(desc->handle.fd, &found) != 0 ||
        static_cast<unsigned long long>(found.st_size) < desc->size)
      return s.fault("an import has a wrong descriptor or size", bad_value);
    auto made = std::make_unique<Import>(Import{desc->handle.fd, desc->size, 0});
    *memory = made.get();
    s.imports.emplace(made.get(), std::move(made));
    return static_cast<int>(ok);
  });
}

EXPORTED int cudaExternalMemoryGetMappedBuffer(void** address, void* memory,
                                               const BufferDesc* desc) {
  return call("cudaExternalMemoryGetMappedBuffer", [&](State& s) {
    const auto found = s.imports.find(static_cast<Import*>(memory));
    if (found == s.imports.end()) return s.fault("memory is not imported", bad_handle);
    Import& import = *found->second;
    if (desc->offset + desc->size > import.size || desc->flags != 0 || !is_zero(desc->reserved))
      return s.fault("a buffer has a wrong description", bad_value);
    void* const mapped = ::mmap(nullptr, desc->size, PROT_READ | PROT_WRITE, MAP_SHARED, import.fd,
                                static_cast<off_t>(desc->offset));
    if (mapped == MAP_FAILED) return s.fault("mmap fails", bad_value);
    s.addresses[mapped] = {&import, desc->size};
    ++import.addresses;
    *address = mapped;
    return static_cast<int>(ok);
  });
}

#ifndef FAKE_CUDA_LACKS_FREE
EXPORTED int cudaFree(void* address) {
  return call("cudaFree", [&](State& s) {
    const auto found = s.addresses.find(address);
    if (found == s.addresses.end()) return s.fault("cudaFree of a foreign address", bad_value);
    ::munmap(address, found->second.size);
    --found->second.import->addresses;
    s.addresses.erase(found);
    return static_cast<int>(ok);
  });
}
#endif

EXPORTED int cudaDestroyExternalMemory(void* memory) {
  return call("cudaDestroyExternalMemory", [&](State& s) {
    const auto found = s.imports.find(static_cast<Import*>(memory));
    if (found == s.imports.end()) return s.fault("memory is not imported", bad_handle);
    if (found->second->addresses != 0) s.fault("memory is destroyed before its address", ok);
    ::close(found->second->fd);
    s.imports.erase(found);
    return static_cast<int>(ok);
  });
}

// ---- For tests: see fake_cudart.h.

EXPORTED int fake_cuda_live() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return static_cast<int>(s.registrations.size() + s.imports.size() + s.addresses.size());
}

EXPORTED int fake_cuda_mapped() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return static_cast<int>(std::count_if(s.registrations.begin(), s.registrations.end(),
                                        [](const auto& r) { return r.second->bytes != nullptr; }));
}

EXPORTED int fake_cuda_calls(const char* name) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.calls[name];
}

EXPORTED const char* fake_cuda_faults() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.faults.c_str();
}

EXPORTED void fake_cuda_fail(const char* name, int code, int times) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.failures[name] = {code, times};
}

EXPORTED void fake_cuda_set(const char* name, int value) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.settings[name] = value;
}

EXPORTED void fake_cuda_reset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const auto& [address, known] : s.addresses)
    ::munmap(address, known.size);
  for (const auto& [import, owned] : s.imports)
    ::close(import->fd);
  s.addresses.clear();
  s.imports.clear();
  s.failures.clear();
  s.calls.clear();
  s.settings.clear();
  s.faults.clear();
}

}  // namespace fake_cuda
