// SPDX-License-Identifier: Apache-2.0
// Stand-ins for device nodes, for tests on machines without them: ioctl() of the test program asks
// hooks first. FakeDmaBuf is a DMA-BUF of a machine whose caches are not coherent.
#pragma once

#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/system/mapped.h"
#include "halyard/fd.h"

namespace halyard::conformance {

/// Sees every ioctl of the program as long as it lives. The function returns nothing to pass the
/// call on, what ioctl() shall return, or an errno as a negative number. It may make no ioctl.
class IoctlHook {
 public:
  using Function = std::function<std::optional<int>(int fd, unsigned long request, void* argument)>;
  explicit IoctlHook(Function function) {
    const std::lock_guard lock(mutex);
    place_ = hooks.insert(hooks.begin(), std::move(function));
  }
  IoctlHook(const IoctlHook&) = delete;
  IoctlHook& operator=(const IoctlHook&) = delete;
  ~IoctlHook() {
    const std::lock_guard lock(mutex);
    hooks.erase(place_);
  }
  static std::optional<int> ask(int fd, unsigned long request, void* argument) {
    const std::lock_guard lock(mutex);
    for (const Function& hook : hooks) {
      if (const auto answer = hook(fd, request, argument)) return answer;
    }
    return std::nullopt;
  }

 private:
  inline static std::mutex mutex;
  inline static std::list<Function> hooks;
  std::list<Function>::iterator place_;
};

/// Memory with two faces, the device's and the CPU's, which SYNC alone brings together:
///   START|READ shows the CPU the device's bytes, whatever the CPU had written and not handed over;
///   END|WRITE hands the CPU's bytes to the device; END|READ while writing drops them, as old
///   kernels do;
///   outside START and END the CPU sees 0xDD.
/// Every call is recorded. The descriptor is a memfd's; the kernel's fstat and mmap serve it.
class FakeDmaBuf {
 public:
  static constexpr std::byte poison{0xDD};

  explicit FakeDmaBuf(std::size_t size)
      : fd_(*create_sealed_memory("fake-dma-buf", size)),
        cpu_(*MappedMemory::create(fd_.get(), size, true)),
        device_(size),
        identity_(*fd_.identity()),
        hook_([this](int fd, unsigned long request, void* argument) {
          return serve(fd, request, argument);
        }) {
    hide();
  }

  /// A descriptor for the code under test.
  Fd fd() const { return *fd_.duplicate(); }
  /// What the device sees and writes.
  std::span<std::byte> device() { return device_; }
  /// What the CPU sees, without any SYNC.
  std::span<std::byte> cpu() { return cpu_.bytes(); }

  /// Flags of the SYNC calls served since the last take, for example "START|READ END|READ".
  std::string take_calls() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }
  /// The next calls fail so, one errno each; 0 lets one pass. Failed calls are not recorded.
  void fail_next(std::initializer_list<int> errnos) {
    const std::lock_guard lock(mutex_);
    failures_.assign(errnos);
  }
  /// Makes SYNC reach the bytes only while `is_attached` says so, as the kernel does for heaps.
  void sync_only_while(std::function<bool()> is_attached) {
    const std::lock_guard lock(mutex_);
    is_attached_ = std::move(is_attached);
  }
  std::size_t failures_left() {
    const std::lock_guard lock(mutex_);
    return failures_.size();
  }

 private:
  std::optional<int> serve(int fd, unsigned long request, void* argument) {
    if (request != DMA_BUF_IOCTL_SYNC) return std::nullopt;
    const auto identity = fd_identity(fd);
    if (!identity || *identity != identity_) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (!failures_.empty()) {
      const int failure = failures_.front();
      failures_.pop_front();
      if (failure != 0) return -failure;
    }
    return sync(static_cast<dma_buf_sync*>(argument)->flags);
  }

  int sync(std::uint64_t flags) {
    const std::uint64_t direction = flags & DMA_BUF_SYNC_RW;
    const bool ends = (flags & DMA_BUF_SYNC_END) != 0;
    if ((flags & ~std::uint64_t{DMA_BUF_SYNC_VALID_FLAGS_MASK}) != 0 || direction == 0) {
      return -EINVAL;
    }
    record(direction, ends);
    if (is_attached_ && !is_attached_()) return 0;
    ends ? end(direction) : start(direction);
    return 0;
  }

  void record(std::uint64_t direction, bool ends) {
    if (!calls_.empty()) calls_ += ' ';
    calls_ += ends ? "END|" : "START|";
    calls_ += direction == DMA_BUF_SYNC_RW     ? "RW"
              : direction == DMA_BUF_SYNC_READ ? "READ"
                                               : "WRITE";
  }

  void start(std::uint64_t direction) {
    if ((direction & DMA_BUF_SYNC_READ) != 0) show();
    begun_ |= direction;
  }

  void end(std::uint64_t direction) {
    if ((direction & begun_ & DMA_BUF_SYNC_WRITE) != 0) {
      std::copy(cpu().begin(), cpu().end(), device_.begin());
    } else if ((begun_ & DMA_BUF_SYNC_WRITE) != 0) {
      show();
    }
    begun_ &= ~direction;
    if (begun_ == 0) hide();
  }

  void show() { std::copy(device_.begin(), device_.end(), cpu().begin()); }
  void hide() { std::fill(cpu().begin(), cpu().end(), poison); }

  std::mutex mutex_;
  Fd fd_;
  MappedMemory cpu_;
  std::vector<std::byte> device_;
  FdIdentity identity_;
  std::uint64_t begun_ = 0;  ///< directions between START and END
  std::string calls_;
  std::deque<int> failures_;
  std::function<bool()> is_attached_;  ///< empty: always
  IoctlHook hook_;                     ///< last: it must go first
};

}  // namespace halyard::conformance

// Weak, so that several files of one program may include this; it goes before the C library's.
extern "C" __attribute__((weak)) int ioctl(int fd, unsigned long request, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (const auto answer = halyard::conformance::IoctlHook::ask(fd, request, argument)) {
    if (*answer >= 0) return *answer;
    errno = -*answer;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
}
