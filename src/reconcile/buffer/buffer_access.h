// SPDX-License-Identifier: Apache-2.0
// BufferAccess: who may touch a buffer now: threads of the CPU, or an engine.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/system/socket_message.h"
#include "halyard/negotiated_buffer.h"

namespace halyard {

/// Many readers or one writer of this process, and neither beside an operation. Locking and
/// unlocking allocate nothing. Thread-safe; what a thread that fork() left behind held is free in
/// the child.
///
/// A lock that nobody is in the way of, of memory that needs no work, is one word: one atomic
/// operation takes it and one ends it. Whoever finds the word taken, or waits, or submits an
/// operation, moves what it says into the table of holders, which the mutex protects; the word
/// comes back into use when the table is empty and nobody waits.
class BufferAccess {
 public:
  /// `kept`: a map that serves all locks, for memory that needs no work at each; or none.
  /// `party`: that errors name; or none.
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
  /// `is_last`: nobody_holds_it() was asked before, and is true now.
  Status unlock(std::uint64_t ticket, Whose whose, bool& is_last);
  /// The lock stays without an object that holds it.
  void keep(std::uint64_t ticket) noexcept;
  /// No object holds a lock. If one does, the end of the last of them says so.
  bool nobody_holds_it() noexcept;
  Status unlock_own();
  Status sync(std::uint64_t ticket);
  Result<std::uint64_t> submit(Fd fence);
  void end_operation(std::uint64_t number, OperationState state, std::int32_t code) noexcept;
  Result<OperationStatus> status(std::chrono::nanoseconds timeout);

 private:
  static constexpr std::size_t max_holders = 64;
  using Clock = std::chrono::steady_clock;

  /// A thread's lock; `thread` 0: free.
  struct Holder {
    std::uint64_t thread = 0;
    std::uint64_t ticket = 0;
    Access access = Access::read;
    bool is_kept = false;
    Map map;  ///< nothing where one map serves all
  };
  struct Operation {
    std::uint64_t number = 0;
    OperationState state = OperationState::none;
    std::int32_t code = 0;
    Clock::time_point begin;
    Clock::duration took{0};
    std::shared_ptr<const Fd> fence;  ///< null: somebody says when it ends
  };
  /// What a waiter waits for: the fence, or that the version is another.
  struct Obstacle {
    std::uint32_t version = 0;
    std::shared_ptr<const Fd> fence;
  };

  /// Holds the mutex. As long as it lives all holders are in the table.
  class Turn;

  /// The word's ticket; 0: it cannot be had.
  std::uint64_t take_alone(Access access) noexcept;
  /// False: it is not the word, or not as it was taken.
  bool end_alone(std::uint64_t ticket, Whose whose) noexcept;
  Result<Holder*> take(Access access, std::chrono::nanoseconds timeout);
  /// Ends a map; the error of its end.
  Status end_map(Map& map);
  /// For texts of errors.
  std::string name() const;
  /// Those with a Turn held:
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
  /// Whether it was the last that was waited for.
  bool clear(Holder& holder) noexcept;

  void end(Operation& operation, OperationState state, std::int32_t code) noexcept;
  /// False: the time is over.
  bool wait(const Obstacle& obstacle, const Deadline& deadline);
  void look_at_fence() noexcept;
  void wake() noexcept;

  std::shared_ptr<Buffer> buffer_;
  Map kept_;
  CpuPolicy policy_;
  std::string party_;
  std::atomic<std::uint64_t> word_{0};
  ForkMutex mutex_;
  // All below is protected by it.
  std::uint32_t generation_ = fork_generation();
  std::array<Holder, max_holders> holders_;
  std::size_t top_ = 0;  ///< holders behind it are free
  std::size_t readers_ = 0, writers_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::uint32_t waiters_ = 0;
  Operation operation_;
  bool is_orphan_ = false;                 ///< the locks alone keep it
  std::atomic<std::uint32_t> version_{0};  ///< changes when something ends that others wait for
};

}  // namespace halyard
