// SPDX-License-Identifier: Apache-2.0
// Look-up tables for the Huffman codes of sequential JPEG: a few bits of the stream give a symbol
// and often the coefficient behind it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halyard::codec {

/// Bits of the stream that index a table.
constexpr unsigned huffman_index_bits = 10;
constexpr std::size_t huffman_entries = std::size_t{1} << huffman_index_bits;
/// What the end of a block adds to the index in zigzag order: more than any two runs do.
constexpr unsigned end_of_block_advance = 128;
/// Coefficients of a step but the last begin at most this much further than the step does.
constexpr unsigned max_step_run = 16;
/// The longest code and the most value bits behind it.
constexpr unsigned max_symbol_bits = 16 + 15;

/// A code in the stream. A symbol is 16 * run + size; size bits follow it, the value.
struct HuffmanCode {
  std::uint8_t bits = 0;  ///< 1 .. 16; 0: no code begins so
  std::uint8_t symbol = 0;
};

/// What stands next in the stream: one coefficient, perhaps a second one, perhaps the end of the
/// block. Indices count from the step's own. A run of 16 zeros is a coefficient of 0. What is
/// missing is a coefficient of 0 whose index is past the end of any block, and so is the end of the
/// block where it comes first. Of a DC symbol only code_bits and size mean something.
struct HuffmanStep {
  std::int16_t second;     ///< value of the second coefficient; of the first one the stream has it
  std::uint8_t code_bits;  ///< 1 .. huffman_index_bits; 0: a longer code, or none
  std::uint8_t size;       ///< value bits behind the first code
  std::uint8_t first_at, second_at;
  std::uint8_t advance;  ///< of the index, by the whole step
  std::uint8_t bits;     ///< of the whole step
};

/// A code in canonical form.
struct HuffmanTable {
  /// Counts of codes of 1 .. 16 bits and their symbols, as a DHT segment has them.
  std::array<std::uint8_t, 16> counts;
  std::array<std::uint8_t, 256> symbols;
  /// By the length of a code: the first value of 16 bits that is no code of so many bits or fewer.
  std::array<std::uint32_t, 17> limits;
  /// By the length: index of a symbol less the code itself.
  std::array<std::int32_t, 17> offsets;
  /// By the first huffman_index_bits bits of the stream.
  std::array<HuffmanStep, huffman_entries> steps;
  /// Longer codes by the first 16 bits of the stream, from the least of them on; those that there
  /// is no room for are left to find_code().
  std::array<HuffmanCode, 1024> long_codes;

  /// The code that begins with `head`, 16 bits, whatever its length.
  HuffmanCode find_code(std::uint32_t head) const noexcept;
};

enum class HuffmanKind { dc, ac };

/// Fills `table`. False: the counts are no code (also one with an all-ones code, as JPEG forbids),
/// there are fewer symbols than codes, or a DC symbol is above 15; `table` then has no meaning.
[[nodiscard]] bool fill_table(std::span<const std::uint8_t, 16> counts,
                              std::span<const std::uint8_t> symbols, HuffmanKind kind,
                              HuffmanTable& table) noexcept;

/// The value that `size` bits (0 .. 15) at the head of `stream` stand for; those whose first bit is
/// 0 are negative.
inline int huffman_value(std::uint64_t stream, unsigned size) noexcept {
  // Two shifts, for none may be by 64.
  const auto value = static_cast<int>(stream >> 1 >> (63 - size));
  const auto is_negative = static_cast<int>(~stream >> 63);
  return value + (-is_negative & (1 - (1 << size)));
}

/// How far an AC symbol takes the index.
inline unsigned advance_of(unsigned symbol) noexcept {
  const bool ends = (symbol & 15) == 0 && symbol != 0xF0;
  return ends ? end_of_block_advance : (symbol >> 4) + 1;
}

}  // namespace halyard::codec
