// SPDX-License-Identifier: Apache-2.0
// Huffman codes of JPEG: tables against codes read bit by bit, scans against the coefficients that
// a plain writer of bits has put into them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "codec/jpeg/huffman_scan.h"

namespace halyard::codec {
namespace {

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  unsigned below(unsigned limit) { return static_cast<unsigned>(engine() % limit); }
  std::mt19937 engine;
};

using Counts = std::array<std::uint8_t, 16>;
using Symbols = std::vector<std::uint8_t>;
using Coefficients = std::array<std::int16_t, 64>;

// A code as a DHT segment has it, and the code of each symbol.
struct Code {
  Counts counts{};
  Symbols symbols;

  // Code and its length.
  std::pair<unsigned, unsigned> of(unsigned symbol) const {
    unsigned code = 0;
    std::size_t i = 0;
    for (unsigned length = 1; length <= 16; ++length, code <<= 1) {
      for (unsigned n = 0; n < counts[length - 1]; ++n, ++i, ++code)
        if (symbols[i] == symbol) return {code, length};
    }
    ADD_FAILURE() << "no code for " << symbol;
    return {0, 1};
  }
};

// All symbols of a kind in any order, with codes as uneven as `bias` says; room for one more code
// is left, since none is all ones.
Code random_code(Random& random, HuffmanKind kind, unsigned bias) {
  Code code;
  const unsigned total = kind == HuffmanKind::dc ? 12 : 256;
  for (unsigned i = 0; i < total; ++i)
    code.symbols.push_back(static_cast<std::uint8_t>(i));
  std::shuffle(code.symbols.begin(), code.symbols.end(), random.engine);
  unsigned left = total;
  unsigned open = 2;  // prefixes of this length that are no code yet
  for (unsigned length = 1; length <= 16; ++length, open *= 2) {
    // So many that the others still find room in the codes of 16 bits.
    unsigned maximum = 0;
    while (maximum < std::min({left, open - 1, 255U}) &&
           left - maximum - 1 < ((open - maximum - 1) << (16 - length)))
      ++maximum;
    const unsigned wanted = length == 15 ? 100 : random.below(bias + 1);
    const unsigned count = length == 16 ? left : std::min(maximum, wanted);
    code.counts[length - 1] = static_cast<std::uint8_t>(count);
    left -= count;
    open -= count;
  }
  return code;
}

bool fill(const Code& code, HuffmanKind kind, HuffmanTable& table) {
  return fill_table(code.counts, code.symbols, kind, table);
}

// Writes a stream as an encoder does.
class Writer {
 public:
  void put(unsigned value, unsigned bits) {
    for (unsigned i = bits; i-- > 0;) {
      byte_ = byte_ << 1 | (value >> i & 1);
      if (++count_ == 8) flush_byte();
    }
  }
  void put_value(const Code& code, unsigned run, int value) {
    const auto size = static_cast<unsigned>(std::bit_width(unsigned(std::abs(value))));
    const auto [bits, length] = code.of(run << 4 | size);
    put(bits, length);
    put(unsigned(value < 0 ? value - 1 : value), size);
  }
  void put_marker(std::uint8_t marker, unsigned fill_bytes = 0) {
    while (count_ != 0)
      put(1, 1);
    for (unsigned i = 0; i <= fill_bytes; ++i)
      bytes.push_back(0xFF);
    bytes.push_back(marker);
  }
  std::vector<std::uint8_t> bytes;

 private:
  void flush_byte() {
    bytes.push_back(static_cast<std::uint8_t>(byte_));
    if (bytes.back() == 0xFF) bytes.push_back(0);
    byte_ = 0;
    count_ = 0;
  }
  unsigned byte_ = 0, count_ = 0;
};

constexpr std::array<std::uint8_t, 64> zigzag = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

void put_block(Writer& out, const Code& dc, const Code& ac, const Coefficients& block, int before) {
  out.put_value(dc, 0, block[0] - before);
  unsigned run = 0;
  for (std::size_t k = 1; k < 64; ++k) {
    if (block[zigzag[k]] == 0) {
      ++run;
      continue;
    }
    for (; run > 15; run -= 16)
      out.put_value(ac, 15, 0);
    out.put_value(ac, std::exchange(run, 0), block[zigzag[k]]);
  }
  if (run != 0) out.put_value(ac, 0, 0);
}

Coefficients random_block(Random& random) {
  Coefficients block{};
  block[0] = static_cast<std::int16_t>(int(random.below(2047)) - 1023);
  const unsigned density = 1U << random.below(7);
  const int largest = 1 << random.below(11);
  for (std::size_t i = 1; i < 64; ++i)
    if (random.below(density) == 0)
      block[i] = static_cast<std::int16_t>(int(random.below(unsigned(2 * largest))) - largest);
  for (std::int16_t& value : block)
    value = std::max<std::int16_t>(value, -1023);
  return block;
}

// A scan of one block an MCU, in memory of exactly its size.
struct Scan {
  HuffmanTable dc, ac;
  Code dc_code, ac_code;
  std::vector<Coefficients> blocks;
  std::vector<std::uint8_t> bytes;
  unsigned restart_interval = 0;
};

std::unique_ptr<Scan> random_scan(Random& random, unsigned restart_interval) {
  auto scan = std::make_unique<Scan>();
  scan->dc_code = random_code(random, HuffmanKind::dc, 1 + random.below(3));
  scan->ac_code = random_code(random, HuffmanKind::ac, 1 + random.below(20));
  EXPECT_TRUE(fill(scan->dc_code, HuffmanKind::dc, scan->dc));
  EXPECT_TRUE(fill(scan->ac_code, HuffmanKind::ac, scan->ac));
  scan->restart_interval = restart_interval;
  Writer out;
  int before = 0;
  for (unsigned i = 0; i < 40; ++i) {
    if (restart_interval != 0 && i != 0 && i % restart_interval == 0) {
      out.put_marker(static_cast<std::uint8_t>(0xD0 + (i / restart_interval - 1) % 8),
                     random.below(3));
      before = 0;
    }
    scan->blocks.push_back(random_block(random));
    put_block(out, scan->dc_code, scan->ac_code, scan->blocks.back(), before);
    before = scan->blocks.back()[0];
  }
  out.put_marker(0xD9, random.below(3));
  scan->bytes = out.bytes;
  return scan;
}

// Whether all MCUs are decoded; their coefficients, as far as it goes.
bool decode(const Scan& scan, std::span<const std::uint8_t> bytes,
            std::vector<Coefficients>& blocks) {
  // A copy of its own, so that a read behind the end is one outside of the memory.
  const std::vector<std::uint8_t> own(bytes.begin(), bytes.end());
  HuffmanScan state{};
  state.next = own.data();
  state.end = own.data() + own.size();
  state.mcus = scan.blocks.size();
  state.restart_interval = state.mcus_to_restart = scan.restart_interval;
  state.block_count = 1;
  state.blocks[0] = {&scan.dc, &scan.ac, 0};
  for (std::size_t i = 0; i < scan.blocks.size(); ++i) {
    CoefficientBlock block{};
    CoefficientBlock* pointer = &block;
    if (!decode_mcu(state, &pointer)) return false;
    Coefficients& out = blocks.emplace_back();
    std::copy(std::begin(block), std::end(block), out.begin());
  }
  EXPECT_GE(state.end - state.next, 2);
  EXPECT_EQ(state.next[0], 0xFF);
  return true;
}

TEST(HuffmanTable, every_stream_begins_with_the_code_that_it_begins_with) {
  Random random(3);
  auto table = std::make_unique<HuffmanTable>();
  for (unsigned bias : {1U, 2U, 5U, 20U, 200U}) {
    const Code code = random_code(random, HuffmanKind::ac, bias);
    ASSERT_TRUE(fill(code, HuffmanKind::ac, *table)) << bias;
    std::vector<HuffmanCode> expected(1U << 16, HuffmanCode{0, 0});
    for (const std::uint8_t symbol : code.symbols) {
      const auto [bits, length] = code.of(symbol);
      const auto first = expected.begin() + (bits << (16 - length));
      std::fill_n(first, 1U << (16 - length),
                  HuffmanCode{static_cast<std::uint8_t>(length), symbol});
    }
    for (unsigned head = 0; head < (1U << 16); ++head) {
      const HuffmanCode found = table->find_code(head);
      ASSERT_EQ(found.bits, expected[head].bits) << head;
      ASSERT_EQ(found.symbol, expected[head].symbol) << head;
      const HuffmanStep& step = table->steps[head >> (16 - huffman_index_bits)];
      const bool is_short = found.bits != 0 && found.bits <= huffman_index_bits;
      ASSERT_EQ(step.code_bits, is_short ? found.bits : 0) << head;
      ASSERT_EQ(step.size, is_short ? found.symbol & 15 : 0) << head;
      const std::size_t place = head - table->limits[huffman_index_bits];
      if (is_short || place >= table->long_codes.size()) continue;
      ASSERT_EQ(table->long_codes[place].bits, found.bits) << head;
      ASSERT_EQ(table->long_codes[place].symbol, found.symbol) << head;
    }
  }
}

TEST(HuffmanTable, what_is_no_code_is_refused) {
  const auto table = std::make_unique<HuffmanTable>();
  const Symbols all(256, 3);
  const auto is_code = [&](const Counts& counts, std::span<const std::uint8_t> symbols) {
    return fill_table(counts, symbols, HuffmanKind::dc, *table);
  };
  EXPECT_TRUE(is_code({}, {})) << "no code at all";
  EXPECT_TRUE(is_code({1, 1, 1}, all));
  EXPECT_TRUE(is_code({0, 0, 7}, all));
  EXPECT_FALSE(is_code({2}, all)) << "one is all ones";
  EXPECT_FALSE(is_code({0, 0, 8}, all)) << "one is all ones";
  EXPECT_FALSE(is_code({1, 3}, all)) << "more than there are";
  EXPECT_FALSE(is_code({0, 0, 0, 0, 0, 0, 0, 0, 0, 200, 200}, all)) << "more than 256";
  EXPECT_FALSE(is_code({1, 1, 1}, std::span(all).first(2))) << "fewer symbols";
  EXPECT_TRUE(is_code({1, 1}, Symbols{15, 0}));
  EXPECT_FALSE(is_code({1, 1}, Symbols{0, 16})) << "a difference of 16 bits";
  EXPECT_TRUE(fill_table(Counts{1, 1}, Symbols{0, 16}, HuffmanKind::ac, *table));
}

TEST(HuffmanScan, gives_the_coefficients_that_were_written) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    const auto scan = random_scan(random, round % 2 == 0 ? 0 : 1 + random.below(7));
    std::vector<Coefficients> blocks;
    ASSERT_TRUE(decode(*scan, scan->bytes, blocks)) << round;
    ASSERT_EQ(blocks, scan->blocks) << round;
  }
}

TEST(HuffmanScan, every_cut_is_refused) {
  Random random(12);
  for (int round = 0; round < 20; ++round) {
    const auto scan = random_scan(random, round % 2 == 0 ? 0 : 1 + random.below(7));
    for (std::size_t length = 0; length < scan->bytes.size(); ++length) {
      std::vector<Coefficients> blocks;
      ASSERT_FALSE(decode(*scan, std::span(scan->bytes).first(length), blocks)) << length;
      // What came before the cut is right.
      ASSERT_TRUE(std::equal(blocks.begin(), blocks.end(), scan->blocks.begin()));
    }
  }
}

TEST(HuffmanScan, only_zeros_may_stand_behind_the_last_block) {
  Random random(13);
  for (int round = 0; round < 50; ++round) {
    const auto scan = random_scan(random, 0);
    const auto with = [&](std::vector<std::uint8_t> more) {
      std::vector<std::uint8_t> bytes = scan->bytes;
      // Before the marker and its fill bytes; a data byte 0xFF has its 0 behind it.
      auto at = bytes.end() - 1;
      while (at[-1] == 0xFF)
        --at;
      bytes.insert(at, more.begin(), more.end());
      std::vector<Coefficients> blocks;
      return decode(*scan, bytes, blocks);
    };
    EXPECT_TRUE(with({0}));
    EXPECT_TRUE(with(std::vector<std::uint8_t>(7 + round)));
    EXPECT_FALSE(with({1}));
    EXPECT_FALSE(with({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0}));
    EXPECT_FALSE(with({0, 0xFF, 0, 0}));
    std::vector<std::uint8_t> late(20 + round);
    late[late.size() - 2] = 0xFF;
    EXPECT_FALSE(with(late)) << "a data byte 0xFF that no refill has read";
  }
}

TEST(HuffmanScan, restarts_must_be_where_and_what_they_must_be) {
  Random random(14);
  const auto scan = random_scan(random, 4);
  std::vector<std::size_t> markers;
  for (std::size_t i = 0; i + 1 < scan->bytes.size(); ++i)
    if (scan->bytes[i] == 0xFF && scan->bytes[i + 1] / 8 == 0xD0 / 8) markers.push_back(i);
  ASSERT_EQ(markers.size(), 9U);
  for (const std::size_t at : markers) {
    const auto place = static_cast<std::ptrdiff_t>(at);
    auto wrong = scan->bytes, gone = scan->bytes, twice = scan->bytes, late = scan->bytes;
    wrong[at + 1] = static_cast<std::uint8_t>(0xD0 + (wrong[at + 1] + 1) % 8);
    gone.erase(gone.begin() + place, gone.begin() + place + 2);
    twice.insert(twice.begin() + place, {0xFF, twice[at + 1]});
    late.insert(late.begin() + place, std::uint8_t{0});
    for (const auto& bytes : {wrong, gone, twice, late}) {
      std::vector<Coefficients> blocks;
      EXPECT_FALSE(decode(*scan, bytes, blocks)) << at;
    }
  }
}

// A scan of its own codes, where a DC difference may have 15 bits.
void set_wide_codes(Scan& scan) {
  Random random(15);
  scan.dc_code = random_code(random, HuffmanKind::dc, 1);
  scan.dc_code.symbols[0] = 15;
  scan.dc_code.symbols[1] = 0;
  scan.ac_code = random_code(random, HuffmanKind::ac, 4);
  ASSERT_TRUE(fill(scan.dc_code, HuffmanKind::dc, scan.dc));
  ASSERT_TRUE(fill(scan.ac_code, HuffmanKind::ac, scan.ac));
}

TEST(HuffmanScan, a_block_longer_than_64_is_refused) {
  Scan scan;
  set_wide_codes(scan);
  for (unsigned last_run = 0; last_run < 16; ++last_run) {
    Writer out;
    out.put_value(scan.dc_code, 0, 0);
    for (int i = 0; i < 3; ++i)
      out.put_value(scan.ac_code, 15, 1);
    out.put_value(scan.ac_code, last_run, 1);  // 49 and the run
    if (last_run < 14) out.put_value(scan.ac_code, 0, 0);
    out.put_marker(0xD9);
    scan.blocks.resize(1);
    std::vector<Coefficients> blocks;
    EXPECT_EQ(decode(scan, out.bytes, blocks), last_run < 15) << last_run;
  }
}

TEST(HuffmanScan, a_DC_value_above_16_bits_is_refused) {
  Scan scan;
  set_wide_codes(scan);
  const std::pair<std::vector<int>, bool> sums[] = {
      {{32767}, true},         {{-32767}, true},          {{20000, -20000}, true},
      {{20000, 20000}, false}, {{-20000, -20000}, false}, {{32767, -32767, 32767}, true},
      {{32767, 16384}, false}, {{-32767, -16384}, false}};
  for (const auto& [parts, fits] : sums) {
    Writer out;
    for (const int part : parts) {
      const auto [bits, length] = scan.dc_code.of(15);
      out.put(bits, length);
      out.put(unsigned(part < 0 ? part - 1 : part), 15);
      out.put_value(scan.ac_code, 0, 0);
    }
    out.put_marker(0xD9);
    scan.blocks.resize(parts.size());
    std::vector<Coefficients> blocks;
    EXPECT_EQ(decode(scan, out.bytes, blocks), fits) << parts[0];
  }
}

}  // namespace
}  // namespace halyard::codec
