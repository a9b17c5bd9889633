// SPDX-License-Identifier: Apache-2.0
// Tables for the kernels: fixed-point weights, bases and byte shuffles.
#include "image/cpu/across.h"

#include <algorithm>

#include "image/cpu/across_span.h"
#include "image/cpu/fixed_weights.h"

namespace halyard::image {
namespace {

using Mode = AcrossTable::Mode;
constexpr std::uint8_t zero_byte = 0x80;  // what a shuffle turns into 0

std::size_t padded(std::size_t outputs) {
  return (outputs + across_group - 1) / across_group * across_group;
}
std::size_t place_of(std::size_t x) {
  return x / across_group * across_group + across_place(x % across_group);
}
// Of the block of output `x`.
std::size_t block_of(std::size_t x) {
  constexpr std::size_t blocks = across_group / 4;
  return x / across_group * blocks + across_block_place(x % across_group / 4);
}

/// How far the spans of a block of four reach.
struct Reach {
  std::int32_t taps = 0;    ///< most of one output
  std::int32_t starts = 0;  ///< from a block's first sample to the last one of its first pairs
};

Reach reach_of(const TapSpans& spans) {
  Reach reach;
  for (std::size_t x = 0; x < spans.size(); x += 4) {
    const std::size_t end = std::min(x + 4, spans.size());
    std::int32_t base = spans[x].first;
    for (std::size_t i = x; i < end; ++i)
      base = std::min(base, spans[i].first);
    for (std::size_t i = x; i < end; ++i) {
      reach.taps = std::max(reach.taps, spans[i].count());
      reach.starts = std::max(reach.starts, spans[i].first - base + (spans[i].count() > 1 ? 1 : 0));
    }
  }
  return reach;
}

// By the vector instructions for 16 outputs: 6 a pair, 11 where it takes two loads; 16 for eight
// taps of a dot product, and 11 more.
Mode cheapest(const Reach& reach) {
  if (reach.starts <= 7 && reach.taps <= 6) return Mode::narrow;
  if (reach.starts <= 15 && reach.taps <= 4) return Mode::wide;
  return Mode::dots;
}

bool is_identity(const TapSpans& spans) {
  for (std::size_t x = 0; x < spans.size(); ++x) {
    if (spans[x].count() != 1 || spans[x].first != static_cast<std::int32_t>(x)) return false;
  }
  return true;
}

// Bytes of `sample` (0..7 of the load) into half `half` of pair `pair`.
void set_pair(std::uint8_t* control, std::int32_t sample, std::size_t pair, std::size_t half) {
  if (sample < 0 || sample > 7) return;
  control[4 * pair + 2 * half] = static_cast<std::uint8_t>(2 * sample);
  control[4 * pair + 2 * half + 1] = static_cast<std::uint8_t>(2 * sample + 1);
}

void set_bases(const TapSpans& spans, AcrossTable& t) {
  t.base.assign(padded(spans.size()) / 4, 0);
  for (std::size_t x = 0; x < spans.size(); ++x) {
    std::int32_t& base = t.base[block_of(x)];
    base = x % 4 == 0 ? spans[x].first : std::min(base, spans[x].first);
  }
}

void make_blocks(const TapSpans& spans, std::int32_t taps, AcrossTable& t) {
  const bool wide = t.mode == Mode::wide;
  const std::size_t outputs = padded(spans.size());
  t.pairs = (taps + 1) / 2;
  set_bases(spans, t);
  t.control.assign(outputs * 4 * (wide ? 2 : 1), zero_byte);
  t.weights.assign(2 * outputs * static_cast<std::size_t>(t.pairs), 0);
  for (std::size_t x = 0; x < spans.size(); ++x) {
    const TapSpan span = spans[x];
    const std::size_t block = block_of(x);
    for (std::size_t half = 0; half < (taps > 1 ? 2U : 1U); ++half) {
      const std::int32_t sample = span.first - t.base[block] + static_cast<std::int32_t>(half);
      set_pair(&t.control[block * 16], sample, x % 4, half);
      if (wide) set_pair(&t.control[outputs * 4 + block * 16], sample - 8, x % 4, half);
    }
    for (std::size_t i = 0; i < span.weights.size(); ++i) {
      t.weights[i / 2 * 2 * outputs + block * 8 + x % 4 * 2 + i % 2] =
          static_cast<std::int16_t>(span.weights[i]);
    }
  }
}

void make_dots(const TapSpans& spans, std::int32_t taps, AcrossTable& t) {
  const std::size_t outputs = padded(spans.size());
  t.chunks = (taps + 7) / 8;
  t.base.assign(outputs, 0);
  t.weights.assign(8 * outputs * static_cast<std::size_t>(t.chunks), 0);
  for (std::size_t x = 0; x < spans.size(); ++x) {
    const std::size_t place = place_of(x);
    t.base[place] = spans[x].first;
    for (std::size_t i = 0; i < spans[x].weights.size(); ++i) {
      t.weights[i / 8 * 8 * outputs + place * 8 + i % 8] =
          static_cast<std::int16_t>(spans[x].weights[i]);
    }
  }
}

// Bytes are shuffled from one load of 16, which must not leave the row of `samples`.
void make_bytes(const TapSpans& spans, std::int32_t taps, std::int32_t samples, AcrossTable& t) {
  if (taps > 2 || t.pairs != 1 || samples < 16) return;
  std::vector<std::int32_t> bases = t.base;
  for (std::int32_t& base : bases)
    base = std::min(base, samples - 16);
  t.byte_control.assign(bases.size() * 16, zero_byte);
  if (taps == 1) t.pick.assign(bases.size() * 16, zero_byte);
  for (std::size_t x = 0; x < spans.size(); ++x) {
    const std::size_t block = block_of(x);
    const std::int32_t from = spans[x].first - bases[block];
    const std::int32_t last = from + spans[x].count() - 1;
    if (last > 15) {
      t.pick.clear();
      return;
    }
    std::uint8_t* control = &t.byte_control[block * 16 + x % 4 * 4];
    control[0] = static_cast<std::uint8_t>(from);
    if (last > from) control[2] = static_cast<std::uint8_t>(last);
    if (taps == 1) t.pick[block * 16 + x % 8 * 2] = static_cast<std::uint8_t>(from);
  }
  t.byte_base = bases;
}

void make_many(const AxisTaps& taps, std::int32_t begin, AcrossTable& t) {
  constexpr std::int32_t lanes = AcrossTable::most_lanes;
  t.mode = Mode::many;
  t.taps = (taps.count + lanes - 1) / lanes * lanes;
  const auto stride = static_cast<std::size_t>(t.taps);
  t.weights.assign(taps.first.size() * stride, 0);
  t.fine.assign(t.weights.size(), 0);
  t.base = taps.first;
  std::vector<std::int32_t> fixed(static_cast<std::size_t>(taps.count));
  for (std::size_t x = 0; x < taps.first.size(); ++x) {
    t.base[x] -= begin;
    to_fixed(weights_of(taps, x), AcrossTable::weight_bits + fine_bits, fixed);
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      t.weights[x * stride + i] = unit_of(fixed[i]);
      t.fine[x * stride + i] = part_of(fixed[i]);
    }
  }
}

}  // namespace

TapSpans::TapSpans(const AxisTaps& taps, std::int32_t begin) {
  const auto count = static_cast<std::size_t>(taps.count);
  weights_.resize(taps.weight.size());
  parts_.reserve(taps.first.size());
  for (std::size_t x = 0; x < taps.first.size(); ++x) {
    const auto fixed = std::span(weights_).subspan(x * count, count);
    to_fixed(weights_of(taps, x), AcrossTable::weight_bits, fixed);
    std::size_t end = count;
    while (end > 1 && fixed[end - 1] == 0)
      --end;
    std::size_t first = 0;
    while (first + 1 < end && fixed[first] == 0)
      ++first;
    parts_.push_back({taps.first[x] - begin + static_cast<std::int32_t>(first),
                      static_cast<std::int32_t>(end - first), x * count + first});
  }
}

AcrossTable make_across(const AxisTaps& taps, std::int32_t begin, std::int32_t samples,
                        std::int32_t few, bool of_bytes) {
  AcrossTable table;
  table.outputs = static_cast<std::int32_t>(taps.first.size());
  const TapSpans spans(taps, begin);
  const Reach reach = reach_of(spans);
  if (reach.taps > few) {
    make_many(taps, begin, table);
    return table;
  }
  if (is_identity(spans)) return table;
  table.mode = cheapest(reach);
  if (table.mode == Mode::dots) {
    make_dots(spans, reach.taps, table);
  } else {
    make_blocks(spans, reach.taps, table);
    if (of_bytes) make_bytes(spans, reach.taps, samples, table);
  }
  if (takes_permutes()) {
    table.permute = make_permute(spans, reach.taps, samples, false);
    if (!table.byte_base.empty())
      table.byte_permute = make_permute(spans, reach.taps, samples, true);
  }
  return table;
}

}  // namespace halyard::image
