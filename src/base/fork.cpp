// SPDX-License-Identifier: Apache-2.0
// What fork() changes, told by a handler that is there from the loading of the library on.
#include "base/fork.h"

#include <pthread.h>

#include "halyard/threads.h"

namespace halyard {
namespace {

std::atomic<bool> have_started{false};
std::atomic<bool> are_lost{false};
std::atomic<std::uint32_t> generation{1};

void become_child() noexcept {
  generation.fetch_add(1, std::memory_order_relaxed);
  if (have_started.load(std::memory_order_relaxed)) are_lost.store(true, std::memory_order_relaxed);
}

[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, become_child);

}  // namespace

void threads_start() noexcept {
  have_started.store(true, std::memory_order_relaxed);
}

bool threads_are_lost() noexcept {
  return are_lost.load(std::memory_order_relaxed);
}

std::uint32_t fork_generation() noexcept {
  return generation.load(std::memory_order_relaxed);
}

}  // namespace halyard
