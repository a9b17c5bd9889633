// SPDX-License-Identifier: Apache-2.0
// Canonical Huffman codes: the codes of one length are consecutive numbers and follow the codes of
// the shorter length. So longer codes have larger first 16 bits of the stream, and each length has
// one range of them.
#include "codec/jpeg/huffman_tables.h"

#include <algorithm>
#include <numeric>

namespace halyard::codec {
namespace {

constexpr std::size_t index_mask = huffman_entries - 1;
constexpr std::uint8_t nowhere = end_of_block_advance - 1;

bool set_limits(HuffmanTable& table) {
  std::uint32_t code = 0;
  std::int32_t first = 0;
  table.limits[0] = 0;
  table.offsets[0] = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    const unsigned count = table.counts[length - 1];
    table.offsets[length] = first - static_cast<std::int32_t>(code);
    code += count;
    first += static_cast<std::int32_t>(count);
    // JPEG forbids a code of ones only, even as the last one.
    if (count != 0 && code >= (1U << length)) return false;
    table.limits[length] = code << (16 - length);
    code <<= 1;
  }
  return true;
}

// A step that has only the first symbol.
HuffmanStep single_step(HuffmanCode code) {
  const auto size = static_cast<std::uint8_t>(code.symbol & 15);
  const auto advance = static_cast<std::uint8_t>(advance_of(code.symbol));
  return {0,
          code.bits,
          size,
          static_cast<std::uint8_t>(advance - 1),
          nowhere,
          advance,
          static_cast<std::uint8_t>(code.bits + size)};
}

// Codes in order have index ranges in order.
void set_codes(HuffmanTable& table) {
  std::size_t at = 0;
  std::size_t symbol = 0;
  for (unsigned length = 1; length <= huffman_index_bits; ++length) {
    const std::size_t range = std::size_t{1} << (huffman_index_bits - length);
    for (unsigned n = 0; n < table.counts[length - 1]; ++n, at += range) {
      const HuffmanStep step =
          single_step({static_cast<std::uint8_t>(length), table.symbols[symbol++]});
      std::fill_n(table.steps.begin() + static_cast<std::ptrdiff_t>(at), range, step);
    }
  }
  std::fill(table.steps.begin() + static_cast<std::ptrdiff_t>(at), table.steps.end(),
            HuffmanStep{});
  // The remaining symbols have longer codes.
  auto next = table.long_codes.begin();
  for (unsigned length = huffman_index_bits + 1; length <= 16; ++length) {
    for (unsigned n = 0; n < table.counts[length - 1]; ++n) {
      const auto range =
          std::min<std::ptrdiff_t>(1 << (16 - length), table.long_codes.end() - next);
      next = std::fill_n(next, range,
                         HuffmanCode{static_cast<std::uint8_t>(length), table.symbols[symbol++]});
    }
  }
  std::fill(next, table.long_codes.end(), HuffmanCode{});
}

// Adds the next symbol to `step` at index i if the index holds all of the symbol's bits. Returns
// false if it does not, or if no symbol may follow.
bool add_symbol(const HuffmanTable& table, std::size_t i, HuffmanStep& step, bool only_end) {
  if (step.bits >= huffman_index_bits || step.advance > max_step_run) return false;
  const std::size_t rest = (i << step.bits) & index_mask;
  // The first symbol of the entry `rest` is valid whether or not the entry has been extended yet.
  const HuffmanStep& next = table.steps[rest];
  const unsigned bits = unsigned{next.code_bits} + next.size;
  const unsigned advance = unsigned{next.first_at} + 1;
  const bool ends = advance == end_of_block_advance;
  if (next.code_bits == 0 || step.bits + bits > huffman_index_bits || (only_end && !ends))
    return false;
  if (!ends) {
    const auto value_at = 64 - huffman_index_bits + next.code_bits;
    step.second =
        static_cast<std::int16_t>(huffman_value(std::uint64_t{rest} << value_at, next.size));
    step.second_at = static_cast<std::uint8_t>(step.advance + advance - 1);
  }
  step.advance = static_cast<std::uint8_t>(step.advance + advance);
  step.bits = static_cast<std::uint8_t>(step.bits + bits);
  return !ends;
}

void extend_steps(HuffmanTable& table) {
  for (std::size_t i = 0; i < huffman_entries; ++i) {
    HuffmanStep step = table.steps[i];
    if (step.code_bits == 0) continue;
    if (add_symbol(table, i, step, false)) add_symbol(table, i, step, true);
    table.steps[i] = step;
  }
}

}  // namespace

HuffmanCode HuffmanTable::find_code(std::uint32_t head) const noexcept {
  for (unsigned length = 1; length <= 16; ++length) {
    if (head >= limits[length]) continue;
    const auto code = static_cast<std::int32_t>(head >> (16 - length));
    return {static_cast<std::uint8_t>(length),
            symbols[static_cast<std::uint8_t>(code + offsets[length])]};
  }
  return {};
}

bool fill_table(std::span<const std::uint8_t, 16> counts, std::span<const std::uint8_t> symbols,
                HuffmanKind kind, HuffmanTable& table) noexcept {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  if (total > std::min(symbols.size(), table.symbols.size())) return false;
  const auto used = symbols.first(total);
  const bool is_dc = kind == HuffmanKind::dc;
  if (is_dc && std::any_of(used.begin(), used.end(), [](auto s) { return s > 15; })) return false;
  std::copy(counts.begin(), counts.end(), table.counts.begin());
  table.symbols.fill(0);
  std::copy(used.begin(), used.end(), table.symbols.begin());
  if (!set_limits(table)) return false;
  set_codes(table);
  if (!is_dc) extend_steps(table);
  return true;
}

}  // namespace halyard::codec
