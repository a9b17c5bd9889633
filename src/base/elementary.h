// SPDX-License-Identifier: Apache-2.0
// Exponential, logarithm, sine and cosine that have the same bits on every machine. Those of the C
// library choose their code by processor, and their last bit with it. No fused arithmetic here.
#pragma once

namespace halyard {

/// e^x within 1e-15 of it, relatively; 0 below -700, infinity above 700, NaN of NaN.
double exp_of(double x) noexcept;

/// ln x within 1e-15; -infinity at 0, NaN below and of NaN.
double log_of(double x) noexcept;

struct SinCos {
  double sin = 0;
  double cos = 1;
};
/// Within 1e-15 for |radians| < 1000; exactly 0 and +-1 at whole multiples of the double nearest to
/// a right angle. NaN where radians are not finite.
SinCos sin_cos_of(double radians) noexcept;

}  // namespace halyard
