// SPDX-License-Identifier: Apache-2.0
// Tables for the kernels: fixed-point weights, bases and byte shuffles.
#include "image/cpu/across.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace halyard::image {
namespace {

constexpr std::size_t block = 4;          // outputs of one 16-byte vector of pairs
constexpr std::size_t most_blocks = 4;    // of the widest vector: tables end with whole vectors
constexpr std::uint8_t zero_byte = 0x80;  // what a shuffle turns into 0

// Rounds weights to `one` parts and gives the rest to the greatest, so that they sum to `one`.
void to_fixed(std::span<const float> weights, int one, std::vector<int>& out) {
  out.resize(weights.size());
  int sum = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    out[t] = static_cast<int>(std::lround(static_cast<double>(weights[t]) * one));
    sum += out[t];
  }
  *std::max_element(out.begin(), out.end()) += one - sum;
}

std::span<const float> weights_of(const AxisTaps& taps, std::size_t x) {
  const auto count = static_cast<std::size_t>(taps.count);
  return {&taps.weight[x * count], count};
}

bool has_second(const AcrossTable& t, std::size_t x) {
  return t.pairs > 1 || t.weights[2 * x + 1] != 0;
}

void set_weights(AcrossTable& t, std::size_t x, std::span<const int> fixed, std::size_t stride) {
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
  return widest <= 15 ? AcrossTable::Mode::wide : AcrossTable::Mode::single;
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
  t.byte_base.clear();
  t.byte_control.clear();
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

}  // namespace

void make_across(const AxisTaps& taps, std::int32_t begin, std::int32_t samples, AcrossTable& out) {
  const std::size_t outputs = taps.first.size();
  const std::size_t whole = block * most_blocks;
  const std::size_t padded = (outputs + whole - 1) / whole * whole;
  const std::size_t stride = 2 * padded;  // between the weights of successive pairs
  out.outputs = static_cast<std::int32_t>(outputs);
  out.pairs = (taps.count + 1) / 2;
  out.first.assign(padded, 0);
  out.weights.assign(stride * static_cast<std::size_t>(out.pairs), 0);
  out.base.assign(padded / block, 0);
  std::vector<int> fixed;
  for (std::size_t x = 0; x < outputs; ++x) {
    to_fixed(weights_of(taps, x), 1 << 14, fixed);
    out.first[x] = taps.first[x] - begin;
    if (out.pairs == 1 && fixed[0] == 0) {  // all on the second sample: it becomes the first
      ++out.first[x];
      std::swap(fixed[0], fixed[1]);
    }
    set_weights(out, x, fixed, stride);
  }
  set_bases(out);
  out.mode = mode_of(out);
  if (out.mode == AcrossTable::Mode::narrow || out.mode == AcrossTable::Mode::wide) {
    make_control(out, padded / block);
  }
  make_byte_control(out, samples);
}

void make_down(const AxisTaps& taps, DownTable& out) {
  out.rows.resize(taps.first.size());
  out.weights.clear();
  std::vector<int> fixed;
  for (std::size_t y = 0; y < out.rows.size(); ++y) {
    to_fixed(weights_of(taps, y), 1 << 15, fixed);
    const auto used = [](int weight) { return weight != 0; };
    const auto begin = std::find_if(fixed.begin(), fixed.end(), used);
    const auto end = std::find_if(fixed.rbegin(), fixed.rend(), used).base();
    DownTable::Row& row = out.rows[y];
    row.first = taps.first[y] + static_cast<std::int32_t>(begin - fixed.begin());
    row.count = static_cast<std::int32_t>(end - begin);
    row.at = out.weights.size();
    if (row.count > 1) {  // each is below 2^15 then
      for (auto weight = begin; weight != end; ++weight)
        out.weights.push_back(static_cast<std::int16_t>(*weight));
    }
    row.id = 0;
    if (y == 0) continue;
    const DownTable::Row& before = out.rows[y - 1];
    const bool same =
        before.first == row.first && before.count == row.count &&
        std::equal(out.weights.begin() + static_cast<std::ptrdiff_t>(before.at),
                   out.weights.begin() + static_cast<std::ptrdiff_t>(row.at),
                   out.weights.begin() + static_cast<std::ptrdiff_t>(row.at), out.weights.end());
    row.id = same ? before.id : before.id + 1;
  }
}

}  // namespace halyard::image
