// SPDX-License-Identifier: Apache-2.0
// Look-up tables for the Huffman codes of sequential JPEG: a few bits of the stream give a symbol,
// and often the coefficient after it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halyard::codec {

/// Bits of the stream that index a table.
constexpr unsigned huffman_index_bits = 10;
constexpr std::size_t huffman_entries = std::size_t{1} << huffman_index_bits;
/// What an end of block adds to the zigzag index: more than any two runs add.
constexpr unsigned end_of_block_advance = 128;
/// All coefficients of a step but the last begin at most this far after the step's own index.
constexpr unsigned max_step_run = 16;
/// Bits of the longest code, and of the longest value after it.
constexpr unsigned max_symbol_bits = 16 + 15;

/// A code in the stream. A symbol is 16 * run + size; the value follows it in size bits.
struct HuffmanCode {
  std::uint8_t bits = 0;  ///< 1 .. 16; 0: no code begins with these bits
  std::uint8_t symbol = 0;
};

/// The next part of the stream: one coefficient, perhaps a second one, perhaps the end of the
/// block. Indices are relative to the step's own. A run of 16 zeros is a coefficient of 0. A
/// coefficient that is missing is a 0 whose index is past the end of any block; an end of block
/// that comes first is stored in the same way. For a DC symbol only code_bits and size are
/// meaningful.
struct HuffmanStep {
  std::int16_t second;     ///< value of the second coefficient; the first is read from the stream
  std::uint8_t code_bits;  ///< 1 .. huffman_index_bits; 0: a longer code, or none
  std::uint8_t size;       ///< value bits after the first code
  std::uint8_t first_at, second_at;
  std::uint8_t advance;  ///< what the whole step adds to the index
  std::uint8_t bits;     ///< bits of the whole step
};

/// A code in canonical form.
struct HuffmanTable {
  /// Counts of codes of 1 .. 16 bits and their symbols, as a DHT segment has them.
  std::array<std::uint8_t, 16> counts;
  std::array<std::uint8_t, 256> symbols;
  /// By code length: the first value of 16 bits that does not begin with a code of at most this
  /// length.
  std::array<std::uint32_t, 17> limits;
  /// By code length: the index of a symbol minus its code.
  std::array<std::int32_t, 17> offsets;
  /// Steps, indexed by the first huffman_index_bits bits of the stream.
  std::array<HuffmanStep, huffman_entries> steps;
  /// Longer codes, indexed by the first 16 bits of the stream minus the least such value.
  /// find_code() finds the codes that do not fit here.
  std::array<HuffmanCode, 1024> long_codes;

  /// The code that the 16 bits `head` begin with, of any length.
  HuffmanCode find_code(std::uint32_t head) const noexcept;
};

enum class HuffmanKind { dc, ac };

/// Fills `table`. Returns false if the counts are not a valid code (JPEG also forbids an all-ones
/// code), if there are fewer symbols than codes, or if a DC symbol is above 15; `table` must not be
/// used then.
[[nodiscard]] bool fill_table(std::span<const std::uint8_t, 16> counts,
                              std::span<const std::uint8_t> symbols, HuffmanKind kind,
                              HuffmanTable& table) noexcept;

/// The value that the first `size` bits (0 .. 15) of `stream` encode. Values whose first bit is 0
/// are negative.
inline int huffman_value(std::uint64_t stream, unsigned size) noexcept {
  // Two shifts, because a shift by 64 is undefined.
  const auto value = static_cast<int>(stream >> 1 >> (63 - size));
  const auto is_negative = static_cast<int>(~stream >> 63);
  return value + (-is_negative & (1 - (1 << size)));
}

/// How much an AC symbol adds to the index.
inline unsigned advance_of(unsigned symbol) noexcept {
  const bool ends = (symbol & 15) == 0 && symbol != 0xF0;
  return ends ? end_of_block_advance : (symbol >> 4) + 1;
}

}  // namespace halyard::codec
