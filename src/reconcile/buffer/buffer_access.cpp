// SPDX-License-Identifier: Apache-2.0
// Locks and operations of one buffer, and waiting for them.
#include "reconcile/buffer/buffer_access.h"

#include <linux/sync_file.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "base/system/futex.h"
#include "base/system/ranked_mutex.h"
#include "base/system/thread_number.h"
#include "base/text/format_error.h"

namespace halyard {
namespace {

// The word is also its ticket: state (2 bits), access, generation of fork(), thread, and a count,
// so that no two locks have the same ticket. Tickets of the table have only the count above the
// generation.
constexpr std::uint64_t idle = 0, alone = 1, in_table = 2, state_mask = 3;
constexpr unsigned access_shift = 2, generation_shift = 4, thread_shift = 12, count_shift = 36;
constexpr std::uint64_t max_generation = (1U << (thread_shift - generation_shift)) - 1;
constexpr std::uint64_t max_thread = (1U << (count_shift - thread_shift)) - 1;
constexpr std::uint64_t one_count = std::uint64_t{1} << count_shift;
constexpr std::uint64_t count_mask = ~(one_count - 1);

Access access_of(std::uint64_t ticket) noexcept {
  return static_cast<Access>(ticket >> access_shift & 3U);
}
std::uint64_t generation_of(std::uint64_t ticket) noexcept {
  return ticket >> generation_shift & max_generation;
}
std::uint64_t thread_of(std::uint64_t ticket) noexcept {
  return ticket >> thread_shift & max_thread;
}

/// The error of a signalled fence: 0, or its errno. Other kinds of descriptors have no error.
std::int32_t error_of_fence(int fd) noexcept {
  sync_file_info info = {};
  if (::ioctl(fd, SYNC_IOC_FILE_INFO, &info) != 0) return 0;
  return info.status < 0 ? -info.status : 0;
}

// BufferLock offers the bytes for writing only if its access allows it.
std::span<std::byte> bytes_of(const Map& map) noexcept {
  return {const_cast<std::byte*>(map.bytes().data()), map.bytes().size()};
}

bool is_signalled(int fd) noexcept {
  pollfd look = {fd, POLLIN, 0};
  return ::poll(&look, 1, 0) > 0;
}

}  // namespace

class BufferAccess::Turn {
 public:
  explicit Turn(BufferAccess& access) noexcept : access_(access), lock_(access.mutex_) {
    access_.forget_the_parent();
    access_.fill_table();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { access_.leave_table(); }

 private:
  BufferAccess& access_;
  RankedForkTakingLock<LockRank::buffer_access> lock_;
};

std::string BufferAccess::name() const {
  if (party_.empty()) return fmt::format("buffer {}", buffer_->id());
  return fmt::format("buffer {} of party \"{}\"", buffer_->id(), party_);
}

std::uint64_t BufferAccess::take_alone(Access access) noexcept {
  const std::uint64_t self = this_thread_number(), generation = fork_generation();
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  if ((seen & state_mask) != idle || self > max_thread || generation > max_generation) return 0;
  const std::uint64_t ticket = ((seen & count_mask) + one_count) | self << thread_shift |
                               generation << generation_shift |
                               static_cast<std::uint64_t>(access) << access_shift | alone;
  const bool is_taken = word_.compare_exchange_strong(seen, ticket, std::memory_order_acquire,
                                                      std::memory_order_relaxed);
  return is_taken ? ticket : 0;
}

bool BufferAccess::end_alone(std::uint64_t ticket, Whose whose) noexcept {
  if ((ticket & state_mask) != alone || generation_of(ticket) != fork_generation()) return false;
  if (whose == Whose::own && thread_of(ticket) != this_thread_number()) return false;
  return word_.compare_exchange_strong(ticket, (ticket & count_mask) | idle,
                                       std::memory_order_release, std::memory_order_relaxed);
}

void BufferAccess::fill_table() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  while ((seen & state_mask) != in_table &&
         !word_.compare_exchange_weak(seen, (seen & count_mask) | in_table,
                                      std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  if ((seen & state_mask) != alone || generation_of(seen) != fork_generation()) return;
  top_ = 1;  // the word was the only holder
  Holder& holder = holders_[0];
  holder.access = access_of(seen);
  holder.ticket = seen;
  holder.thread = thread_of(seen);
  ++(can_write(holder.access) ? writers_ : readers_);
}

void BufferAccess::leave_table() noexcept {
  const bool is_needed = readers_ + writers_ != 0 || waiters_ != 0 || is_orphan_ ||
                         operation_.state == OperationState::pending;
  if (is_needed) return;
  const std::uint64_t count = word_.load(std::memory_order_relaxed) & count_mask;
  word_.store(count | idle, std::memory_order_release);
}

void BufferAccess::forget_the_parent() noexcept {
  if (generation_ == fork_generation()) return;
  generation_ = fork_generation();
  for (std::size_t k = 0; k < top_; ++k)
    if (holders_[k].thread != 0) clear(holders_[k]);
  waiters_ = 0;
  readers_ = writers_ = 0;
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
  const Turn turn(*this);
  is_orphan_ = true;
  return !has_held_locks();
}

BufferAccess::Holder* BufferAccess::find(std::uint64_t ticket) noexcept {
  for (std::size_t k = 0; k < top_; ++k)
    if (holders_[k].thread != 0 && holders_[k].ticket == ticket) return &holders_[k];
  return nullptr;
}

void BufferAccess::keep(std::uint64_t ticket) noexcept {
  const Turn turn(*this);
  if (Holder* const holder = find(ticket)) holder->is_kept = true;
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
  const RankedForkTakingLock guard(mutex_);
  if (operation_.state != OperationState::pending || !operation_.fence) return;
  const int fd = operation_.fence->get();
  if (!is_signalled(fd)) return;
  const std::int32_t code = error_of_fence(fd);
  end(operation_, code == 0 ? OperationState::done : OperationState::failed, code);
  if (waiters_ != 0) wake();
  leave_table();
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
  const Turn turn(*this);
  if (waiters_ != 0) --waiters_;
  return !is_over;
}

Result<BufferAccess::Holder*> BufferAccess::take_free(Access access, std::uint64_t self) {
  Holder* const found = free_holder();
  if (found == nullptr)
    return fail(Errc::exhausted, "lock: 64 threads hold locks of the buffer", "{}", name());
  ++(can_write(access) ? writers_ : readers_);
  found->thread = self;
  found->access = access;
  found->ticket = ++last_ticket_ << thread_shift |
                  (fork_generation() & max_generation) << generation_shift | in_table;
  return found;
}

Result<BufferAccess::Holder*> BufferAccess::take(Access access, std::chrono::nanoseconds timeout) {
  const std::uint64_t self = this_thread_number();
  std::optional<Deadline> deadline;
  bool is_over = false;
  for (;;) {
    Obstacle obstacle;
    {
      const Turn turn(*this);
      for (std::size_t k = 0; k < top_; ++k)
        if (holders_[k].thread == self)
          return fail(Errc::busy, "lock: this thread holds a lock of the buffer already", "{}",
                      name());
      if (is_open(access)) return take_free(access, self);
      if (is_over) {
        const bool is_engine = operation_.state == OperationState::pending;
        return fail(Errc::timeout,
                    is_engine ? "lock: an engine still uses the buffer"
                              : "lock: another thread still holds the buffer",
                    "{}", name());
      }
      obstacle = join_waiters();
    }
    if (!deadline) deadline.emplace(timeout);
    is_over = !wait(obstacle, *deadline);
  }
}

Status BufferAccess::lock(Access access, std::chrono::nanoseconds timeout, Grant& grant) {
  if (can_write(access) && !buffer_->is_writable())
    return fail(Errc::permission, "lock: the buffer may only be read", "{}", name());
  grant.bytes = bytes_of(kept_);
  if (!grant.bytes.empty()) grant.ticket = take_alone(access);
  if (grant.ticket != 0) return {};
  HALYARD_TRY(Holder* const holder, take(access, timeout));
  grant.ticket = holder->ticket;
  if (!grant.bytes.empty()) return {};
  auto map = buffer_->map_unclaimed(access);
  if (map) {
    holder->map = *std::move(map);
    grant.bytes = bytes_of(holder->map);
    return {};
  }
  const Turn turn(*this);
  clear(*holder);
  return std::move(map).error();
}

Result<BufferAccess::Holder*> BufferAccess::holder_of(std::uint64_t ticket, Whose whose) {
  if (generation_of(ticket) != (fork_generation() & max_generation))
    return fail(Errc::permission, "unlock: the lock was taken before fork()", "{}", name());
  Holder* const holder = find(ticket);
  if (holder == nullptr)
    return fail(Errc::invalid_argument, "unlock: the buffer is not locked any more", "{}", name());
  if (whose == Whose::own && holder->thread != this_thread_number())
    return fail(Errc::permission, "unlock: another thread holds the lock",
                "{}: thread {} of this process, not thread {}", name(), holder->thread,
                this_thread_number());
  return holder;
}

Status BufferAccess::end_map(Map& map) {
  const std::uint64_t before = buffer_->sync_failures();
  map = Map();
  return buffer_->sync_failures() == before ? Status() : buffer_->sync_error();
}

Status BufferAccess::unlock(std::uint64_t ticket, Whose whose, bool& is_last) {
  // The fence does not depend on the access: after reading it costs little.
  if (policy_ == CpuPolicy::uncached) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (end_alone(ticket, whose)) return {};
  Holder* holder = nullptr;
  {
    const Turn turn(*this);
    HALYARD_TRY(holder, holder_of(ticket, whose));
    if (!kept_.bytes().empty()) {
      is_last = clear(*holder);
      return {};
    }
  }
  Status ended = end_map(holder->map);  // without the mutex: the kernel may take long
  const Turn turn(*this);
  is_last = clear(*holder);
  return ended;
}

Status BufferAccess::unlock_own() {
  std::uint64_t ticket = 0;
  {
    const Turn turn(*this);
    const std::uint64_t self = this_thread_number();
    for (std::size_t k = 0; k < top_; ++k)
      if (holders_[k].thread == self) ticket = holders_[k].ticket;
    if (ticket == 0 && top_ != 0)
      return fail(Errc::permission, "unlock: another thread holds the lock", "{}", name());
  }
  if (ticket == 0)
    return fail(Errc::invalid_argument, "unlock: the buffer is not locked", "{}", name());
  bool is_last = false;
  return unlock(ticket, Whose::own, is_last);
}

Status BufferAccess::sync(std::uint64_t ticket) {
  Holder* holder = nullptr;
  {
    const Turn turn(*this);
    HALYARD_TRY(holder, holder_of(ticket, Whose::own));
  }
  if (!kept_.bytes().empty()) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return {};
  }
  const Status ended = end_map(holder->map);
  HALYARD_TRY(holder->map, buffer_->map_unclaimed(holder->access));
  return ended;
}

Result<std::uint64_t> BufferAccess::submit(Fd fence) {
  look_at_fence();
  std::shared_ptr<const Fd> shared;
  if (fence) shared = std::make_shared<const Fd>(std::move(fence));
  const Turn turn(*this);
  if (operation_.state == OperationState::pending)
    return fail(Errc::busy, "submit: an engine uses the buffer already", "{}", name());
  if (readers_ + writers_ != 0)
    return fail(Errc::busy, "submit: the CPU holds a lock of the buffer",
                "{}: {} readers, {} writers", name(), readers_, writers_);
  operation_ = {operation_.number + 1, OperationState::pending, 0, Clock::now(), {},
                std::move(shared)};
  return operation_.number;
}

void BufferAccess::end_operation(std::uint64_t number, OperationState state,
                                 std::int32_t code) noexcept {
  const Turn turn(*this);
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
      const RankedForkTakingLock guard(mutex_);
      const Operation& last = operation_;
      const bool is_pending = last.state == OperationState::pending;
      if (!is_pending || timeout.count() == 0) {
        const auto took = is_pending ? Clock::now() - last.begin : last.took;
        const auto whole = std::chrono::ceil<std::chrono::microseconds>(took);
        return OperationStatus{last.state, whole, last.code, buffer_->sync_failures() != 0};
      }
      if (is_over)
        return fail(Errc::timeout, "status: the engine still uses the buffer", "{}", name());
      obstacle = join_waiters();
    }
    if (!deadline) deadline.emplace(timeout);
    is_over = !wait(obstacle, *deadline);
  }
}

}  // namespace halyard
