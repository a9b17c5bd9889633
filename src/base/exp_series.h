// SPDX-License-Identifier: Apache-2.0
// The constants of exp_of(), which vector code uses too.
#pragma once

#include <array>
#include <cstddef>

namespace halyard {

inline constexpr double log2_of_e = 1.4426950408889634;
// ln 2 in two parts. The high part has so few bits that its product with an exponent is exact.
inline constexpr double ln2_high = 6.93147180369123816490e-01;
inline constexpr double ln2_low = 1.90821492927058770002e-10;

/// 1 / n!: Taylor's series of e^r for |r| < 0.35.
inline constexpr std::array<double, 15> exp_coefficients = [] {
  std::array<double, 15> out{};
  double factorial = 1;
  for (std::size_t n = 0; n < out.size(); ++n) {
    if (n > 0) factorial *= static_cast<double>(n);
    out[n] = 1 / factorial;
  }
  return out;
}();

}  // namespace halyard
