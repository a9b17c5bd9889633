// SPDX-License-Identifier: Apache-2.0
// The library's mutexes in the order in which a thread may lock them, which is asserted in builds
// with assertions. docs/threads.md documents each mutex.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "base/assert.h"
#include "halyard/enumerators.h"
#include "halyard/threads.h"

namespace halyard {

/// A thread that holds a mutex locks only mutexes of later ranks. It holds one mutex of a rank at a
/// time, so the many mutexes of `leaf` are never held together.
enum class LockRank : std::uint8_t {
  pipeline_threads,
  topic_send,
  topic_receive,
  remaining_frames,
  topic_pool,
  default_pool,
  open_pools,
  pool_parts,
  this_node,
  node_calls,
  camera_stream,
  camera_plugin,
  camera_session,
  buffer_access,
  borrowed_arena,
  pool_service,
  engine_calls,
  g2d_addresses,
  gl_start,
  gl_objects,
  gl_contexts,
  device_buffer,
  importer,
  device_slots,
  byte_track,
  log_sink,
  trace_recorder,
  trace_log,
  leaf,
};

#ifdef NDEBUG
inline constexpr bool asserts_lock_ranks = false;
#else
inline constexpr bool asserts_lock_ranks = true;
#endif

/// A bit for each rank of which this thread holds a mutex.
inline thread_local constinit std::uint64_t held_ranks = 0;
static_assert(static_cast<unsigned>(LockRank::leaf) < 64);

/// Asserts that this thread may lock a mutex of the rank. Also for waits for a thread that locks
/// one.
template <LockRank rank>
void may_lock() noexcept {
  if constexpr (asserts_lock_ranks) {
    const std::uint64_t not_earlier = held_ranks >> static_cast<unsigned>(rank);
    if (not_earlier == 0) return;
    const std::string_view wanted = enumerator_name(rank);
    const std::string_view held =
        enumerator_name(static_cast<LockRank>(std::bit_width(held_ranks) - 1));
    std::fprintf(stderr, "%.*s is locked while %.*s is held: see docs/threads.md\n",
                 static_cast<int>(wanted.size()), wanted.data(), static_cast<int>(held.size()),
                 held.data());
    HALYARD_ASSERT(not_earlier == 0);
  }
}

/// From its construction to its destruction the thread holds a mutex of the rank. By itself for a
/// ForkMutex of a public class, which cannot be a RankedForkMutex.
template <LockRank rank>
class [[nodiscard]] HeldRank {
 public:
  HeldRank() noexcept { begin(); }
  HeldRank(const HeldRank&) = delete;
  HeldRank& operator=(const HeldRank&) = delete;
  ~HeldRank() { end(); }

  static void begin() noexcept {
    may_lock<rank>();
    if constexpr (asserts_lock_ranks) held_ranks |= bit;
  }
  static void end() noexcept {
    if constexpr (asserts_lock_ranks) held_ranks &= ~bit;
  }

 private:
  static constexpr std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(rank);
};

/// A mutex of a rank. For std::lock_guard, std::unique_lock and RankedCondition
/// (ranked_condition.h).
template <LockRank rank, class Mutex = std::mutex>
class RankedMutex {
 public:
  void lock() {
    HeldRank<rank>::begin();
    mutex_.lock();
  }
  void unlock() noexcept {
    mutex_.unlock();
    HeldRank<rank>::end();
  }

 private:
  friend class RankedCondition;
  Mutex mutex_;
};

/// A ForkMutex of a rank, for the two locks below.
template <LockRank rank>
struct RankedForkMutex {
  ForkMutex unranked;
};

/// ForkLock of such a mutex.
template <LockRank rank>
class [[nodiscard]] RankedForkLock {
 public:
  explicit RankedForkLock(RankedForkMutex<rank>& mutex) noexcept : lock_(mutex.unranked) {}
  explicit operator bool() const noexcept { return static_cast<bool>(lock_); }

 private:
  [[no_unique_address]] HeldRank<rank> held_;
  ForkLock lock_;
};

/// ForkTakingLock of such a mutex.
template <LockRank rank>
class [[nodiscard]] RankedForkTakingLock {
 public:
  explicit RankedForkTakingLock(RankedForkMutex<rank>& mutex) noexcept : lock_(mutex.unranked) {}

 private:
  [[no_unique_address]] HeldRank<rank> held_;
  ForkTakingLock lock_;
};

}  // namespace halyard
