// SPDX-License-Identifier: Apache-2.0
#include "image/gl/shader/affine_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "image/cpu/resample/axes.h"
#include "image/cpu/resample/filter_kernel.h"

namespace halyard::image {
namespace {

constexpr double row_unit = 4294967296.0;  // 2^32
// Positions that a rounding error of two units misses a border by count as on it.
constexpr double row_tie = 2 / row_unit;
constexpr double max_position = 1 << 29;

struct PositionParts {
  std::int32_t whole = 0;
  std::uint32_t fraction = 0;
};

PositionParts position_parts(double value) noexcept {
  const std::int64_t bits = std::llround(value * row_unit);
  return {static_cast<std::int32_t>(bits >> 32), static_cast<std::uint32_t>(bits)};
}

// Samples per output along both axes of the group, at least 1: by how much its kernel widens.
struct Widening {
  double x = 1;
  double y = 1;
};

Widening widening_of(const Plan& plan, const ChannelSite& site) noexcept {
  if (!plan.antialias) return {};
  const auto& m = inverse(*plan.affine).m;
  return {std::max(std::hypot(m[0], m[1]) / (1 << site.shift_x), 1.0),
          std::max(std::hypot(m[3], m[4]) / (1 << site.shift_y), 1.0)};
}

double support_of(const Plan& plan) noexcept {
  return Kernel{plan.filter, plan.antialias}.support();
}

}  // namespace

std::vector<std::uint32_t> affine_rows(const Plan& plan, std::int32_t width) {
  const auto row = static_cast<std::size_t>(width);
  std::vector<std::uint32_t> out(row * affine_row_count);
  const auto& m = inverse(*plan.affine).m;
  const auto put = [&](std::size_t index, std::size_t first_row, double value) {
    const PositionParts f = position_parts(value);
    out[first_row * row + index] = static_cast<std::uint32_t>(f.whole);
    out[(first_row + 1) * row + index] = f.fraction;
  };
  for (std::int32_t x = 0; x < plan.content.width; ++x) {
    const double centre = plan.content.x + x + 0.5;
    put(static_cast<std::size_t>(x), 0, m[0] * centre);
    put(static_cast<std::size_t>(x), 2, m[3] * centre);
  }
  for (std::int32_t y = 0; y < plan.content.height; ++y) {
    const double centre = plan.content.y + y + 0.5;
    put(static_cast<std::size_t>(y), 4, m[1] * centre + m[2]);
    put(static_cast<std::size_t>(y), 6, m[4] * centre + m[5]);
  }
  return out;
}

bool fits_affine_range(const Plan& plan) noexcept {
  const auto& m = inverse(*plan.affine).m;
  const auto largest = [&](std::size_t i) {
    return std::abs(m[i]) * plan.dst.size.width + std::abs(m[i + 1]) * plan.dst.size.height +
           std::abs(m[i + 2]);
  };
  return largest(0) < max_position && largest(3) < max_position;
}

std::int64_t affine_loop_iterations(const Plan& plan) noexcept {
  std::int64_t sum = 0;
  for (std::size_t group = 0; group < group_count; ++group) {
    const ChannelSite* const site = first_in_group(plan.src, group);
    if (site == nullptr) continue;
    const ChannelAxes axes = channel_axes(plan, *site);
    const Widening wide = widening_of(plan, *site);
    const auto count = [&](double widening, const SampleRange& range) {
      const double taps = plan.filter == Filter::nearest ? 1 : 2 * support_of(plan) * widening + 1;
      return static_cast<std::int64_t>(std::min(taps, static_cast<double>(range.count())));
    };
    sum += (1 + count(wide.x, axes.columns)) * count(wide.y, axes.rows);
  }
  return sum;
}

AffineNumbers affine_numbers(const Plan& plan) noexcept {
  AffineNumbers out;
  const auto put = [&](std::size_t index, double value) {
    const PositionParts f = position_parts(value);
    out.whole[index] = f.whole;
    out.fraction[index] = f.fraction;
  };
  const RegionF& crop = plan.crop;
  put(0, crop.x);
  put(1, crop.y);
  put(2, crop.x + crop.width);
  put(3, crop.y + crop.height);
  for (std::size_t group = 0; group < group_count; ++group) {
    const ChannelSite* const site = first_in_group(plan.src, group);
    if (site == nullptr) continue;
    const Widening wide = widening_of(plan, *site);
    const std::size_t at = 4 * (1 + group);
    // Sample i is within reach of a centre if -reach < i + 0.5 - centre <= reach.
    put(at, -support_of(plan) * wide.x - 0.5 + row_tie);
    put(at + 1, -support_of(plan) * wide.y - 0.5 + row_tie);
    put(at + 2, support_of(plan) * wide.x - 0.5 + row_tie);
    put(at + 3, support_of(plan) * wide.y - 0.5 + row_tie);
    out.narrowing[2 * group] = static_cast<float>(1 / wide.x);
    out.narrowing[2 * group + 1] = static_cast<float>(1 / wide.y);
  }
  return out;
}

}  // namespace halyard::image
