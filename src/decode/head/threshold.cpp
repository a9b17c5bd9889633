// SPDX-License-Identifier: Apache-2.0
// Computes thresholds in stored values.
#include "decode/head/threshold.h"

#include <algorithm>
#include <cmath>

namespace halyard::decode {

StoredRange stored_range(DType dtype) noexcept {
  switch (dtype) {
    case DType::i8:
      return {-128, 127};
    case DType::u8:
      return {0, 255};
    case DType::i16:
      return {-32768, 32767};
    case DType::u16:
      return {0, 65535};
    default:
      return {};
  }
}

std::optional<std::int32_t> quantized_threshold(float threshold, Dequantization affine,
                                                DType dtype) noexcept {
  const auto [lowest, highest] = stored_range(dtype);
  const double exact = std::ceil(static_cast<double>(threshold) / affine.scale + affine.zero_point);
  auto q = static_cast<std::int32_t>(
      std::clamp(exact, static_cast<double>(lowest), static_cast<double>(highest)));
  // Real values are floats that were rounded once. Near the threshold they decide, not the
  // quotient.
  const auto passes = [&](std::int32_t value) {
    return dequantize(static_cast<float>(value), affine) >= threshold;
  };
  while (q > lowest && passes(q - 1))
    --q;
  while (q < highest && !passes(q))
    ++q;
  if (!passes(q)) return std::nullopt;
  return q;
}

template <class T>
T short_threshold(float threshold) noexcept {
  const auto of = [](int place) {
    return T{static_cast<std::uint16_t>(place < 0 ? 0x8000 - place : place)};
  };
  int low = -infinity_bits<T>;
  int high = infinity_bits<T>;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (to_float(of(middle)) >= threshold) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return of(low);
}
template Half short_threshold(float) noexcept;
template BFloat16 short_threshold(float) noexcept;

}  // namespace halyard::decode
