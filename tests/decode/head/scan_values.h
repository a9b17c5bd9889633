// SPDX-License-Identifier: Apache-2.0
// Types, values, grids and thresholds for the tests of scans.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "decode/head/argmax_scan.h"
#include "decode/tensors.h"

namespace halyard::test {

using StoredTypes =
    ::testing::Types<float, Half, BFloat16, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>;

inline BFloat16 to_bfloat(float value) {  // truncated
  return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)};
}

// Values with many ties, extremes and, for floats, NaN and infinities of both signs.
template <class T>
T random_value(std::mt19937& random) {
  const auto roll = random();
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (roll % 31 == 0) return Limits::max();
    if (roll % 29 == 0) return Limits::min();
    return static_cast<T>(Limits::min() + static_cast<int>(roll / 64 % 40));
  } else {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    float value = static_cast<float>(roll % 64) / 63.0F;
    if (roll % 97 == 0) value = std::numeric_limits<float>::quiet_NaN();
    if (roll % 101 == 0) value = -std::numeric_limits<float>::quiet_NaN();
    if (roll % 103 == 0) value = roll % 2 == 0 ? infinity : -infinity;
    if (roll % 89 == 0) value = -0.0F;
    if (roll % 83 == 0) value = -0.5F;
    if (roll % 79 == 0) value = -0.25F - value;
    if constexpr (std::is_same_v<T, Half>) {
      return to_half(value);
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      return to_bfloat(value);
    } else {
      return value;
    }
  }
}

template <class T>
std::vector<T> random_values(std::size_t count, std::mt19937& random) {
  std::vector<T> values(count);
  for (T& value : values)
    value = random_value<T>(random);
  return values;
}

/// The same bytes as [classes, anchors] and as [anchors, classes], and every second anchor of the
/// first, which no vector can load.
struct ScoreGrids {
  decode::ScoreGrid columns, rows, halved;
};
template <class T>
ScoreGrids grids_of(const std::vector<T>& values, std::size_t anchors, std::size_t classes) {
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  const auto n = static_cast<std::ptrdiff_t>(anchors);
  const auto c = static_cast<std::ptrdiff_t>(classes);
  return {{data, anchors, classes, size, n * size},
          {data, anchors, classes, c * size, size},
          {data, anchors / 2, classes, 2 * size, n * size}};
}

template <class T>
std::vector<T> thresholds() {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> floats{0.0F, 0.25F, 60.0F / 63.0F, 1.0F, -0.0F, -0.5F, -infinity};
  if constexpr (std::is_same_v<T, float>) {
    return floats;
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    return {Limits::min(), static_cast<T>(Limits::min() + 1), static_cast<T>(Limits::min() + 35),
            Limits::max()};
  } else {
    std::vector<T> out;
    for (const float value : floats) {
      if constexpr (std::is_same_v<T, Half>) {
        out.push_back(to_half(value));
      } else {
        out.push_back(to_bfloat(value));
      }
    }
    return out;
  }
}

}  // namespace halyard::test
