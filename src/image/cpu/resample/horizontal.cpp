// SPDX-License-Identifier: Apache-2.0
// Makes the tables of the horizontal pass: fixed-point weights, bases and byte shuffles.
#include "image/cpu/resample/horizontal.h"

#include <algorithm>
#include <utility>

#include "image/cpu/resample/fixed_taps.h"
#include "image/cpu/resample/permute.h"

namespace halyard::image {
namespace {

using Mode = HorizontalTable::Mode;
constexpr std::uint8_t zero_byte = 0x80;  // an index that a shuffle turns into 0

std::size_t padded(const FixedTaps& from) {
  const auto outputs = static_cast<std::size_t>(from.outputs);
  return (outputs + horizontal_group - 1) / horizontal_group * horizontal_group;
}
std::size_t place_of(std::size_t x) {
  return x / horizontal_group * horizontal_group + horizontal_place(x % horizontal_group);
}
std::size_t place_of_block(std::size_t block) {
  constexpr std::size_t blocks = horizontal_group / 4;
  return block / blocks * blocks + horizontal_block_place(block % blocks);
}

/// Outputs [begin, end) of a block of four, and the first sample of all of them.
struct Block {
  std::size_t begin;
  std::size_t end;
  std::int32_t base;
};

// Calls at(block, its place) for the blocks that have outputs.
template <class At>
void for_blocks(const FixedTaps& from, const At& at) {
  const auto outputs = static_cast<std::size_t>(from.outputs);
  for (std::size_t x = 0; x < outputs; x += 4) {
    Block block{x, std::min(x + 4, outputs), from.first[x]};
    for (std::size_t i = x + 1; i < block.end; ++i)
      block.base = std::min(block.base, from.first[i]);
    at(block, place_of_block(x / 4));
  }
}

/// How far the taps of a block of four reach.
struct TapReach {
  std::int32_t taps = 0;    ///< the most taps of one output
  std::int32_t starts = 0;  ///< from a block's first sample to the last one of its first pairs
};

TapReach tap_reach(const FixedTaps& from) {
  TapReach reach{from.taps};
  for_blocks(from, [&](const Block& block, std::size_t) {
    for (std::size_t x = block.begin; x < block.end; ++x) {
      const std::int32_t second = from.count(x) > 1 ? 1 : 0;
      reach.starts = std::max(reach.starts, from.first[x] - block.base + second);
    }
  });
  return reach;
}

// Compares vector instructions for 16 outputs: 6 per pair, or 11 where a pair takes two loads; 16
// for eight taps of a dot product, and 11 more.
Mode cheapest(const TapReach& reach) {
  if (reach.starts <= 7 && reach.taps <= 6) return Mode::narrow;
  if (reach.starts <= 15 && reach.taps <= 4) return Mode::wide;
  return Mode::dots;
}

bool is_identity(const FixedTaps& from) {
  if (from.taps != 1) return false;
  for (std::int32_t x = 0; x < from.outputs; ++x) {
    if (from.first[static_cast<std::size_t>(x)] != x) return false;
  }
  return true;
}

// Points half `half` of pair `pair` to the bytes of `sample` (0..7 of the load).
void set_pair(std::uint8_t* control, std::int32_t sample, std::size_t pair, std::size_t half) {
  if (sample < 0 || sample > 7) return;
  control[4 * pair + 2 * half] = static_cast<std::uint8_t>(2 * sample);
  control[4 * pair + 2 * half + 1] = static_cast<std::uint8_t>(2 * sample + 1);
}

void make_blocks(const FixedTaps& from, HorizontalTable& t) {
  const bool wide = t.mode == Mode::wide;
  const std::size_t outputs = padded(from);
  t.pairs = (from.taps + 1) / 2;
  t.base.assign(outputs / 4, 0);
  t.control.assign(outputs * 4 * (wide ? 2 : 1), zero_byte);
  t.weights.assign(2 * outputs * static_cast<std::size_t>(t.pairs), 0);
  const auto pairs = static_cast<std::size_t>(t.pairs);
  for_blocks(from, [&](const Block& block, std::size_t place) {
    t.base[place] = block.base;
    for (std::size_t x = block.begin; x < block.end; ++x) {
      const std::size_t i = x - block.begin;
      for (std::size_t half = 0; half < (from.taps > 1 ? 2U : 1U); ++half) {
        const std::int32_t sample = from.first[x] - block.base + static_cast<std::int32_t>(half);
        set_pair(&t.control[place * 16], sample, i, half);
        if (wide) set_pair(&t.control[outputs * 4 + place * 16], sample - 8, i, half);
      }
      for (std::size_t tap = 0; tap < 2 * pairs; ++tap)
        t.weights[tap / 2 * 2 * outputs + place * 8 + i * 2 + tap % 2] = from.tap(tap)[x];
    }
  });
}

void make_dots(const FixedTaps& from, HorizontalTable& t) {
  const std::size_t outputs = padded(from);
  const std::size_t row = 8 * outputs;
  t.chunks = (from.taps + 7) / 8;
  t.base.assign(outputs, 0);
  t.weights.assign(row * static_cast<std::size_t>(t.chunks), 0);
  const auto taps = static_cast<std::size_t>(from.taps);
  for (std::size_t x = 0; x < static_cast<std::size_t>(from.outputs); ++x) {
    const std::size_t place = place_of(x);
    t.base[place] = from.first[x];
    for (std::size_t i = 0; i < taps; ++i)
      t.weights[i / 8 * row + place * 8 + i % 8] = from.tap(i)[x];
  }
}

// Makes the byte tables. Bytes are shuffled from one load of 16, which must lie within the row of
// `samples`.
void make_bytes(const FixedTaps& from, std::int32_t samples, HorizontalTable& t) {
  if (from.taps > 2 || t.pairs != 1 || samples < 16) return;
  std::vector<std::int32_t> bases(t.base.size(), 0);
  t.byte_control.assign(bases.size() * 16, zero_byte);
  if (from.taps == 1) t.pick.assign(bases.size() * 16, zero_byte);
  bool fits = true;
  for_blocks(from, [&](const Block& block, std::size_t place) {
    bases[place] = std::min(block.base, samples - 16);
    for (std::size_t x = block.begin; x < block.end; ++x) {
      const std::int32_t at = from.first[x] - bases[place];
      const std::int32_t last = at + from.count(x) - 1;
      fits = fits && last <= 15;
      std::uint8_t* control = &t.byte_control[place * 16 + x % 4 * 4];
      control[0] = static_cast<std::uint8_t>(at);
      if (last > at) control[2] = static_cast<std::uint8_t>(last);
      if (from.taps == 1) t.pick[place * 16 + x % 8 * 2] = static_cast<std::uint8_t>(at);
    }
  });
  if (!fits) return t.pick.clear();
  t.byte_base = std::move(bases);
}

void make_many(const AxisTaps& taps, std::int32_t begin, HorizontalTable& t) {
  constexpr std::int32_t lanes = HorizontalTable::max_lanes;
  t.mode = Mode::many;
  t.taps = (taps.count + lanes - 1) / lanes * lanes;
  const auto stride = static_cast<std::size_t>(t.taps);
  t.weights.assign(taps.first.size() * stride, 0);
  t.fine.assign(t.weights.size(), 0);
  t.base = taps.first;
  std::vector<std::int32_t> fixed(static_cast<std::size_t>(taps.count));
  for (std::size_t x = 0; x < taps.first.size(); ++x) {
    t.base[x] -= begin;
    to_fixed(weights_of(taps, x), HorizontalTable::weight_bits + fine_bits, fixed);
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      t.weights[x * stride + i] = unit_of(fixed[i]);
      t.fine[x * stride + i] = part_of(fixed[i]);
    }
  }
}

HorizontalTable make_few(const FixedTaps& from, const HorizontalUse& use) {
  HorizontalTable table;
  table.outputs = from.outputs;
  if (is_identity(from)) return table;
  const bool bytes = use.of_bytes && from.taps <= 2;
  if (takes_permutes()) {
    table.mode = Mode::permuted;
    if (bytes) table.byte_permute = make_permute(from, use.samples, true);
    const bool has_bytes = table.byte_permute.group != 0;
    if (has_bytes && !use.of_samples) return table;
    table.permute = make_permute(from, use.samples, false);
    if (table.permute.group != 0 && has_bytes == bytes) return table;
  }
  table.mode = cheapest(tap_reach(from));
  if (table.mode == Mode::dots) {
    make_dots(from, table);
  } else {
    make_blocks(from, table);
    if (bytes) make_bytes(from, use.samples, table);
  }
  return table;
}

}  // namespace

HorizontalTable make_horizontal(const AxisTaps& taps, const HorizontalUse& use) {
  const FixedTaps fixed(taps, use.begin);
  if (fixed.taps <= use.few) return make_few(fixed, use);
  HorizontalTable table;
  table.outputs = fixed.outputs;
  make_many(taps, use.begin, table);
  return table;
}

HorizontalTable make_horizontal(const AxisRequest& axis, const HorizontalUse& use) {
  if (is_nearest(axis) || is_between(axis)) return make_few(FixedTaps(axis, use.begin), use);
  if (is_antialias(axis)) {
    const FixedTaps fixed(axis, use.begin);
    if (fixed.taps <= use.few) return make_few(fixed, use);
  }
  AxisTaps taps;
  make_taps(axis, taps);
  return make_horizontal(taps, use);
}

}  // namespace halyard::image
