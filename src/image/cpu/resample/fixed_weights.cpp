// SPDX-License-Identifier: Apache-2.0
// Rounds weights so that their sum stays one.
#include "image/cpu/resample/fixed_weights.h"

#include <algorithm>

namespace halyard::image {

namespace {

// Halves away from 0, without a call.
std::int32_t rounded(double value) noexcept {
  return static_cast<std::int32_t>(value < 0 ? value - 0.5 : value + 0.5);
}

}  // namespace

void to_fixed(std::span<const float> weights, int bits, std::span<std::int32_t> out) {
  const double one = static_cast<double>(1 << bits);
  if (weights.size() > static_cast<std::size_t>(few_taps)) {
    double total = 0;
    for (const float w : weights)
      total += static_cast<double>(w);
    double sum = 0;
    std::int32_t before = 0;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      sum += static_cast<double>(weights[t]);
      const auto until = rounded(sum / total * one);
      out[t] = until - before;
      before = until;
    }
    return;
  }
  std::int32_t sum = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    out[t] = rounded(static_cast<double>(weights[t]) * one);
    sum += out[t];
  }
  *std::max_element(out.begin(), out.end()) += (1 << bits) - sum;
}

}  // namespace halyard::image
