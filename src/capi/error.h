// SPDX-License-Identifier: Apache-2.0
// How the C interface fails: errno, a line of text for the thread, and no exception outside.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <utility>

#include "halyard/result.h"

namespace halyard::capi {

/// Sets errno and what hal_last_error() gives. Allocates nothing beside the message.
void report(const Error& error) noexcept;
void report(Errc code, const char* what) noexcept;

/// Runs `call`, which gives Result<T>; on failure reports it and gives `failed`. Success leaves
/// errno as it was, whatever was tried on the way.
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
    report(Errc::no_memory, "memory: there is no more");
  } catch (const std::exception&) {
    report(Errc::os, "internal: an exception reached the C interface");
  }
  return failed;
}

}  // namespace halyard::capi
