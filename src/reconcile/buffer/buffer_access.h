// SPDX-License-Identifier: Apache-2.0
// BufferAccess: controls who may use a buffer now: threads of the CPU, or an engine.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/system/ranked_mutex.h"
#include "base/system/socket_message.h"
#include "halyard/negotiated_buffer.h"

namespace halyard {

/// Many readers or one writer of this process, and neither of them during an operation of an
/// engine. Locking and unlocking allocate no memory. Thread-safe. Locks that other threads of the
/// parent held at fork() are free in the child.
///
/// A lock without contention, of memory that needs no work at a lock, is one word: one atomic
/// operation takes it and one releases it. A thread that finds the word taken, waits, or submits an
/// operation moves the word's content into the table of holders, which the mutex protects. The word
/// is used again when the table is empty and no thread waits.
class BufferAccess {
 public:
  /// `kept`: a map that serves all locks, for memory that needs no work at each lock; else empty.
  /// `party`: the party that errors name; may be empty.
  BufferAccess(std::shared_ptr<Buffer> buffer, Map kept, CpuPolicy policy,
               std::string party) noexcept
      : buffer_(std::move(buffer)),
        kept_(std::move(kept)),
        policy_(policy),
        party_(std::move(party)) {}

  struct Grant {
    std::uint64_t ticket = 0;
    std::span<std::byte> bytes;
  };
  /// The calls of NegotiatedBuffer, BufferLock and BufferOperation, with their errors.
  Status lock(Access access, std::chrono::nanoseconds timeout, Grant& grant);
  enum class Whose : std::uint8_t { own, any };
  /// `is_last`: set to true if nobody_holds_it() was called before and this was the last held lock.
  Status unlock(std::uint64_t ticket, Whose whose, bool& is_last);
  /// The lock continues without an object that holds it.
  void keep(std::uint64_t ticket) noexcept;
  /// Whether no object holds a lock. If one does, the unlock() of the last one reports it by
  /// `is_last`.
  bool nobody_holds_it() noexcept;
  Status unlock_own();
  Status sync(std::uint64_t ticket);
  Result<std::uint64_t> submit(Fd fence);
  void end_operation(std::uint64_t number, OperationState state, std::int32_t code) noexcept;
  Result<OperationStatus> status(std::chrono::nanoseconds timeout);

 private:
  static constexpr std::size_t max_holders = 64;
  using Clock = std::chrono::steady_clock;

  /// A thread's lock. `thread` 0 means a free entry.
  struct Holder {
    std::uint64_t thread = 0;
    std::uint64_t ticket = 0;
    Access access = Access::read;
    bool is_kept = false;
    Map map;  ///< empty if one map serves all
  };
  struct Operation {
    std::uint64_t number = 0;
    OperationState state = OperationState::none;
    std::int32_t code = 0;
    Clock::time_point begin;
    Clock::duration took{0};
    std::shared_ptr<const Fd> fence;  ///< null: end_operation() reports the end
  };
  /// What a thread waits for: the fence, or a change of the version.
  struct Obstacle {
    std::uint32_t version = 0;
    std::shared_ptr<const Fd> fence;
  };

  /// Holds the mutex. As long as it lives, all holders are in the table.
  class Turn;

  /// Takes the word. Returns its ticket, or 0 if it cannot be taken.
  std::uint64_t take_alone(Access access) noexcept;
  /// Releases the word. Returns false if the ticket is not the word's, or the word has changed
  /// since.
  bool end_alone(std::uint64_t ticket, Whose whose) noexcept;
  Result<Holder*> take(Access access, std::chrono::nanoseconds timeout);
  /// Ends a map. Returns the error of the end.
  Status end_map(Map& map);
  /// For messages of errors.
  std::string name() const;
  /// The following need a Turn:
  Result<Holder*> take_free(Access access, std::uint64_t self);
  void fill_table() noexcept;
  void leave_table() noexcept;
  Holder* find(std::uint64_t ticket) noexcept;
  Result<Holder*> holder_of(std::uint64_t ticket, Whose whose);
  void forget_the_parent() noexcept;
  Holder* free_holder() noexcept;
  bool is_open(Access access) const noexcept;
  bool has_held_locks() const noexcept;
  Obstacle join_waiters() noexcept;
  /// Frees the entry. Returns whether it was the last lock that nobody_holds_it() waits for.
  bool clear(Holder& holder) noexcept;

  void end(Operation& operation, OperationState state, std::int32_t code) noexcept;
  /// Returns false if the time is over.
  bool wait(const Obstacle& obstacle, const Deadline& deadline);
  void look_at_fence() noexcept;
  void wake() noexcept;

  std::shared_ptr<Buffer> buffer_;
  Map kept_;
  CpuPolicy policy_;
  std::string party_;
  std::atomic<std::uint64_t> word_{0};
  RankedForkMutex<LockRank::buffer_access> mutex_;
  // The mutex protects all below.
  std::uint32_t generation_ = fork_generation();
  std::array<Holder, max_holders> holders_;
  std::size_t top_ = 0;  ///< all holders from this index on are free
  std::size_t readers_ = 0, writers_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::uint32_t waiters_ = 0;
  Operation operation_;
  bool is_orphan_ = false;                 ///< only its locks keep the buffer
  std::atomic<std::uint32_t> version_{0};  ///< changes when something ends that others wait for
};

}  // namespace halyard
