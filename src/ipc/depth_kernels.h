// SPDX-License-Identifier: Apache-2.0
// Statistics of rows of depths, on vectors. The same bits on every processor: the mean of floats
// comes from 32 partial sums in double, pixel x of a row in sum x % 32, added up in their order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace halyard::ipc {

inline constexpr std::size_t depth_partial_sums = 32;

/// Over the values within [low, high]; NaN is in no interval.
struct FloatDepths {
  float low = 0;
  float high = 0;
  float min = std::numeric_limits<float>::infinity();
  float max = 0;
  std::uint64_t count = 0;
  std::array<double, depth_partial_sums> sums{};
};
/// Takes `count` values along, at most 2^30. 0 < low.
void add_depths(const float* values, std::size_t count, FloatDepths& depths) noexcept;

/// The same for stored units; exact.
struct UnitDepths {
  std::uint16_t low = 1;  ///< at most `high`
  std::uint16_t high = 0;
  std::uint16_t min = 0xFFFF;
  std::uint16_t max = 0;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};
/// `count`: at most 65536.
void add_depths(const std::uint16_t* values, std::size_t count, UnitDepths& depths) noexcept;

}  // namespace halyard::ipc
