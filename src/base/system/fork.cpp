// SPDX-License-Identifier: Apache-2.0
// What fork() changes, and what it waits for. Handlers are registered when the library is loaded.
#include "base/system/fork.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

namespace halyard {
namespace {

std::atomic<bool> have_started{false};
std::atomic<bool> are_lost{false};
std::atomic<std::uint32_t> generation{1};
// Descriptor + 1; 0: a free place.
std::array<std::atomic<int>, 4096> parents_fds{};

// Threads that load shared objects, and threads that fork. Each side counts itself before it looks
// at the other, so that one of them sees the other.
std::atomic<int> loading{0};
std::atomic<int> forking{0};
thread_local int own_turns = 0;
// The limit is for an object whose initialization waits for the thread that forks.
constexpr std::chrono::seconds longest_load{10};
constexpr std::chrono::microseconds load_pause{200};

void prepare_fork() noexcept {
  forking.fetch_add(1);
  if (own_turns > 0) return;
  const auto end = std::chrono::steady_clock::now() + longest_load;
  while (loading.load() != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(load_pause);
}

void remain_parent() noexcept {
  if (forking.fetch_sub(1) == 1) forking.notify_all();
}

void become_child() noexcept {
  forking.store(0);
  loading.store(own_turns > 0 ? 1 : 0);
  for (auto& place : parents_fds) {
    const int fd = place.exchange(0, std::memory_order_relaxed) - 1;
    if (fd >= 0) ::close(fd);
  }
  generation.fetch_add(1, std::memory_order_relaxed);
  if (have_started.load(std::memory_order_relaxed)) are_lost.store(true, std::memory_order_relaxed);
}

[[maybe_unused]] const int registered = ::pthread_atfork(prepare_fork, remain_parent, become_child);

}  // namespace

void threads_start() noexcept {
  have_started.store(true, std::memory_order_relaxed);
}

bool threads_are_lost() noexcept {
  return are_lost.load(std::memory_order_relaxed);
}

[[gnu::hot]] std::uint32_t fork_generation() noexcept {
  return generation.load(std::memory_order_relaxed);
}

LoadingTurn::LoadingTurn() noexcept {
  if (own_turns++ > 0) return;
  for (;;) {
    loading.fetch_add(1);
    const int now = forking.load();
    if (now == 0) return;
    loading.fetch_sub(1);
    forking.wait(now);
  }
}

LoadingTurn::~LoadingTurn() {
  if (--own_turns == 0) loading.fetch_sub(1);
}

ParentFd::ParentFd(Fd fd) noexcept : fd_(std::move(fd)), generation_(fork_generation()) {
  if (fd_.get() < 0) return;
  for (auto& place : parents_fds) {
    int seen = 0;
    if (place.load(std::memory_order_relaxed) != 0) continue;
    if (!place.compare_exchange_strong(seen, fd_.get() + 1, std::memory_order_relaxed)) continue;
    place_ = &place;
    return;
  }
}

ParentFd& ParentFd::operator=(ParentFd&& other) noexcept {
  if (this == &other) return *this;
  reset();
  fd_ = std::move(other.fd_);
  place_ = std::exchange(other.place_, nullptr);
  generation_ = other.generation_;
  return *this;
}

void ParentFd::reset() noexcept {
  if (place_ != nullptr && generation_ != fork_generation()) {
    // The fork handler has closed it; another file may have the number by now.
    static_cast<void>(fd_.release());
  } else if (place_ != nullptr) {
    place_->store(0, std::memory_order_relaxed);
  }
  place_ = nullptr;
  fd_.reset();
}

}  // namespace halyard
