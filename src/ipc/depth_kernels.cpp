// SPDX-License-Identifier: Apache-2.0
// Statistics of depths for all targets of the architecture.
#include "ipc/depth_kernels.h"

// The portable target instead of the one of single lanes, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ipc/depth_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace halyard::ipc {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// A lane of one half of the vector is a partial sum.
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

// 65536 values are 8192 vectors of 8 lanes at most: a lane counts up to 8192, and sums pairs of
// values up to 8192 * 2 * 65535 < 2^31.
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
    const auto above = hn::Sub(value, low);  // wraps around below `low`
    const auto is_valid = hn::VecFromMask(d, hn::Eq(hn::Min(above, range), above));
    const auto or_zero = hn::And(is_valid, value);
    min = hn::Min(min, hn::Or(value, hn::Not(is_valid)));
    max = hn::Max(max, or_zero);
    invalid = hn::Add(invalid, hn::Add(is_valid, hn::Set(d, 1)));
    const auto pairs = hn::BitCast(d32, or_zero);
    sum = hn::Add(sum, hn::Add(hn::And(pairs, low_halves), hn::ShiftRight<16>(pairs)));
  }
  HWY_ALIGN std::uint16_t invalid_lanes[32];
  HWY_ALIGN std::uint16_t min_lanes[32];
  HWY_ALIGN std::uint16_t max_lanes[32];
  HWY_ALIGN std::uint32_t sum_lanes[16];
  hn::Store(invalid, d, invalid_lanes);
  hn::Store(min, d, min_lanes);
  hn::Store(max, d, max_lanes);
  hn::Store(sum, d32, sum_lanes);
  depths.count += x;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    depths.count -= invalid_lanes[lane];
    depths.min = std::min(depths.min, min_lanes[lane]);
    depths.max = std::max(depths.max, max_lanes[lane]);
    if (lane < hn::Lanes(d32)) depths.sum += sum_lanes[lane];
  }
  for (; x < count; ++x)
    add_unit(values[x], depths);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::ipc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::ipc {

HWY_EXPORT(add_floats);
HWY_EXPORT(add_units);

void add_depths(const float* values, std::size_t count, FloatDepths& depths) noexcept {
  HWY_DYNAMIC_DISPATCH(add_floats)(values, count, depths);
}

void add_depths(const std::uint16_t* values, std::size_t count, UnitDepths& depths) noexcept {
  HWY_DYNAMIC_DISPATCH(add_units)(values, count, depths);
}

}  // namespace halyard::ipc
#endif
