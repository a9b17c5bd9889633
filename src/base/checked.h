// SPDX-License-Identifier: Apache-2.0
// Size arithmetic that detects overflow. For every number that comes from outside.
#pragma once

#include <cstddef>
#include <optional>

namespace halyard {

/// a * b, or nullopt if the product does not fit.
inline std::optional<std::size_t> checked_mul(std::size_t a, std::size_t b) noexcept {
  std::size_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a + b, or nullopt if the sum does not fit.
inline std::optional<std::size_t> checked_add(std::size_t a, std::size_t b) noexcept {
  std::size_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// `a` rounded up to a multiple of `b` (b > 0), or nullopt if the result does not fit.
inline std::optional<std::size_t> checked_round_up(std::size_t a, std::size_t b) noexcept {
  const auto sum = checked_add(a, b - 1);
  if (!sum) return std::nullopt;
  return *sum / b * b;
}

}  // namespace halyard
