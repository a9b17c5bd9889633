// SPDX-License-Identifier: Apache-2.0
// Makes the fixed-point weights of rows.
#include "image/cpu/resample/vertical.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "image/cpu/resample/fixed_taps.h"

namespace halyard::image {
namespace {

constexpr int sample_bits = 14;

// The most fractional bits with which weights fit 16 bits and their sums with bytes fit 32 bits.
int bits_for_bytes(std::span<const float> weights) {
  constexpr int max_bits = 22;
  double greatest = 0;
  double sum = 0;
  for (const float weight : weights) {
    greatest = std::max(greatest, std::abs(static_cast<double>(weight)));
    sum += std::abs(static_cast<double>(weight));
  }
  int bits = sample_bits;
  const auto fits = [&](int b) {
    return std::ldexp(greatest, b) < 32000 && std::ldexp(sum * 256, b) < 2147000000.0;
  };
  while (bits < max_bits && fits(bits + 1))
    ++bits;
  return bits;
}

bool is_positive(std::span<const float> weights) {
  return std::all_of(weights.begin(), weights.end(), [](float weight) { return weight >= 0; });
}

}  // namespace

VerticalTable::VerticalTable(const AxisTaps& taps, Blended what) {
  make_from(taps, what);
}

VerticalTable::VerticalTable(const AxisRequest& axis, Blended what) {
  if (is_between(axis)) {
    make_between(axis);
    return;
  }
  AxisTaps taps;
  make_taps(axis, taps, what.bytes && what.parts ? &parts_ : nullptr);
  parts_are_made_ = !parts_.empty();
  make_from(taps, what);
}

void VerticalTable::make_from(const AxisTaps& taps, Blended what) {
  rows_.resize(taps.first.size());
  const auto outputs = static_cast<std::int32_t>(rows_.size());
  for_own_outputs(taps.period, outputs, [&](std::int32_t begin, std::int32_t end) {
    for (auto y = static_cast<std::size_t>(begin); y < static_cast<std::size_t>(end); ++y)
      set_row(taps, y, what, rows_[y]);
  });
  const AxisPeriod& p = taps.period;
  for (std::int32_t y = p.begin + p.length; y < p.end; ++y) {
    Row& row = rows_[static_cast<std::size_t>(y)];
    row = rows_[static_cast<std::size_t>(y - p.length)];
    row.first += p.advance;
  }
  for (std::size_t y = 0; y < rows_.size(); ++y) {
    Row& row = rows_[y];
    if (y > 0) row.id = rows_[y - 1].id + (same(rows_[y - 1], row) ? 0 : 1);
    max_rows_ = std::max(max_rows_.get(), row.count);
    blends_all_ = blends_all_ && row.count > 1;
  }
}

// Gives the same rows as set_row() for two positive weights.
void VerticalTable::make_between(const AxisRequest& axis) {
  const std::size_t room = static_cast<std::size_t>(axis.outputs) + linear_taps_spare;
  first_ = std::make_unique_for_overwrite<std::int32_t[]>(2 * room);
  std::int32_t* second = first_.get() + room;
  const AxisPeriod period = period_of(axis, 1);
  const Positions at = positions_of(axis);
  for_own_outputs(period, axis.outputs, [&](std::int32_t begin, std::int32_t end) {
    linear_taps(at, begin, end, 15, false, {first_.get(), second});
  });
  repeat(period, period.advance, first_.get());
  repeat(period, 0, second);
  std::int32_t blended = 0;
  for (std::int32_t y = 0; y < axis.outputs; ++y)
    blended += second[y] != 0 ? 1 : 0;
  max_rows_ = blended != 0 ? 2 : 1;
  blends_all_ = blended == axis.outputs;
  second_ = second;
}

void VerticalTable::set_row(const AxisTaps& taps, std::size_t output, Blended what, Row& row) {
  std::span<const float> weights = weights_of(taps, output);
  row.first = taps.first[output];
  const auto unused = [](float weight) { return std::abs(weight) < 1.0F / (1 << 24); };
  while (weights.size() > 1 && unused(weights.front())) {
    weights = weights.subspan(1);
    ++row.first;
  }
  while (weights.size() > 1 && unused(weights.back()))
    weights = weights.first(weights.size() - 1);
  row.count = static_cast<std::int32_t>(weights.size());
  row.at = static_cast<std::int32_t>(pairs_.size());
  if (row.count == 1) return;
  if (row.count == 2 && is_positive(weights)) {
    const auto second = std::lround(static_cast<double>(weights[1]) * (1 << 15));
    if (second == 0 || second == 1 << 15) {
      row.count = 1;
      row.first += second == 0 ? 0 : 1;
    }
    row.second = static_cast<std::int16_t>(row.count == 1 ? 0 : second);
    return;
  }
  if (what.bytes && what.parts && row.count <= few_taps &&
      (parts_are_made_ || is_positive(weights))) {
    row.parts = true;
    row.at = static_cast<std::int32_t>(parts_.size());
    if (parts_are_made_) row.at = static_cast<std::int32_t>(weights.data() - taps.weight.data());
    if (!parts_are_made_) append_parts(weights);
    return;
  }
  row.fine = !what.bytes && row.count > what.few;
  row.bits = static_cast<std::int8_t>(what.bytes ? bits_for_bytes(weights) : sample_bits);
  std::vector<std::int32_t> fixed((weights.size() + 1) / 2 * 2, 0);
  to_fixed(weights, row.bits + (row.fine ? fine_bits : 0), std::span(fixed).first(weights.size()));
  for (const std::int32_t weight : fixed) {
    pairs_.push_back(row.fine ? unit_of(weight) : static_cast<std::int16_t>(weight));
    fine_.push_back(row.fine ? part_of(weight) : std::int16_t{0});
  }
}

// The kernel truncates products: each weight is chosen so that 255 gets its exact share of 255 *
// 2^8. A weight of one is stored as 2^16 - 1.
void VerticalTable::append_parts(std::span<const float> weights) {
  constexpr std::int32_t white = 255 << 8;
  std::array<std::int32_t, few_taps> room{};
  const auto fixed = std::span(room).first(weights.size());
  to_fixed(weights, 16, fixed);
  std::int32_t before = 0;
  std::int32_t sum = 0;
  for (const std::int32_t weight : fixed) {
    sum += weight;
    const auto until = static_cast<std::int32_t>((std::int64_t{sum} * white + (1 << 15)) >> 16);
    const std::int64_t share = until - before;
    before = until;
    const std::int64_t part = ((share << 16) + white - 1) / white;
    parts_.push_back(static_cast<std::uint16_t>(std::min<std::int64_t>(part, 0xFFFF)));
  }
}

bool VerticalTable::same(const Row& before, const Row& row) const noexcept {
  if (before.first != row.first || before.count != row.count || before.second != row.second ||
      before.bits != row.bits || before.parts != row.parts)
    return false;
  if (row.count == 1 || row.second != 0) return true;
  const auto equal = [&](const auto& all) {
    const auto from = all.begin() + before.at;
    return std::equal(from, from + row.count, all.begin() + row.at);
  };
  return row.parts ? equal(parts_) : equal(pairs_) && equal(fine_);
}

VerticalWeights VerticalTable::weights(const Row& row) const noexcept {
  VerticalWeights weights;
  weights.taps = row.count;
  weights.second = row.second;
  weights.bits = row.bits;
  weights.pairs = pairs_.data() + row.at;
  if (row.parts) weights.parts = parts_.data() + row.at;
  if (row.fine) weights.fine = fine_.data() + row.at;
  return weights;
}

}  // namespace halyard::image
