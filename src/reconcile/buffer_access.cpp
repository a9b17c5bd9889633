// SPDX-License-Identifier: Apache-2.0
// Locks and operations of one buffer, and waiting for them.
#include "reconcile/buffer_access.h"

#include <linux/sync_file.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "base/format_error.h"
#include "base/futex.h"
#include "base/thread_number.h"

namespace halyard {
namespace {

constexpr std::uint64_t slot_bits = 8;

/// What a signalled fence says: 0, or its errno. Descriptors of other kinds have no more to say.
std::int32_t error_of_fence(int fd) noexcept {
  sync_file_info info = {};
  if (::ioctl(fd, SYNC_IOC_FILE_INFO, &info) != 0) return 0;
  return info.status < 0 ? -info.status : 0;
}

// BufferLock gives them out for writing where the access allows it.
std::span<std::byte> bytes_of(const Map& map) noexcept {
  return {const_cast<std::byte*>(map.bytes().data()), map.bytes().size()};
}

bool is_signalled(int fd) noexcept {
  pollfd look = {fd, POLLIN, 0};
  return ::poll(&look, 1, 0) > 0;
}

}  // namespace

void BufferAccess::forget_the_parent() noexcept {
  if (generation_ == fork_generation()) return;
  generation_ = fork_generation();
  for (std::size_t k = 0; k < top_; ++k)
    if (holders_[k].thread != 0) clear(holders_[k]);
  waiters_ = 0;
}

BufferAccess::Holder* BufferAccess::free_holder() noexcept {
  for (std::size_t k = 0; k < top_; ++k)
    if (holders_[k].thread == 0) return &holders_[k];
  return top_ < max_holders ? &holders_[top_++] : nullptr;
}

bool BufferAccess::is_open(Access access) const noexcept {
  if (operation_.state == OperationState::pending || writers_ != 0) return false;
  return !can_write(access) || readers_ == 0;
}

BufferAccess::Obstacle BufferAccess::join_waiters() noexcept {
  ++waiters_;
  const bool waits_for_fence = operation_.state == OperationState::pending;
  return {version_.load(std::memory_order_relaxed), waits_for_fence ? operation_.fence : nullptr};
}

bool BufferAccess::clear(Holder& holder) noexcept {
  --(can_write(holder.access) ? writers_ : readers_);
  holder.thread = 0;
  holder.ticket = 0;
  holder.is_kept = false;
  holder.map = Map();
  while (top_ != 0 && holders_[top_ - 1].thread == 0)
    --top_;
  if (waiters_ != 0) wake();
  return is_orphan_ && !has_held_locks();
}

bool BufferAccess::has_held_locks() const noexcept {
  return std::any_of(holders_.begin(), holders_.begin() + static_cast<std::ptrdiff_t>(top_),
                     [](const Holder& each) { return each.thread != 0 && !each.is_kept; });
}

bool BufferAccess::nobody_holds_it() noexcept {
  const ForkTakingLock guard(mutex_);
  forget_the_parent();
  is_orphan_ = true;
  return !has_held_locks();
}

void BufferAccess::keep(std::uint64_t ticket) noexcept {
  const ForkTakingLock guard(mutex_);
  Holder& holder = holders_[(ticket & ((1U << slot_bits) - 1)) % max_holders];
  if (holder.ticket == ticket) holder.is_kept = true;
}

void BufferAccess::wake() noexcept {
  version_.fetch_add(1, std::memory_order_release);
  wake_all_at(&version_);
}

void BufferAccess::end(Operation& operation, OperationState state, std::int32_t code) noexcept {
  operation.state = state;
  operation.code = code;
  operation.took = Clock::now() - operation.begin;
  operation.fence.reset();
}

void BufferAccess::look_at_fence() noexcept {
  const ForkTakingLock guard(mutex_);
  if (operation_.state != OperationState::pending || !operation_.fence) return;
  const int fd = operation_.fence->get();
  if (!is_signalled(fd)) return;
  const std::int32_t code = error_of_fence(fd);
  end(operation_, code == 0 ? OperationState::done : OperationState::failed, code);
  if (waiters_ != 0) wake();
}

bool BufferAccess::wait(const Obstacle& obstacle, const Deadline& deadline) {
  const bool is_over = deadline.is_over();
  if (obstacle.fence) {
    pollfd look = {obstacle.fence->get(), POLLIN, 0};
    (void)::poll(&look, 1, is_over ? 0 : deadline.left_ms());
    look_at_fence();
  } else if (!is_over) {
    constexpr std::chrono::nanoseconds for_long = std::chrono::hours(1);
    wait_at_word(&version_, obstacle.version,
                 std::min(deadline.left().value_or(for_long), for_long));
  }
  const ForkTakingLock guard(mutex_);
  if (waiters_ != 0) --waiters_;
  return !is_over;
}

Result<BufferAccess::Holder*> BufferAccess::take(Access access, std::chrono::nanoseconds timeout) {
  const std::uint64_t self = this_thread_number();
  std::optional<Deadline> deadline;
  bool is_over = false;
  for (;;) {
    Obstacle obstacle;
    {
      const ForkTakingLock guard(mutex_);
      forget_the_parent();
      for (std::size_t k = 0; k < top_; ++k)
        if (holders_[k].thread == self)
          return fail(Errc::busy, "lock: this thread holds a lock of the buffer already",
                      "buffer {}", buffer_->id());
      if (is_open(access)) {
        Holder* const found = free_holder();
        if (found == nullptr)
          return fail(Errc::exhausted, "lock: 64 threads hold locks of the buffer", "buffer {}",
                      buffer_->id());
        ++(can_write(access) ? writers_ : readers_);
        found->thread = self;
        found->access = access;
        found->ticket =
            ++last_ticket_ << slot_bits | static_cast<std::uint64_t>(found - holders_.data());
        return found;
      }
      if (is_over) {
        const bool is_engine = operation_.state == OperationState::pending;
        return fail(Errc::timeout,
                    is_engine ? "lock: an engine still uses the buffer"
                              : "lock: another thread still holds the buffer",
                    "buffer {}", buffer_->id());
      }
      obstacle = join_waiters();
    }
    if (!deadline) deadline.emplace(timeout);
    is_over = !wait(obstacle, *deadline);
  }
}

Status BufferAccess::lock(Access access, std::chrono::nanoseconds timeout, Grant& grant) {
  if (can_write(access) && !buffer_->is_writable())
    return fail(Errc::permission, "lock: the buffer may only be read", "buffer {}", buffer_->id());
  HALYARD_TRY(Holder* const holder, take(access, timeout));
  grant.ticket = holder->ticket;
  grant.bytes = bytes_of(kept_);
  if (!grant.bytes.empty()) return {};
  auto map = buffer_->map_unclaimed(access);
  if (map) {
    holder->map = *std::move(map);
    grant.bytes = bytes_of(holder->map);
    return {};
  }
  const ForkTakingLock guard(mutex_);
  clear(*holder);
  return std::move(map).error();
}

Result<BufferAccess::Holder*> BufferAccess::holder_of(std::uint64_t ticket, Whose whose) {
  if (generation_ != fork_generation())
    return fail(Errc::permission, "unlock: the lock is of the process before fork()", "buffer {}",
                buffer_->id());
  Holder& holder = holders_[(ticket & ((1U << slot_bits) - 1)) % max_holders];
  if (ticket == 0 || holder.ticket != ticket)
    return fail(Errc::invalid_argument, "unlock: the buffer is not locked any more", "buffer {}",
                buffer_->id());
  if (whose == Whose::own && holder.thread != this_thread_number())
    return fail(Errc::permission, "unlock: another thread holds the lock",
                "buffer {}: thread {} of this process, not thread {}", buffer_->id(), holder.thread,
                this_thread_number());
  return &holder;
}

Status BufferAccess::note_sync_error() {
  Status synced = buffer_->sync_error();
  if (synced) return synced;
  const ForkTakingLock guard(mutex_);
  // The first to see a failure reports it; status() keeps it.
  return std::exchange(is_poisoned_, true) ? Status() : synced;
}

Status BufferAccess::unlock(std::uint64_t ticket, Whose whose, bool& is_last) {
  Holder* holder = nullptr;
  {
    const ForkTakingLock guard(mutex_);
    HALYARD_TRY(holder, holder_of(ticket, whose));
    if (can_write(holder->access) && policy_ == CpuPolicy::uncached)
      std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!kept_.bytes().empty()) {
      is_last = clear(*holder);
      return {};
    }
  }
  holder->map = Map();  // without the mutex: the kernel may take its time
  Status synced = note_sync_error();
  const ForkTakingLock guard(mutex_);
  is_last = clear(*holder);
  return synced;
}

Status BufferAccess::unlock_own() {
  std::uint64_t ticket = 0;
  {
    const ForkTakingLock guard(mutex_);
    const std::uint64_t self = this_thread_number();
    const bool is_ours = generation_ == fork_generation();
    for (std::size_t k = 0; k < top_; ++k)
      if (holders_[k].thread == self) ticket = holders_[k].ticket;
    if (ticket == 0 && is_ours && top_ != 0)
      return fail(Errc::permission, "unlock: another thread holds the lock", "buffer {}",
                  buffer_->id());
  }
  if (ticket == 0)
    return fail(Errc::invalid_argument, "unlock: the buffer is not locked", "buffer {}",
                buffer_->id());
  bool is_last = false;
  return unlock(ticket, Whose::own, is_last);
}

Status BufferAccess::sync(std::uint64_t ticket) {
  Holder* holder = nullptr;
  {
    const ForkTakingLock guard(mutex_);
    HALYARD_TRY(holder, holder_of(ticket, Whose::own));
  }
  if (!kept_.bytes().empty()) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return {};
  }
  holder->map = Map();
  HALYARD_TRY(holder->map, buffer_->map_unclaimed(holder->access));
  return note_sync_error();
}

Result<std::uint64_t> BufferAccess::submit(Fd fence) {
  look_at_fence();
  std::shared_ptr<const Fd> shared;
  if (fence) shared = std::make_shared<const Fd>(std::move(fence));
  const ForkTakingLock guard(mutex_);
  forget_the_parent();
  if (operation_.state == OperationState::pending)
    return fail(Errc::busy, "submit: an engine uses the buffer already", "buffer {}",
                buffer_->id());
  if (readers_ + writers_ != 0)
    return fail(Errc::busy, "submit: the CPU holds a lock of the buffer",
                "buffer {}: {} readers, {} writers", buffer_->id(), readers_, writers_);
  operation_ = {operation_.number + 1, OperationState::pending, 0, Clock::now(), {},
                std::move(shared)};
  return operation_.number;
}

void BufferAccess::end_operation(std::uint64_t number, OperationState state,
                                 std::int32_t code) noexcept {
  const ForkTakingLock guard(mutex_);
  if (operation_.number != number || operation_.state != OperationState::pending) return;
  end(operation_, state, code);
  if (waiters_ != 0) wake();
}

Result<OperationStatus> BufferAccess::status(std::chrono::nanoseconds timeout) {
  std::optional<Deadline> deadline;
  bool is_over = false;
  look_at_fence();
  for (;;) {
    Obstacle obstacle;
    {
      const ForkTakingLock guard(mutex_);
      const Operation& last = operation_;
      const bool is_pending = last.state == OperationState::pending;
      if (!is_pending || timeout.count() == 0) {
        const auto took = is_pending ? Clock::now() - last.begin : last.took;
        const auto whole = std::chrono::ceil<std::chrono::microseconds>(took);
        return OperationStatus{last.state, whole, last.code, is_poisoned_};
      }
      if (is_over)
        return fail(Errc::timeout, "status: the engine still uses the buffer", "buffer {}",
                    buffer_->id());
      obstacle = join_waiters();
    }
    if (!deadline) deadline.emplace(timeout);
    is_over = !wait(obstacle, *deadline);
  }
}

}  // namespace halyard
