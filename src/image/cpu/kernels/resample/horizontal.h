// SPDX-License-Identifier: Apache-2.0
// pairs of taps per output
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halyard::image {

/// For processors that permute: outputs in groups whose samples lie in one window of two 512-bit
/// vectors. Taps of the outputs that fill up the last group are 0.
struct PermuteTable {
  static constexpr std::size_t lanes = 32;
  static constexpr std::int32_t window = 64;  ///< 16-bit samples, or units of two bytes

  std::size_t group = 0;           ///< outputs of one group, 32 or 16; 0: there is no table
  std::size_t pairs = 0;           ///< pairs of taps per output
  bool has_second = false;         ///< with one pair: some output has two taps
  std::vector<std::int32_t> base;  ///< per group: first sample of the window
  /// Indices into the window. With one pair: per output the sample of its first tap, and 16 spare
  /// entries. Else per tap of the first pair.
  std::vector<std::uint16_t> index;
  std::vector<std::int16_t> weights;  ///< one pair: twice the second tap's; else all, pair by pair
};

/// The samples of each output, and their weights, which have `weight_bits` fractional bits and sum
/// to one.
/// - narrow, wide: `pairs` pairs of taps, up to 3 (2). Four outputs are a block: its pairs begin
/// within 8 (16) samples of `base` and are shuffled by `control` from one (two) loads of 16 bytes.
/// - dots: `chunks` times eight taps from `base` on, output by output.
/// - many: `taps` weights from `base` on, a multiple of max_lanes, the last ones 0; `fine` adds to
/// each weight a part in units of 2^-6 of its last bit.
/// - permuted: only the permute tables exist.
/// Outputs come in groups of 32; the last group is filled up with weights of 0. In all modes but
/// `many`, blocks and outputs are stored in the order of horizontal_place(), so that packing the
/// sums of any vector width gives neighbours.
struct HorizontalTable {
  enum class Mode : std::uint8_t { identity, narrow, wide, dots, many, permuted };
  static constexpr int weight_bits = 14;
  static constexpr std::int32_t max_lanes = 32;  ///< 16-bit lanes of the widest vector

  Mode mode = Mode::identity;
  std::int32_t outputs = 0;
  std::int32_t pairs = 0;
  std::int32_t chunks = 0;
  std::int32_t taps = 0;
  std::vector<std::int32_t> base;     ///< first sample, per block or output
  std::vector<std::uint8_t> control;  ///< 16 per block; wide: low halves, then high halves
  std::vector<std::int16_t> weights;  ///< per pair, per output 2; per chunk, per output 8
  std::vector<std::int16_t> fine;
  /// The same for a row of source bytes, where one pair is enough and the samples of every block
  /// lie within 16 bytes of the row; else empty. Where each output is one sample, `pick` shuffles
  /// the samples of a block into 16-bit lanes: low halves for even blocks, high halves for odd
  /// ones.
  std::vector<std::int32_t> byte_base;
  std::vector<std::uint8_t> byte_control;
  std::vector<std::uint8_t> pick;
  /// For processors that permute; they replace the other tables where they serve every row that the
  /// use asks for.
  PermuteTable permute;
  PermuteTable byte_permute;

  bool takes_bytes() const noexcept { return byte_permute.group != 0 || !byte_base.empty(); }
};

/// Outputs of one group, and the place of its i-th output, or of its i-th block of four.
inline constexpr std::size_t horizontal_group = 32;
constexpr std::size_t horizontal_place(std::size_t i) noexcept {
  return i % 8 * 4 + i / 8;
}
constexpr std::size_t horizontal_block_place(std::size_t i) noexcept {
  return i % 2 * 4 + i / 2;
}

/// Whether the processor can use permute tables.
bool takes_permutes();

/// Resamples a row of samples. `in` and `out` have spare samples. Not for Mode::identity.
void resample_row(const std::int16_t* in, const HorizontalTable& table, std::int16_t* out);
/// Resamples the bytes of one source row. Only for tables with takes_bytes().
void resample_bytes(const std::uint8_t* in, const HorizontalTable& table, int fraction,
                    std::int16_t* out);

}  // namespace halyard::image
