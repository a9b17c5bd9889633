// SPDX-License-Identifier: Apache-2.0
// Rows of depths on vectors: statistics and conversions, the same bits on every processor. A mean
// of floats comes from 64 partial sums in double, pixel x of a row in sum x % 64, added up in their
// order: with fewer, one addition would wait for the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace halyard::ipc {

inline constexpr std::size_t depth_partial_sums = 64;

/// Over the values within [low, high]; NaN is in no interval.
struct FloatDepths {
  float low = 0;
  float high = 0;
  float min = std::numeric_limits<float>::infinity();
  float max = 0;
  std::uint64_t count = 0;
  alignas(64) std::array<double, depth_partial_sums> sums{};  // no vector crosses a cache line
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

/// What a conversion needs to know; see DepthUnits.
struct DepthRule {
  double meters_per_unit = 0;
  double units_per_meter = 0;
  float low = 0;  ///< valid depths in metres: low <= depth <= high; 0 < low
  float high = 0;
};
/// Metres; NaN for what is not valid.
void depths_to_meters(const std::uint16_t* from, std::size_t count, const DepthRule& rule,
                      float* to) noexcept;
void depths_to_meters(const float* from, std::size_t count, const DepthRule& rule,
                      float* to) noexcept;
/// Units rounded to the nearest, halves up; 0 for what is not valid or beyond 65535.
void depths_to_units(const float* from, std::size_t count, const DepthRule& rule,
                     std::uint16_t* to) noexcept;

}  // namespace halyard::ipc
