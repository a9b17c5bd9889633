// SPDX-License-Identifier: Apache-2.0
// Runs two pieces of work in oneTBB's arena of the calling thread.
#include "compat/beside.h"

#include <tbb/parallel_invoke.h>

#include <exception>
#include <new>

#include "base/system/fork.h"
#include "base/system/tsan.h"
#include "halyard/threads.h"

namespace halyard::compat {

namespace {

// Addresses for ThreadSanitizer, which cannot see that the caller runs before and after both pieces
// of work. They are not in the data passed to the work, because reading that data needs this order
// already.
char begin;
char end;

}  // namespace

void run_beside(Work one, Work other) {
  if (threads_are_lost() || startable_threads(1) == 0) {
    one();
    other();
    return;
  }
  threads_start();
  // If a thread cannot be started, work that has finished is not repeated.
  bool one_is_done = false;
  bool other_is_done = false;
  const auto ordered = [](const Work& work, bool& is_done) {
    return [&work, &is_done] {
      tsan_acquire(&begin);
      work();
      is_done = true;
      tsan_release(&end);
    };
  };
  const auto first = ordered(one, one_is_done);
  const auto second = ordered(other, other_is_done);
  tsan_release(&begin);
  try {
    tbb::parallel_invoke(first, second);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    if (!one_is_done) one();
    if (!other_is_done) other();
  }
  tsan_acquire(&end);
}

}  // namespace halyard::compat
