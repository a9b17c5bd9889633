// SPDX-License-Identifier: Apache-2.0
// Moved<T>: a number, flag or pointer that moves as owning types do, so that classes may default
// their moves.
#pragma once

#include <type_traits>
#include <utility>

namespace halyard {

/// Holds a T. A move takes the value and leaves T{} (0, false, null) behind; a copy copies. For
/// members that describe memory which a neighbour owns: after a move neither is left. Converts to
/// and from T without a word; no cost beyond a T but the store that a move makes.
template <class T>
class Moved {
  static_assert(std::is_scalar_v<T>, "classes have moves of their own");

 public:
  constexpr Moved() noexcept = default;
  constexpr Moved(T value) noexcept : value_(value) {}
  constexpr Moved(const Moved&) noexcept = default;
  constexpr Moved(Moved&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  constexpr Moved& operator=(const Moved&) noexcept = default;
  /// A value that is moved to itself stays.
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
