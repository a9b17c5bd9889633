// SPDX-License-Identifier: Apache-2.0
// How the C interface fails: errno, a message per thread, and no exception leaves it.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <utility>

#include "halyard/result.h"

namespace halyard::capi {

/// Sets errno and the text of hal_last_error(). Allocates nothing but the message.
void report(const Error& error) noexcept;
void report(Errc code, const char* what) noexcept;

/// Runs `call`, which returns Result<T>. On failure it reports the error and returns `failed`. On
/// success errno keeps its value, even if something failed inside.
template <class T, class F>
T guarded(T failed, F&& call) noexcept {
  const int before = errno;
  try {
    auto result = std::forward<F>(call)();
    if (result) {
      errno = before;
      return *std::move(result);
    }
    report(result.error());
  } catch (const std::bad_alloc&) {
    report(Errc::no_memory, "memory: allocation failed");
  } catch (const std::exception&) {
    report(Errc::os, "internal: an exception reached the C interface");
  }
  return failed;
}

/// As guarded(): finds a pointer by `find()`, a Result, and calls `use` with what it points to. 0
/// if both succeed, else -1.
template <class Find, class F>
int guarded_use(Find&& find, F&& use) noexcept {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(auto* const found, std::forward<Find>(find)());
    HALYARD_RETURN_IF_ERROR(std::forward<F>(use)(*found));
    return 0;
  });
}

}  // namespace halyard::capi
