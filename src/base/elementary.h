// SPDX-License-Identifier: Apache-2.0
// Exponential, logarithm, sine and cosine with the same bits on every machine. The C library's
// functions choose their code by processor, so their last bit differs. No fused arithmetic here.
#pragma once

namespace halyard {

/// e^x with a relative error below 1e-15; 0 below -700, infinity above 700, NaN for NaN.
double exp_of(double x) noexcept;

/// ln x with an error below 1e-15; -infinity at 0, NaN for negative x and for NaN.
double log_of(double x) noexcept;

struct SinCos {
  double sin = 0;
  double cos = 1;
};
/// Error below 1e-15 for |radians| < 1000. Exactly 0 and +-1 at integer multiples of the double
/// that is nearest to a right angle. NaN if `radians` is not finite.
SinCos sin_cos_of(double radians) noexcept;

}  // namespace halyard
