// SPDX-License-Identifier: Apache-2.0
// Statistics and conversions of rows of depths, compiled for all SIMD targets.
// Metres: f32, summed in double. Units: u16, summed in 32-bit lanes, which cannot overflow for rows
// of at most 65536 values (see add_units). Conversions compute in double and round to f32 or to the
// nearest unit; units of 65536 and more become 0, so the demotion to 16 bits is exact.
#include "ipc/message/depth_kernels.h"

// Selects EMU128 as the portable target instead of SCALAR, which has one lane and cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ipc/message/depth_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace halyard::ipc {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Adds each lane of half a vector to its partial sum.
template <class D, class V>
HWY_INLINE void add_doubles(D d, V half, double* sums) {
  hn::StoreU(hn::Add(hn::LoadU(d, sums), hn::PromoteTo(d, half)), d, sums);
}

void add_one(float value, std::size_t x, FloatDepths& depths) {
  if (!(value >= depths.low && value <= depths.high)) return;
  depths.min = std::min(depths.min, value);
  depths.max = std::max(depths.max, value);
  depths.sums[x % depth_partial_sums] += static_cast<double>(value);
  ++depths.count;
}

void add_floats(const float* values, std::size_t count, FloatDepths& depths) {
  const hn::CappedTag<float, 16> d;
  const hn::Half<decltype(d)> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  const hn::RebindToSigned<decltype(d)> di;
  const std::size_t lanes = hn::Lanes(d);
  const auto low = hn::Set(d, depths.low);
  const auto high = hn::Set(d, depths.high);
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  auto min = hn::Set(d, depths.min);
  auto max = hn::Set(d, depths.max);
  auto valid = hn::Zero(di);  // minus the count of each lane
  std::size_t x = 0;
  for (; x + depth_partial_sums <= count; x += depth_partial_sums) {
    for (std::size_t part = 0; part < depth_partial_sums; part += lanes) {
      const auto value = hn::LoadU(d, values + x + part);
      const auto is_valid = hn::And(hn::Ge(value, low), hn::Le(value, high));
      const auto or_zero = hn::IfThenElseZero(is_valid, value);
      min = hn::Min(min, hn::IfThenElse(is_valid, value, infinity));
      max = hn::Max(max, or_zero);
      valid = hn::Add(valid, hn::BitCast(di, hn::VecFromMask(d, is_valid)));
      add_doubles(dd, hn::LowerHalf(dh, or_zero), depths.sums.data() + part);
      add_doubles(dd, hn::UpperHalf(dh, or_zero), depths.sums.data() + part + lanes / 2);
    }
  }
  depths.min = hn::GetLane(hn::MinOfLanes(d, min));
  depths.max = hn::GetLane(hn::MaxOfLanes(d, max));
  depths.count += static_cast<std::uint64_t>(-std::int64_t{hn::GetLane(hn::SumOfLanes(di, valid))});
  for (; x < count; ++x)
    add_one(values[x], x, depths);
}

void add_unit(std::uint16_t value, UnitDepths& depths) {
  if (value < depths.low || value > depths.high) return;
  depths.min = std::min(depths.min, value);
  depths.max = std::max(depths.max, value);
  depths.sum += value;
  ++depths.count;
}

// Adds the lanes in 64 bits, which is wider than a lane.
template <class T, class D, class V>
HWY_INLINE std::uint64_t sum_of_lanes(D d, V vector) {
  HWY_ALIGN T lanes[64 / sizeof(T)];
  hn::Store(vector, d, lanes);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i)
    sum += lanes[i];
  return sum;
}

// 65536 values are at most 8192 vectors of 8 lanes. A 16-bit lane counts up to 8192, and a 32-bit
// lane sums pairs of values up to 8192 * 2 * 65535 < 2^31.
void add_units(const std::uint16_t* values, std::size_t count, UnitDepths& depths) {
  const hn::CappedTag<std::uint16_t, 32> d;
  const hn::Repartition<std::uint32_t, decltype(d)> d32;
  const std::size_t lanes = hn::Lanes(d);
  const auto low = hn::Set(d, depths.low);
  const auto range = hn::Set(d, static_cast<std::uint16_t>(depths.high - depths.low));
  const auto low_halves = hn::Set(d32, 0xFFFFU);
  auto min = hn::Set(d, depths.min);
  auto max = hn::Set(d, depths.max);
  auto invalid = hn::Zero(d);  // the count of each lane
  auto sum = hn::Zero(d32);
  std::size_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    const auto value = hn::LoadU(d, values + x);
    const auto above = hn::Sub(value, low);  // wraps around for values below `low`
    const auto is_valid = hn::VecFromMask(d, hn::Eq(hn::Min(above, range), above));
    const auto or_zero = hn::And(is_valid, value);
    min = hn::Min(min, hn::Or(value, hn::Not(is_valid)));
    max = hn::Max(max, or_zero);
    invalid = hn::Add(invalid, hn::Add(is_valid, hn::Set(d, 1)));
    const auto pairs = hn::BitCast(d32, or_zero);
    sum = hn::Add(sum, hn::Add(hn::And(pairs, low_halves), hn::ShiftRight<16>(pairs)));
  }
  depths.count += x - sum_of_lanes<std::uint16_t>(d, invalid);
  depths.sum += sum_of_lanes<std::uint32_t>(d32, sum);
  depths.min = hn::GetLane(hn::MinOfLanes(d, min));
  depths.max = hn::GetLane(hn::MaxOfLanes(d, max));
  for (; x < count; ++x)
    add_unit(values[x], depths);
}

// ---- conversions: in double, as many pixels at a time as a vector has doubles ----

using Doubles = hn::CappedTag<double, 8>;
using Floats = hn::Rebind<float, Doubles>;
using Integers = hn::Rebind<std::int32_t, Doubles>;
using Units = hn::Rebind<std::uint16_t, Doubles>;

template <class V>
HWY_INLINE hn::Mask<Floats> is_valid(V meters, const DepthRule& rule) {
  const Floats d;
  return hn::And(hn::Ge(meters, hn::Set(d, rule.low)), hn::Le(meters, hn::Set(d, rule.high)));
}

// Calls vector(x) for whole vectors of pixels, then one(x) for the rest.
template <class Vector, class One>
HWY_INLINE void for_each_pixel(std::size_t count, const Vector& vector, const One& one) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t x = 0;
  for (; x + lanes <= count; x += lanes)
    vector(x);
  for (; x < count; ++x)
    one(x);
}

HWY_INLINE float one_valid(float meters, const DepthRule& rule) {
  const bool is_kept = meters >= rule.low && meters <= rule.high;
  return is_kept ? meters : std::numeric_limits<float>::quiet_NaN();
}

void meters_of_units(const std::uint16_t* from, std::size_t count, const DepthRule& rule,
                     float* to) {
  const auto none = hn::Set(Floats(), std::numeric_limits<float>::quiet_NaN());
  const auto factor = hn::Set(Doubles(), rule.meters_per_unit);
  for_each_pixel(
      count,
      [&](std::size_t x) HWY_ATTR {
        const auto unit = hn::PromoteTo(Integers(), hn::LoadU(Units(), from + x));
        const auto exact = hn::Mul(hn::PromoteTo(Doubles(), unit), factor);
        const auto meters = hn::DemoteTo(Floats(), exact);
        hn::StoreU(hn::IfThenElse(is_valid(meters, rule), meters, none), Floats(), to + x);
      },
      [&](std::size_t x) {
        to[x] = one_valid(static_cast<float>(from[x] * rule.meters_per_unit), rule);
      });
}

void meters_of_meters(const float* from, std::size_t count, const DepthRule& rule, float* to) {
  const auto none = hn::Set(Floats(), std::numeric_limits<float>::quiet_NaN());
  for_each_pixel(
      count,
      [&](std::size_t x) HWY_ATTR {
        const auto meters = hn::LoadU(Floats(), from + x);
        hn::StoreU(hn::IfThenElse(is_valid(meters, rule), meters, none), Floats(), to + x);
      },
      [&](std::size_t x) { to[x] = one_valid(from[x], rule); });
}

void units_of_meters(const float* from, std::size_t count, const DepthRule& rule,
                     std::uint16_t* to) {
  const auto factor = hn::Set(Doubles(), rule.units_per_meter);
  const auto half = hn::Set(Doubles(), 0.5);
  const auto end = hn::Set(Doubles(), 65536.0);
  for_each_pixel(
      count,
      [&](std::size_t x) HWY_ATTR {
        const auto meters = hn::LoadU(Floats(), from + x);
        const auto kept = hn::IfThenElseZero(is_valid(meters, rule), meters);
        const auto units = hn::Add(hn::Mul(hn::PromoteTo(Doubles(), kept), factor), half);
        const auto in_range = hn::IfThenElseZero(hn::Lt(units, end), units);
        const auto whole = hn::DemoteTo(Integers(), in_range);  // truncates the fraction
        hn::StoreU(hn::DemoteTo(Units(), whole), Units(), to + x);
      },
      [&](std::size_t x) {
        const bool is_kept = from[x] >= rule.low && from[x] <= rule.high;
        const double units =
            (is_kept ? static_cast<double>(from[x]) : 0) * rule.units_per_meter + 0.5;
        to[x] = static_cast<std::uint16_t>(units < 65536 ? units : 0);
      });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::ipc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::ipc {

HWY_EXPORT(add_floats);
HWY_EXPORT(add_units);
HWY_EXPORT(meters_of_units);
HWY_EXPORT(meters_of_meters);
HWY_EXPORT(units_of_meters);

void add_depths(const float* values, std::size_t count, FloatDepths& depths) noexcept {
  HWY_DYNAMIC_DISPATCH(add_floats)(values, count, depths);
}

void add_depths(const std::uint16_t* values, std::size_t count, UnitDepths& depths) noexcept {
  HWY_DYNAMIC_DISPATCH(add_units)(values, count, depths);
}

void depths_to_meters(const std::uint16_t* from, std::size_t count, const DepthRule& rule,
                      float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(meters_of_units)(from, count, rule, to);
}

void depths_to_meters(const float* from, std::size_t count, const DepthRule& rule,
                      float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(meters_of_meters)(from, count, rule, to);
}

void depths_to_units(const float* from, std::size_t count, const DepthRule& rule,
                     std::uint16_t* to) noexcept {
  HWY_DYNAMIC_DISPATCH(units_of_meters)(from, count, rule, to);
}

}  // namespace halyard::ipc
#endif
