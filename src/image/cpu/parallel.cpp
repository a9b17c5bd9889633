// SPDX-License-Identifier: Apache-2.0
// Strips over a oneTBB arena of the asked width.
#include "image/cpu/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include "base/fork.h"
#include "base/tsan.h"

namespace halyard::image {

struct Parallel::Arena {
  explicit Arena(std::size_t width) : arena(static_cast<int>(width)), slots(width) {}
  tbb::task_arena arena;
  // For ThreadSanitizer, which cannot see what oneTBB orders: the caller before the strips, the
  // strips before the caller's return, and one thread in a slot before the next one there. Strips
  // are not ordered among themselves, so that their races still show.
  char begin = 0;
  char end = 0;
  std::vector<char> slots;
};

namespace {

std::size_t cores() noexcept {
  const int count = tbb::info::default_concurrency();
  return count > 0 ? static_cast<std::size_t>(count) : 1;
}

}  // namespace

// More threads than cores would only take turns.
Parallel::Parallel(unsigned threads) noexcept
    : width_(threads == 0 ? cores() : std::min<std::size_t>(threads, std::max(cores(), 2UL))) {}

Parallel::~Parallel() = default;

void Parallel::run(std::int32_t count, std::int32_t least, const Call& body) {
  if (width_ == 1 || count < 2 * least || threads_are_lost()) {
    body(0, count, 0);
    return;
  }
  threads_start();
  if (!arena_) arena_ = std::make_unique<Arena>(width_);
  Arena& arena = *arena_;
  tsan_release(&arena.begin);
  arena.arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int32_t>(0, count, static_cast<std::size_t>(least)),
        [&](const tbb::blocked_range<std::int32_t>& strip) {
          const int slot = tbb::this_task_arena::current_thread_index();
          tsan_acquire(&arena.begin);
          char* const token = &arena.slots[static_cast<std::size_t>(slot)];
          tsan_acquire(token);
          body(strip.begin(), strip.end(), static_cast<std::size_t>(slot));
          tsan_release(token);
          tsan_release(&arena.end);
        },
        tbb::simple_partitioner());
  });
  tsan_acquire(&arena.end);
}

}  // namespace halyard::image
