// SPDX-License-Identifier: Apache-2.0
// The number of CUDA devices, from NVIDIA's driver if it is installed.
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/system/shared_object.h"
#include "halyard/tensor_descriptor.h"

namespace halyard {
namespace {

// Uses the driver's own types: CUresult is an int, 0 is success. The driver alone counts devices,
// so that a machine without the runtime (base/runtime/cuda_runtime.h) is told the truth.
std::uint32_t ask_driver() noexcept {
  const auto driver = SharedObject::open("libcuda.so.1", "cuda: the driver cannot be loaded");
  if (!driver) return 0;
  auto* const begin = driver->function<int(unsigned)>("cuInit");
  auto* const count_devices = driver->function<int(int*)>("cuDeviceGetCount");
  int count = 0;
  if (begin == nullptr || count_devices == nullptr || begin(0) != 0 || count_devices(&count) != 0)
    return 0;
  return static_cast<std::uint32_t>(std::max(count, 0));
}

// The process id (upper half) and the answer (lower half). A child of fork() asks again, since it
// cannot use the parent's initialization. Two threads may ask at once and get the same answer. A
// lock is not used, since it could stay locked in a child.
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
