// SPDX-License-Identifier: Apache-2.0
// Random numbers from the system, which cannot be guessed and do not repeat.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "halyard/result.h"

namespace halyard {

/// Fills at most 256 bytes. Errors: os (the system has none). Thread-safe.
Status fill_random(std::span<std::byte> bytes);

/// A value of random bytes. Errors: those of fill_random().
template <class T>
Result<T> random_value() {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 256);
  T value;
  HALYARD_RETURN_IF_ERROR(fill_random(std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

}  // namespace halyard
