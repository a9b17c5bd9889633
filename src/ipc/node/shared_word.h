// SPDX-License-Identifier: Apache-2.0
// A 64-bit word of memory that several processes map.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace halyard::ipc {

/// 64 bits, 0 in fresh memory. One process writes it, any process may read it. Has the same layout
/// on every processor of a machine and in 32-bit programs, provided that 64-bit atomics are lock-
/// free.
class SharedWord {
 public:
  SharedWord() = default;
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;

  std::uint64_t load(std::memory_order order) const noexcept { return value_.load(order); }
  void store(std::uint64_t value, std::memory_order order) noexcept { value_.store(value, order); }

  static void fence(std::memory_order order) noexcept {
    // ThreadSanitizer does not support fences. It needs none here, since all accesses that they
    // order are atomic.
#ifndef __SANITIZE_THREAD__
    std::atomic_thread_fence(order);
#else
    static_cast<void>(order);
#endif
  }
  /// Tells the processor that the caller polls a word.
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

static_assert(sizeof(SharedWord) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace halyard::ipc
