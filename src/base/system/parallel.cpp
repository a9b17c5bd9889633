// SPDX-License-Identifier: Apache-2.0
// Runs strips in a oneTBB arena of the given width.
#include "base/system/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <sched.h>

#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <vector>

#include "base/system/fork.h"
#include "base/system/tsan.h"
#include "base/text/log_format.h"
#include "halyard/threads.h"

namespace halyard {

struct Parallel::Arena {
  explicit Arena(std::size_t width) : arena(static_cast<int>(width)), slots(width) {}
  tbb::task_arena arena;
  // For ThreadSanitizer, which cannot see the order that oneTBB guarantees: the caller before the
  // strips, the strips before the caller's return, and one thread in a slot before the next one
  // there. Strips are not ordered among themselves, so that their races still show.
  char begin = 0;
  char end = 0;
  std::vector<char> slots;
  std::vector<char> done;  ///< of each item of a run: 1 once its strip has returned
};

namespace {

// Count of processors that this process may use. oneTBB is not asked: a child of fork() must not
// touch it if the fork happened while its parent was starting it.
std::size_t cores() noexcept {
  cpu_set_t set;
  const int count = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
  return count > 0 ? static_cast<std::size_t>(count)
                   : std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
}

}  // namespace

// Never more threads than cores, except that two are always allowed.
Parallel::Parallel(unsigned threads) noexcept
    : width_(threads == 0 ? cores() : std::min<std::size_t>(threads, std::max(cores(), 2UL))) {}

// In a child of fork(), locks of oneTBB that the parent's threads held are never released, so that
// the child leaks the arena.
Parallel::~Parallel() {
  if (threads_are_lost()) static_cast<void>(arena_.release());
}

bool Parallel::prepare() {
  if (arena_) return true;
  // oneTBB's workers start each other, and the process ends where one cannot start: ask the system
  // first.
  width_ = std::min(width_, startable_threads(width_ - 1) + 1);
  if (width_ == 1) return false;
  arena_ = std::make_unique<Arena>(width_);
  return true;
}

void Parallel::run(std::int32_t count, std::int32_t minimum, const Call& body) {
  if (width_ == 1 || count < 2 * minimum || threads_are_lost()) {
    body(0, count, 0);
    return;
  }
  threads_start();
  if (!prepare()) {
    body(0, count, 0);
    return;
  }
  std::vector<char>& done = arena_->done;
  done.assign(static_cast<std::size_t>(count), 0);
  try {
    run_wide(count, minimum, body);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& why) {
    // A thread could not start. Strips that had begun have ended; the rest run here.
    HALYARD_LOG(LogLevel::warn, "image", "works on one thread from now on: {}", why.what());
    width_ = 1;
    for (auto begin = done.begin(); (begin = std::find(begin, done.end(), 0)) != done.end();) {
      const auto end = std::find(begin, done.end(), 1);
      body(static_cast<std::int32_t>(begin - done.begin()),
           static_cast<std::int32_t>(end - done.begin()), 0);
      begin = end;
    }
  }
}

void Parallel::run_wide(std::int32_t count, std::int32_t minimum, const Call& body) {
  Arena& arena = *arena_;
  if (!arena.arena.is_active()) {
    const LoadingTurn turn;  // oneTBB opens its helper libraries when its first arena starts
    arena.arena.initialize();
  }
  tsan_release(&arena.begin);
  arena.arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int32_t>(0, count, static_cast<std::size_t>(minimum)),
        [&](const tbb::blocked_range<std::int32_t>& strip) {
          const int slot = tbb::this_task_arena::current_thread_index();
          tsan_acquire(&arena.begin);
          char* const token = &arena.slots[static_cast<std::size_t>(slot)];
          tsan_acquire(token);
          body(strip.begin(), strip.end(), static_cast<std::size_t>(slot));
          std::fill(arena.done.begin() + strip.begin(), arena.done.begin() + strip.end(), 1);
          tsan_release(token);
          tsan_release(&arena.end);
        },
        tbb::simple_partitioner());
  });
  tsan_acquire(&arena.end);
}

}  // namespace halyard
