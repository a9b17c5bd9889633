// SPDX-License-Identifier: Apache-2.0
// Threads of ours and fork(): a child has none of them, and waiting for them would take for ever.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace halyard {

/// Said before threads are started, and before the library that starts them is first called.
/// Thread-safe.
void threads_start() noexcept;
/// Whether this process was forked from one that had said so. Such a process works on the threads
/// that call. Thread-safe.
bool threads_are_lost() noexcept;

/// What `make` gives, at `place` from the first call on, until the process ends. Two threads that
/// come first may both make it, and one is kept: nobody waits, as for a static local variable,
/// which a child may do for ever when it is forked while another thread makes it.
template <class T, class Make>
T& made_once(std::atomic<T*>& place, Make&& make) {
  T* known = place.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  std::unique_ptr<T> fresh(std::forward<Make>(make)());
  if (place.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *known;
}

}  // namespace halyard
