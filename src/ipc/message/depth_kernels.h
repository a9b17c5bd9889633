// SPDX-License-Identifier: Apache-2.0
// Vector code for rows of depths: statistics and conversions, with the same bits on every
// processor. The mean of floats comes from 64 partial sums in double: pixel x of a row is added to
// sum x % 64, and the sums are added in their order. With fewer sums, additions would wait for each
// other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace halyard::ipc {

inline constexpr std::size_t depth_partial_sums = 64;

/// Statistics of the values within [low, high]. NaN is in no interval.
struct FloatDepths {
  float low = 0;
  float high = 0;
  float min = std::numeric_limits<float>::infinity();
  float max = 0;
  std::uint64_t count = 0;
  alignas(64) std::array<double, depth_partial_sums> sums{};  // aligned, so that no vector crosses
                                                              // a cache line
};
/// Adds `count` values, at most 2^30. `low` must be above 0.
void add_depths(const float* values, std::size_t count, FloatDepths& depths) noexcept;

/// Like FloatDepths, for stored units. Exact.
struct UnitDepths {
  std::uint16_t low = 1;  ///< at most `high`
  std::uint16_t high = 0;
  std::uint16_t min = 0xFFFF;
  std::uint16_t max = 0;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};
/// Adds `count` values, at most 65536.
void add_depths(const std::uint16_t* values, std::size_t count, UnitDepths& depths) noexcept;

/// The parameters of a conversion; see DepthUnits.
struct DepthRule {
  double meters_per_unit = 0;
  double units_per_meter = 0;
  float low = 0;  ///< valid depths in metres: low <= depth <= high; low > 0
  float high = 0;
};
/// Converts to metres; NaN for depths that are not valid.
void depths_to_meters(const std::uint16_t* from, std::size_t count, const DepthRule& rule,
                      float* to) noexcept;
void depths_to_meters(const float* from, std::size_t count, const DepthRule& rule,
                      float* to) noexcept;
/// Converts to units, rounded to the nearest, halves up; 0 for depths that are not valid or beyond
/// 65535 units.
void depths_to_units(const float* from, std::size_t count, const DepthRule& rule,
                     std::uint16_t* to) noexcept;

}  // namespace halyard::ipc
