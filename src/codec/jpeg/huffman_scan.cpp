// SPDX-License-Identifier: Apache-2.0
// The kernel of JPEG decoding. A scan is a stream of bits, most significant first, in bytes. After
// a data byte 0xFF follows a stuffed 0x00 that is not data; 0xFF before any other byte is a marker,
// which ends the stream. A block is a DC symbol (the difference to the previous block) and AC
// symbols up to an end of block or to coefficient 63.
//
// The buffer holds the stream in its most significant bits. refill() adds whole bytes while they
// fit, which leaves 56 to 63 bits. A table step takes at most 25 bits (10 of code, 15 of value); a
// symbol with a long code at most 31 (16 and 15). 25 + 31 = 56, so one step and any other symbol
// may follow a refill, and the bit count cannot fall below 0.
//
// refill() reads eight bytes at once only if `end` is that far away and none of them is 0xFF;
// otherwise it reads byte by byte. Of the eight, only the bytes that fit count as read; bits of the
// others may be below the counted bits, and the next refill writes the same bits there. After the
// end of the stream, zeros count as bits. A block that takes such bits ends, as any block does,
// when its index reaches 64. Its MCU is refused then.
//
// A coefficient is stored at whatever position its index gives: the zigzag table has an entry for
// every sum of an index and an advance, and the entries past 63 are 63. A block whose last index is
// past 63 without an end of block is refused.
#include "codec/jpeg/huffman_scan.h"

#include <bit>
#include <cstring>

namespace halyard::codec {
namespace {

// Natural order of each index in zigzag order. A coefficient is less than end_of_block_advance
// after an index below 64.
constexpr std::size_t order_entries = 64 + end_of_block_advance;
constexpr std::array<std::uint8_t, order_entries> natural_order = [] {
  std::array<std::uint8_t, order_entries> order{};
  order.fill(63);
  int row = 0;
  int column = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    order[i] = static_cast<std::uint8_t>(8 * row + column);
    const bool up = (row + column) % 2 == 0;
    if (up ? column == 7 : row == 7) {
      ++(up ? row : column);
    } else if (up ? row == 0 : column == 0) {
      ++(up ? column : row);
    } else {
      row += up ? -1 : 1;
      column += up ? 1 : -1;
    }
  }
  return order;
}();

// Whole steps are taken only below this index, so that their last symbol begins in the block too.
constexpr unsigned whole_indices = 64 - max_step_run;

// The part of a scan that changes at every symbol; small, so that it stays in registers.
struct Reader {
  std::uint64_t buffer;
  const std::uint8_t* next;
  unsigned bits;
  unsigned absent_bits;
  const std::uint8_t* end;
};

bool has_ff(std::uint64_t bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  return ((~bytes - ones) & bytes & (ones << 7)) != 0;
}

[[gnu::noinline]] void refill_slowly(Reader& reader) {
  while (reader.bits < 56) {
    const auto left = static_cast<std::size_t>(reader.end - reader.next);
    std::uint64_t byte = 0;
    if (left != 0 && *reader.next != 0xFF) {
      byte = *reader.next++;
    } else if (left >= 2 && reader.next[1] == 0) {
      byte = 0xFF;
      reader.next += 2;
    } else {
      reader.absent_bits += 8;
    }
    reader.buffer |= byte << (56 - reader.bits);
    reader.bits += 8;
  }
}

[[gnu::always_inline]] inline void refill(Reader& reader) {
  if (reader.end - reader.next >= 8) [[likely]] {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, reader.next, 8);
    if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
    if (!has_ff(bytes)) [[likely]] {
      reader.buffer |= bytes >> reader.bits;
      reader.next += (63 - reader.bits) >> 3;
      reader.bits |= 56;
      return;
    }
  }
  // A copy, so that the caller's reader stays in registers.
  Reader copy = reader;
  refill_slowly(copy);
  reader = copy;
}

[[gnu::always_inline]] inline void consume(Reader& reader, unsigned bits) {
  reader.buffer <<= bits;
  reader.bits -= bits;
}

std::size_t index_of(const Reader& reader) {
  return reader.buffer >> (64 - huffman_index_bits);
}

// A code with more than huffman_index_bits bits; bits is 0 if no code matches.
[[gnu::always_inline]] inline HuffmanCode long_code(const Reader& reader,
                                                    const HuffmanTable& table) {
  const auto head = static_cast<std::uint32_t>(reader.buffer >> 48);
  const std::size_t place = head - table.limits[huffman_index_bits];
  if (place < table.long_codes.size()) [[likely]]
    return table.long_codes[place];
  return table.find_code(head);
}

[[gnu::always_inline]] inline bool decode_dc(Reader& reader, const HuffmanTable& table,
                                             int& prediction, std::int16_t* block) {
  refill(reader);
  const HuffmanStep& step = table.steps[index_of(reader)];
  unsigned bits = step.code_bits;
  unsigned size = step.size;
  if (bits == 0) [[unlikely]] {
    const HuffmanCode code = long_code(reader, table);
    if (code.bits == 0) return false;
    bits = code.bits;
    size = code.symbol & 15;
  }
  prediction += huffman_value(reader.buffer << bits, size);
  consume(reader, bits + size);
  block[0] = static_cast<std::int16_t>(prediction);
  return block[0] == prediction;
}

// Decodes a symbol with a long code; k becomes the next index. False if no code matches.
[[gnu::always_inline]] inline bool decode_long(Reader& reader, const HuffmanTable& table,
                                               std::int16_t* block, unsigned& k) {
  const HuffmanCode code = long_code(reader, table);
  if (code.bits == 0) return false;
  const unsigned size = code.symbol & 15;
  const unsigned advance = advance_of(code.symbol);
  block[natural_order[k + advance - 1]] =
      static_cast<std::int16_t>(huffman_value(reader.buffer << code.bits, size));
  consume(reader, code.bits + size);
  k += advance;
  return true;
}

// Takes all of a step, or its first symbol only.
template <bool whole>
[[gnu::always_inline]] inline void take(Reader& reader, const HuffmanStep& step,
                                        std::int16_t* block, unsigned& k) {
  block[natural_order[k + step.first_at]] =
      static_cast<std::int16_t>(huffman_value(reader.buffer << step.code_bits, step.size));
  if constexpr (whole) block[natural_order[k + step.second_at]] = step.second;
  consume(reader, whole ? step.bits : unsigned{step.code_bits} + step.size);
  k += whole ? step.advance : step.first_at + 1U;
}

enum class CodeLookup { nothing, step, long_code };

// Decodes the coefficients at index k; k becomes the next index.
template <bool whole>
[[gnu::always_inline]] inline CodeLookup decode_step(Reader& reader, const HuffmanTable& table,
                                                     std::int16_t* block, unsigned& k) {
  const HuffmanStep& step = table.steps[index_of(reader)];
  if (step.code_bits == 0) [[unlikely]] {
    return decode_long(reader, table, block, k) ? CodeLookup::long_code : CodeLookup::nothing;
  }
  take<whole>(reader, step, block, k);
  return CodeLookup::step;
}

[[gnu::always_inline]] inline bool decode_ac(Reader& reader, const HuffmanTable& table,
                                             std::int16_t* block) {
  unsigned k = 1;
  while (k < whole_indices) {
    refill(reader);
    CodeLookup found = decode_step<true>(reader, table, block, k);
    // The buffer still has enough bits for any symbol.
    if (found == CodeLookup::step && k < whole_indices)
      found = decode_step<true>(reader, table, block, k);
    if (found == CodeLookup::nothing) return false;
  }
  while (k < 64) {
    refill(reader);
    if (decode_step<false>(reader, table, block, k) == CodeLookup::nothing) return false;
  }
  return k == 64 || k > end_of_block_advance;
}

// The number of bits in the buffer that come from the stream.
unsigned present_bits(const HuffmanScan& scan) {
  return scan.bits - scan.absent_bits;
}

// Whether a marker is at `next`, perhaps after fill bytes 0xFF.
bool is_at_marker(const HuffmanScan& scan) {
  const std::uint8_t* code = scan.next;
  while (code != scan.end && *code == 0xFF)
    ++code;
  return code != scan.next && code != scan.end && *code != 0;
}

// Skips zero bytes after the last MCU, with which cameras fill their memory. The remaining bits of
// the MCU's last byte may have any value.
bool skip_padding(HuffmanScan& scan) {
  const unsigned rest = present_bits(scan) % 8;
  const unsigned whole = present_bits(scan) - rest;
  if (whole != 0 && (scan.buffer << rest) >> (64 - whole) != 0) return false;
  while (scan.next != scan.end && *scan.next == 0)
    ++scan.next;
  return is_at_marker(scan);
}

bool read_restart(HuffmanScan& scan) {
  if (present_bits(scan) >= 8 || !is_at_marker(scan)) return false;
  while (*scan.next == 0xFF)
    ++scan.next;
  if (*scan.next++ != 0xD0 + scan.next_restart) return false;
  scan.next_restart = (scan.next_restart + 1) % 8;
  scan.mcus_to_restart = scan.restart_interval;
  scan.buffer = 0;
  scan.bits = 0;
  scan.absent_bits = 0;
  scan.predictions.fill(0);
  return true;
}

bool decode_blocks(HuffmanScan& scan, CoefficientBlock** blocks) {
  Reader reader{scan.buffer, scan.next, scan.bits, scan.absent_bits, scan.end};
  for (std::uint32_t i = 0; i < scan.block_count; ++i) {
    const HuffmanScan::Block& plan = scan.blocks[i];
    std::int16_t* block = *blocks[i];
    if (!decode_dc(reader, *plan.dc, scan.predictions[plan.component], block)) return false;
    if (!decode_ac(reader, *plan.ac, block)) return false;
  }
  scan.buffer = reader.buffer;
  scan.next = reader.next;
  scan.bits = reader.bits;
  scan.absent_bits = reader.absent_bits;
  return reader.bits >= reader.absent_bits;
}

}  // namespace

bool decode_mcu(HuffmanScan& scan, CoefficientBlock** blocks) noexcept {
  if (scan.mcus == 0) return false;
  if (scan.restart_interval != 0) {
    if (scan.mcus_to_restart == 0 && !read_restart(scan)) return false;
    --scan.mcus_to_restart;
  }
  if (!decode_blocks(scan, blocks)) return false;
  return --scan.mcus != 0 || skip_padding(scan);
}

}  // namespace halyard::codec
