// SPDX-License-Identifier: Apache-2.0
// Two pieces of work in oneTBB's arena of the calling thread.
#include "compat/beside.h"

#include <tbb/parallel_invoke.h>

#include "base/fork.h"
#include "base/tsan.h"

namespace halyard::compat {

namespace {

// For ThreadSanitizer, which cannot see that callers come before both and after them. Not in what
// is passed along: to read that is what has to be ordered.
char begin;
char end;

}  // namespace

void run_beside(Work one, Work other) {
  if (threads_are_lost()) {
    one();
    other();
    return;
  }
  threads_start();
  const auto ordered = [](const Work& work) {
    return [&work] {
      tsan_acquire(&begin);
      work();
      tsan_release(&end);
    };
  };
  const auto first = ordered(one);
  const auto second = ordered(other);
  tsan_release(&begin);
  tbb::parallel_invoke(first, second);
  tsan_acquire(&end);
}

}  // namespace halyard::compat
