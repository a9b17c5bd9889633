// SPDX-License-Identifier: Apache-2.0
// Amount: a number of bytes that detects overflow and keeps that state.
#pragma once

#include <cstdint>

namespace halyard {

class Amount {
 public:
  constexpr Amount(std::uint64_t value = 0) noexcept : value_(value) {}
  bool overflows() const noexcept { return overflows_; }
  /// 2^64-1 if it overflows.
  std::uint64_t value() const noexcept { return overflows_ ? ~std::uint64_t{0} : value_; }

  friend Amount operator*(Amount a, Amount b) noexcept {
    a.overflows_ |= b.overflows_ | __builtin_mul_overflow(a.value_, b.value_, &a.value_);
    return a;
  }
  friend Amount operator+(Amount a, Amount b) noexcept {
    a.overflows_ |= b.overflows_ | __builtin_add_overflow(a.value_, b.value_, &a.value_);
    return a;
  }

 private:
  std::uint64_t value_;
  bool overflows_ = false;
};

/// Rounded up to a multiple of `unit`, which is at least 1.
inline Amount round_up(Amount amount, std::uint64_t unit) noexcept {
  const Amount sum = amount + Amount(unit - 1);
  return sum.overflows() ? sum : Amount(sum.value() / unit * unit);
}

}  // namespace halyard
