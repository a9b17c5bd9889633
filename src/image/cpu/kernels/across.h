// SPDX-License-Identifier: Apache-2.0
// Kernels that resample a row of one channel by a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halyard::image {

/// Groups of outputs whose samples lie in one window of two vectors of 512 bits. Tables hold
/// `lanes` entries per group: one per output of one pair of taps, else one per tap of 16 outputs.
struct PermuteTable {
  static constexpr std::size_t lanes = 32;
  static constexpr std::int32_t window = 64;  ///< 16-bit samples, or units of two bytes

  std::size_t group = 0;                    ///< outputs of one, 32 or 16; 0: there is no table
  std::size_t pairs = 0;                    ///< of taps
  bool has_second = false;                  ///< one pair: whether any output has two taps
  std::vector<std::int32_t> base;           ///< per group: first sample of its window
  std::vector<std::uint16_t> index;         ///< into the window
  std::vector<std::uint16_t> second_index;  ///< one pair: of the second tap
  std::vector<std::uint16_t> shift;         ///< bytes: 8 where the sample is the high byte
  std::vector<std::uint16_t> second_shift;
  std::vector<std::int16_t> weights;  ///< one pair: twice the second tap's; else pair by pair
};

/// Which samples make each output, with weights of `weight_bits` fractional bits that sum to one.
/// - narrow, wide: `pairs` times two taps, first, first + 1, ...; four outputs are a block, whose
///   pairs begin within 8 (16) samples and are shuffled from one (two) loads of 16 bytes.
/// - apart: the same, fetched output by output.
/// - many: `taps` weights per output in a row, a multiple of most_lanes, the last ones 0; `fine`
///   adds parts of 2^-6 of a weight's unit.
/// Vectors end with whole vectors of outputs, whose weights are 0.
struct AcrossTable {
  enum class Mode : std::uint8_t { identity, narrow, wide, apart, many };
  static constexpr int weight_bits = 14;
  static constexpr std::int32_t most_lanes = 32;  ///< 16-bit ones of the widest vector

  Mode mode = Mode::identity;
  std::int32_t outputs = 0;
  std::int32_t pairs = 1;
  std::int32_t taps = 0;              ///< of `many`
  std::vector<std::int32_t> base;     ///< per block: its lowest sample
  std::vector<std::uint8_t> control;  ///< per block 16; wide: low halves, then high halves
  std::vector<std::int32_t> first;    ///< per output: its first sample
  std::vector<std::int16_t> weights;  ///< per pair and output: both weights; many: per output
  std::vector<std::int16_t> fine;
  /// The same for a source row of bytes, where one pair is enough and every block's samples lie
  /// within 16 bytes of the row; else empty.
  std::vector<std::int32_t> byte_base;
  std::vector<std::uint8_t> byte_control;
  /// Both once more, for processors that permute.
  PermuteTable permute;
  PermuteTable byte_permute;
};

/// Whether the processor takes permute tables.
bool takes_permutes();

/// `in` and `out` have spare samples. Not for identity.
void resample_row(const std::int16_t* in, const AcrossTable& table, std::int16_t* out);
/// From the bytes of one source row. Tables with byte_base only.
void resample_bytes(const std::uint8_t* in, const AcrossTable& table, int fraction,
                    std::int16_t* out);

}  // namespace halyard::image
