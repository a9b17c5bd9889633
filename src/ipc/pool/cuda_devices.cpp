// SPDX-License-Identifier: Apache-2.0
// How many CUDA devices there are, asked of NVIDIA's driver where one is installed.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "halyard/tensor_descriptor.h"

namespace halyard {
namespace {

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

// The driver's own types: CUresult is an int, 0 is success. The driver stays loaded: it does not
// bear being unloaded once it has begun.
std::uint32_t ask_driver() noexcept {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 0;
  auto* const begin = symbol<int(unsigned)>(driver, "cuInit");
  auto* const count_devices = symbol<int(int*)>(driver, "cuDeviceGetCount");
  int count = 0;
  if (begin == nullptr || count_devices == nullptr || begin(0) != 0 || count_devices(&count) != 0)
    return 0;
  return static_cast<std::uint32_t>(std::max(count, 0));
}

// The process that has asked, and the answer. A child of fork() asks anew: it cannot use what its
// parent has begun. Two threads may ask at once and get the same answer; a lock could stay locked
// in a child.
std::atomic<std::uint64_t> answer{0};

}  // namespace

std::uint32_t cuda_device_count() noexcept {
  const auto process = static_cast<std::uint64_t>(::getpid());
  const std::uint64_t known = answer.load(std::memory_order_relaxed);
  if (known >> 32U == process) return static_cast<std::uint32_t>(known);
  const std::uint32_t count = ask_driver();
  answer.store(process << 32U | count, std::memory_order_relaxed);
  return count;
}

bool cuda_available() noexcept {
  return cuda_device_count() > 0;
}

}  // namespace halyard
