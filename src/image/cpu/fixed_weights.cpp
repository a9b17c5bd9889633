// SPDX-License-Identifier: Apache-2.0
// Rounds weights so that their sum stays one.
#include "image/cpu/fixed_weights.h"

#include <algorithm>
#include <cmath>

namespace halyard::image {

void to_fixed(std::span<const float> weights, int bits, std::vector<std::int32_t>& out) {
  const double one = std::ldexp(1.0, bits);
  out.resize(weights.size());
  if (weights.size() > static_cast<std::size_t>(few_taps)) {
    double total = 0;
    for (const float w : weights)
      total += static_cast<double>(w);
    double sum = 0;
    std::int32_t before = 0;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      sum += static_cast<double>(weights[t]);
      const auto until = static_cast<std::int32_t>(std::lround(sum / total * one));
      out[t] = until - before;
      before = until;
    }
    return;
  }
  std::int32_t sum = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    out[t] = static_cast<std::int32_t>(std::lround(static_cast<double>(weights[t]) * one));
    sum += out[t];
  }
  *std::max_element(out.begin(), out.end()) += (1 << bits) - sum;
}

}  // namespace halyard::image
