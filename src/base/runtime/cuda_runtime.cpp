// SPDX-License-Identifier: Apache-2.0
// Loads the CUDA runtime and names its errors.
#include "base/runtime/cuda_runtime.h"

#include <atomic>
#include <optional>
#include <utility>

#include "base/system/fork.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"
#include "halyard/threads.h"

namespace halyard {
namespace {

// The name that development packages install comes first: whoever installed it chose the version.
constexpr const char* library_names[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12",
                                         "libcudart.so.11.0"};

Result<CudaRuntime> resolve(const SharedObject& object, const char* name) {
  CudaRuntime cuda;
  FunctionFinder finder(object);
  finder.find(cuda.get_device_count, "cudaGetDeviceCount");
  finder.find(cuda.get_device, "cudaGetDevice");
  finder.find(cuda.set_device, "cudaSetDevice");
  finder.find(cuda.get_last_error, "cudaGetLastError");
  finder.find(cuda.get_error_name, "cudaGetErrorName");
  finder.find(cuda.get_error_string, "cudaGetErrorString");
  finder.find(cuda.stream_synchronize, "cudaStreamSynchronize");
  finder.find(cuda.free, "cudaFree");
  finder.find(cuda.gl_get_devices, "cudaGLGetDevices");
  finder.find(cuda.graphics_gl_register_buffer, "cudaGraphicsGLRegisterBuffer");
  finder.find(cuda.graphics_unregister_resource, "cudaGraphicsUnregisterResource");
  finder.find(cuda.graphics_map_resources, "cudaGraphicsMapResources");
  finder.find(cuda.graphics_unmap_resources, "cudaGraphicsUnmapResources");
  finder.find(cuda.graphics_resource_get_mapped_pointer, "cudaGraphicsResourceGetMappedPointer");
  finder.find(cuda.import_external_memory, "cudaImportExternalMemory");
  finder.find(cuda.external_memory_get_mapped_buffer, "cudaExternalMemoryGetMappedBuffer");
  finder.find(cuda.destroy_external_memory, "cudaDestroyExternalMemory");
  if (finder.missing() == nullptr) return cuda;
  return fail(Errc::unsupported, "cuda: the runtime lacks a function", "{} has no {}", name,
              finder.missing());
}

Status ask_for_device(const CudaRuntime& cuda) {
  threads_start();  // the driver starts threads
  int count = 0;
  HALYARD_RETURN_IF_ERROR(cuda.check(cuda.get_device_count(&count), Errc::unsupported,
                                     "cuda: the runtime finds no device"));
  if (count > 0) return {};
  return fail(Errc::unsupported, "cuda: the runtime finds no device", "it counts {}", count);
}

struct Loaded {
  Result<CudaRuntime> runtime;
  std::uint32_t generation;
};

}  // namespace

Result<CudaRuntime> CudaRuntime::open(std::span<const char* const> names) {
  std::optional<Error> absent, unusable;
  for (const char* name : names) {
    const auto object = SharedObject::open(
        name,
        "cuda: the runtime (libcudart) cannot be loaded: install it, or name its folder in "
        "LD_LIBRARY_PATH");
    if (!object) {
      if (!absent) absent = object.error();
      continue;
    }
    // Another version may get on with the driver where this one does not.
    auto usable = resolve(*object, name);
    if (usable) {
      const Status asked = ask_for_device(*usable);
      if (asked) return usable;
      usable = asked.error();
    }
    if (!unusable) unusable = usable.error();
  }
  // An object that is there but cannot be used tells more than one that is not there.
  if (unusable) return *std::move(unusable);
  if (absent) return *std::move(absent);
  return fail(Errc::invalid_argument, "names: must not be empty");
}

Status CudaRuntime::check(cuda_abi::Code answer, Errc code, const char* what) const {
  if (answer == cuda_abi::success) return {};
  get_last_error();
  return fail(answer == cuda_abi::out_of_memory ? Errc::no_memory : code, what, "{} ({}): {}",
              get_error_name(answer), answer, get_error_string(answer));
}

Result<const CudaRuntime*> cuda_runtime() {
  static constinit std::atomic<const Loaded*> once{nullptr};
  const Loaded& loaded = made_once(once, [] {
    return new const Loaded{CudaRuntime::open(library_names), fork_generation()};
  });
  if (!loaded.runtime) return loaded.runtime.error();
  if (loaded.generation == fork_generation()) return &*loaded.runtime;
  return fail(Errc::unsupported, "cuda: this process was forked after CUDA was used");
}

CudaDeviceScope::CudaDeviceScope(const CudaRuntime& cuda, int device) noexcept
    : cuda_(cuda), device_(device), before_(device) {
  if (cuda_.get_device(&before_) != cuda_abi::success) before_ = device_;
  if (before_ != device_) cuda_.set_device(device_);
}

CudaDeviceScope::~CudaDeviceScope() {
  if (before_ != device_) cuda_.set_device(before_);
}

}  // namespace halyard
