// SPDX-License-Identifier: Apache-2.0
// Timeline: sync files that a test signals by hand, through the kernel's software timeline.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <array>
#include <cstdint>

#include "halyard/fd.h"

namespace halyard::test {

/// Counts up from 0; the fence of a value is signalled once that is reached. False where the kernel
/// has no such timeline (CONFIG_SW_SYNC, debugfs) or this process may not use it.
class Timeline {
 public:
  static constexpr const char* node = "/sys/kernel/debug/sync/sw_sync";

  Timeline() : fd_(::open(node, O_RDWR | O_CLOEXEC)) {}
  explicit operator bool() const { return static_cast<bool>(fd_); }
  Fd fence(std::uint32_t value) const {
    CreateFence call{value, {"test"}, -1};
    return ::ioctl(fd_.get(), create_fence, &call) == 0 ? Fd(call.fence) : Fd();
  }
  bool advance() const {
    std::uint32_t by = 1;
    return ::ioctl(fd_.get(), increment, &by) == 0;
  }

 private:
  // The calls of drivers/dma-buf/sw_sync.c: a debugging interface, in no header.
  struct CreateFence {
    std::uint32_t value;
    std::array<char, 32> name;
    std::int32_t fence;
  };
  static constexpr unsigned long create_fence = _IOWR('W', 0, CreateFence);
  static constexpr unsigned long increment = _IOW('W', 1, std::uint32_t);

  Fd fd_;
};

/// Whether a sync file, or an event descriptor, has signalled.
inline bool is_signalled(const Fd& fence) {
  pollfd ready = {fence.get(), POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0;
}

}  // namespace halyard::test
