// SPDX-License-Identifier: Apache-2.0
// Series about a reduced argument. They use only sums, products, quotients and exact functions.
#include "base/elementary.h"

#include <cmath>
#include <limits>

#include "base/exp_series.h"

namespace halyard {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double right_angle = 1.5707963267948966;

// Taylor's series of e^r;
// r
// < 0.35.
double exp_series(double r) noexcept {
  double sum = exp_coefficients.back();
  for (std::size_t n = exp_coefficients.size() - 1; n-- > 0;)
    sum = sum * r + exp_coefficients[n];
  return sum;
}

// Sum of (-r2)^k / ((from+1)(from+2)...(from+2k)); from 1: sin r / r, from 0: cos r.
double alternating_series(double r2, int from) noexcept {
  double sum = 1;
  for (int k = 9; k >= 1; --k)
    sum = 1 - sum * r2 / ((from + 2 * k - 1) * (from + 2 * k));
  return sum;
}

}  // namespace

double exp_of(double x) noexcept {
  if (x < -700) return 0;
  if (x > 700) return infinity;
  if (std::isnan(x)) return x;
  const double k = std::floor(x * log2_of_e + 0.5);
  const double r = (x - k * ln2_high) - k * ln2_low;
  return std::ldexp(exp_series(r), static_cast<int>(k));
}

double log_of(double x) noexcept {
  if (!(x >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -infinity;
  if (x == infinity) return x;
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // ln m = 2 artanh s; |s| < 0.172.
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double sum = 0;
  for (int n = 23; n >= 1; n -= 2)
    sum = sum * s2 + 1.0 / n;
  return exponent * ln2_high + (exponent * ln2_low + 2 * s * sum);
}

SinCos sin_cos_of(double radians) noexcept {
  int quarters = 0;
  const double r = std::remquo(radians, right_angle, &quarters);  // exact
  const double sin = r * alternating_series(r * r, 1);
  const double cos = alternating_series(r * r, 0);
  switch (static_cast<unsigned>(quarters) % 4U) {
    case 0:
      return {sin, cos};
    case 1:
      return {cos, -sin};
    case 2:
      return {-sin, -cos};
    default:
      return {-cos, sin};
  }
}

}  // namespace halyard
