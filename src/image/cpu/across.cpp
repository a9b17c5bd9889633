// SPDX-License-Identifier: Apache-2.0
// Tables for the across kernel: weights, bases and byte shuffles.
#include "image/cpu/across.h"

#include <algorithm>
#include <cmath>

namespace halyard::image {
namespace {

constexpr std::size_t block = 4;          // outputs of one 16-byte vector of pairs
constexpr std::size_t most_blocks = 4;    // of the widest vector: tables end with whole vectors
constexpr std::uint8_t zero_byte = 0x80;  // what a shuffle turns into 0

std::size_t rounded_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

// Highest sample of output x that has a weight.
std::int32_t last_of(const AcrossTable& t, std::size_t x) {
  return t.first[x] + (t.weights[2 * x + 1] != 0 ? 1 : 0);
}

std::int32_t widest_block(const AcrossTable& t) {
  std::int32_t widest = 0;
  const auto outputs = static_cast<std::size_t>(t.outputs);
  for (std::size_t x = 0; x < outputs; ++x) {
    widest = std::max(widest, last_of(t, x) - t.base[x / block]);
  }
  return widest;
}

void set_pair(std::uint8_t* control, std::int32_t sample, std::size_t pair, std::size_t half) {
  if (sample < 0 || sample > 7) return;
  control[4 * pair + 2 * half] = static_cast<std::uint8_t>(2 * sample);
  control[4 * pair + 2 * half + 1] = static_cast<std::uint8_t>(2 * sample + 1);
}

void make_control(AcrossTable& t, std::size_t blocks) {
  const bool wide = t.mode == AcrossTable::Mode::wide;
  t.control.assign(blocks * 16 * (wide ? 2 : 1), zero_byte);
  const auto outputs = static_cast<std::size_t>(t.outputs);
  for (std::size_t x = 0; x < outputs; ++x) {
    const std::int32_t from = t.first[x] - t.base[x / block];
    const bool two = t.weights[2 * x + 1] != 0;
    std::uint8_t* low = &t.control[x / block * 16];
    set_pair(low, from, x % block, 0);
    if (two) set_pair(low, from + 1, x % block, 1);
    if (!wide) continue;
    std::uint8_t* high = low + t.control.size() / 2;
    set_pair(high, from - 8, x % block, 0);
    if (two) set_pair(high, from - 7, x % block, 1);
  }
}

bool is_identity(const AcrossTable& t) {
  for (std::size_t x = 0; x < static_cast<std::size_t>(t.outputs); ++x) {
    if (t.first[x] != static_cast<std::int32_t>(x) || t.weights[2 * x + 1] != 0) return false;
  }
  return true;
}

}  // namespace

void make_across(const AxisTaps& taps, std::int32_t begin, AcrossTable& out) {
  const std::size_t outputs = taps.first.size();
  const std::size_t blocks = rounded_up(outputs, block * most_blocks) / block;
  out.outputs = static_cast<std::int32_t>(outputs);
  out.first.assign(blocks * block, 0);
  out.weights.assign(blocks * block * 2, 0);
  out.base.assign(blocks, 0);
  for (std::size_t x = 0; x < outputs; ++x) {
    const double second =
        taps.count == 2 ? static_cast<double>(taps.weight[2 * x + 1]) * (1 << 14) : 0;
    auto weight = static_cast<std::int16_t>(std::lround(second));
    out.first[x] = taps.first[x] - begin;
    if (weight == 1 << 14) {  // all on the second sample: it becomes the first
      ++out.first[x];
      weight = 0;
    }
    out.weights[2 * x] = static_cast<std::int16_t>((1 << 14) - weight);
    out.weights[2 * x + 1] = weight;
  }
  for (std::size_t x = 0; x < outputs; ++x) {
    std::int32_t& base = out.base[x / block];
    base = x % block == 0 ? out.first[x] : std::min(base, out.first[x]);
  }
  if (is_identity(out)) {
    out.mode = AcrossTable::Mode::identity;
    return;
  }
  const std::int32_t widest = widest_block(out);
  out.mode = widest <= 7    ? AcrossTable::Mode::narrow
             : widest <= 15 ? AcrossTable::Mode::wide
                            : AcrossTable::Mode::single;
  if (out.mode != AcrossTable::Mode::single) make_control(out, blocks);
}

}  // namespace halyard::image
