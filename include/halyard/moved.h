// SPDX-License-Identifier: Apache-2.0
// Moved<T>: a number, flag or pointer that is reset when it is moved from, so that classes can
// default their move functions.
#pragma once

#include <type_traits>
#include <utility>

namespace halyard {

/// Holds a T. A move takes the value and leaves T{} (0, false, null); a copy copies. For members
/// that describe memory owned by another member of the class: a move resets both. Converts
/// implicitly to and from T. A move costs one more store than that of a T.
template <class T>
class Moved {
  static_assert(std::is_scalar_v<T>, "classes have moves of their own");

 public:
  constexpr Moved() noexcept = default;
  constexpr Moved(T value) noexcept : value_(value) {}
  constexpr Moved(const Moved&) noexcept = default;
  constexpr Moved(Moved&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  constexpr Moved& operator=(const Moved&) noexcept = default;
  /// Self-move keeps the value.
  constexpr Moved& operator=(Moved&& other) noexcept {
    value_ = std::exchange(other.value_, T{});
    return *this;
  }
  constexpr Moved& operator=(T value) noexcept {
    value_ = value;
    return *this;
  }
  constexpr operator T() const noexcept { return value_; }
  constexpr T get() const noexcept { return value_; }

 private:
  T value_{};
};

}  // namespace halyard
