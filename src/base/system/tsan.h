// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer of an order that it cannot see, because a library without instrumentation
// makes it. Does nothing in other builds. This does not synchronise threads.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define HALYARD_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HALYARD_TSAN 1
#endif
#endif

#if defined(HALYARD_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace halyard {

/// What happens before tsan_release(token) is ordered before what follows tsan_acquire(token).
inline void tsan_release([[maybe_unused]] void* token) noexcept {
#if defined(HALYARD_TSAN)
  __tsan_release(token);
#endif
}
inline void tsan_acquire([[maybe_unused]] void* token) noexcept {
#if defined(HALYARD_TSAN)
  __tsan_acquire(token);
#endif
}

}  // namespace halyard
