// SPDX-License-Identifier: Apache-2.0
// Tables for the kernels: fixed-point weights, bases and byte shuffles.
#include "image/cpu/across.h"

#include <algorithm>

#include "image/cpu/fixed_weights.h"

namespace halyard::image {
namespace {

constexpr std::size_t block = 4;          // outputs of one 16-byte vector of pairs
constexpr std::size_t most_blocks = 4;    // of the widest vector: tables end with whole vectors
constexpr std::uint8_t zero_byte = 0x80;  // what a shuffle turns into 0

bool has_second(const AcrossTable& t, std::size_t x) {
  return t.pairs > 1 || t.weights[2 * x + 1] != 0;
}

void set_weights(AcrossTable& t, std::size_t x, const std::vector<std::int32_t>& fixed,
                 std::size_t stride) {
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    t.weights[i / 2 * stride + 2 * x + i % 2] = static_cast<std::int16_t>(fixed[i]);
  }
}

void set_bases(AcrossTable& t) {
  for (std::size_t x = 0; x < static_cast<std::size_t>(t.outputs); ++x) {
    std::int32_t& base = t.base[x / block];
    base = x % block == 0 ? t.first[x] : std::min(base, t.first[x]);
  }
}

AcrossTable::Mode mode_of(const AcrossTable& t) {
  std::int32_t widest = 0;
  bool identity = true;
  for (std::size_t x = 0; x < static_cast<std::size_t>(t.outputs); ++x) {
    const bool second = has_second(t, x);
    identity = identity && !second && t.first[x] == static_cast<std::int32_t>(x);
    widest = std::max(widest, t.first[x] + (second ? 1 : 0) - t.base[x / block]);
  }
  if (identity) return AcrossTable::Mode::identity;
  if (widest <= 7) return AcrossTable::Mode::narrow;
  return widest <= 15 ? AcrossTable::Mode::wide : AcrossTable::Mode::apart;
}

// Bytes of `sample` (0..7 of the load) into half `half` of pair `pair`.
void set_pair(std::uint8_t* control, std::int32_t sample, std::size_t pair, std::size_t half) {
  if (sample < 0 || sample > 7) return;
  control[4 * pair + 2 * half] = static_cast<std::uint8_t>(2 * sample);
  control[4 * pair + 2 * half + 1] = static_cast<std::uint8_t>(2 * sample + 1);
}

void make_control(AcrossTable& t, std::size_t blocks) {
  const bool wide = t.mode == AcrossTable::Mode::wide;
  t.control.assign(blocks * 16 * (wide ? 2 : 1), zero_byte);
  for (std::size_t x = 0; x < static_cast<std::size_t>(t.outputs); ++x) {
    const std::int32_t from = t.first[x] - t.base[x / block];
    for (std::size_t half = 0; half < (has_second(t, x) ? 2U : 1U); ++half) {
      const std::int32_t sample = from + static_cast<std::int32_t>(half);
      std::uint8_t* low = &t.control[x / block * 16];
      set_pair(low, sample, x % block, half);
      if (wide) set_pair(low + t.control.size() / 2, sample - 8, x % block, half);
    }
  }
}

// Bytes are shuffled from one load of 16, which must not leave the row of `samples`.
void make_byte_control(AcrossTable& t, std::int32_t samples) {
  if (t.pairs != 1 || samples < 16) return;
  t.byte_base = t.base;
  for (std::int32_t& base : t.byte_base)
    base = std::min(base, samples - 16);
  t.byte_control.assign(t.byte_base.size() * 16, zero_byte);
  for (std::size_t x = 0; x < static_cast<std::size_t>(t.outputs); ++x) {
    const std::int32_t from = t.first[x] - t.byte_base[x / block];
    const std::int32_t last = from + (has_second(t, x) ? 1 : 0);
    if (last > 15) {
      t.byte_base.clear();
      return;
    }
    std::uint8_t* control = &t.byte_control[x / block * 16 + x % block * 4];
    control[0] = static_cast<std::uint8_t>(from);
    if (last > from) control[2] = static_cast<std::uint8_t>(last);
  }
}

void make_many(const AxisTaps& taps, std::int32_t begin, AcrossTable& t) {
  constexpr std::int32_t lanes = AcrossTable::most_lanes;
  t.mode = AcrossTable::Mode::many;
  t.taps = (taps.count + lanes - 1) / lanes * lanes;
  const auto stride = static_cast<std::size_t>(t.taps);
  t.weights.assign(taps.first.size() * stride, 0);
  t.fine.assign(t.weights.size(), 0);
  t.first = taps.first;
  std::vector<std::int32_t> fixed;
  for (std::size_t x = 0; x < taps.first.size(); ++x) {
    t.first[x] -= begin;
    to_fixed(weights_of(taps, x), AcrossTable::weight_bits + fine_bits, fixed);
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      t.weights[x * stride + i] = unit_of(fixed[i]);
      t.fine[x * stride + i] = part_of(fixed[i]);
    }
  }
}

void make_few(const AxisTaps& taps, std::int32_t begin, std::int32_t samples, AcrossTable& t) {
  const std::size_t outputs = taps.first.size();
  const std::size_t whole = block * most_blocks;
  const std::size_t padded = (outputs + whole - 1) / whole * whole;
  const std::size_t stride = 2 * padded;  // between the weights of successive pairs
  t.pairs = (taps.count + 1) / 2;
  t.first.assign(padded, 0);
  t.weights.assign(stride * static_cast<std::size_t>(t.pairs), 0);
  t.base.assign(padded / block, 0);
  std::vector<std::int32_t> fixed;
  for (std::size_t x = 0; x < outputs; ++x) {
    to_fixed(weights_of(taps, x), AcrossTable::weight_bits, fixed);
    t.first[x] = taps.first[x] - begin;
    if (taps.count == 2 && fixed[0] == 0) {  // all on the second sample: it becomes the first
      ++t.first[x];
      std::swap(fixed[0], fixed[1]);
    }
    set_weights(t, x, fixed, stride);
  }
  set_bases(t);
  t.mode = mode_of(t);
  if (t.mode == AcrossTable::Mode::narrow || t.mode == AcrossTable::Mode::wide) {
    make_control(t, padded / block);
  }
  make_byte_control(t, samples);
}

}  // namespace

AcrossTable make_across(const AxisTaps& taps, std::int32_t begin, std::int32_t samples,
                        std::int32_t few) {
  AcrossTable table;
  table.outputs = static_cast<std::int32_t>(taps.first.size());
  if (taps.count > few) {
    make_many(taps, begin, table);
  } else {
    make_few(taps, begin, samples, table);
    if (table.mode != AcrossTable::Mode::identity && takes_permutes()) {
      table.permute = make_permute(table, samples, false);
      if (!table.byte_base.empty()) table.byte_permute = make_permute(table, samples, true);
    }
  }
  return table;
}

}  // namespace halyard::image
