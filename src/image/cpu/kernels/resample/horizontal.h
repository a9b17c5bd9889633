// SPDX-License-Identifier: Apache-2.0
// Kernels that resample a row of one channel by a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halyard::image {

/// Groups of outputs whose samples lie in one window of two vectors of 512 bits. Taps of outputs
/// that are no whole group are 0.
struct PermuteTable {
  static constexpr std::size_t lanes = 32;
  static constexpr std::int32_t window = 64;  ///< 16-bit samples, or units of two bytes

  std::size_t group = 0;           ///< outputs of one, 32 or 16; 0: there is no table
  std::size_t pairs = 0;           ///< of taps
  bool has_second = false;         ///< one pair: whether any output has two taps
  std::vector<std::int32_t> base;  ///< per group: first sample of its window
  /// Into the window. One pair: per output the first tap's sample, and 16 spare ones. Else per tap
  /// of the first pair.
  std::vector<std::uint16_t> index;
  std::vector<std::int16_t> weights;  ///< one pair: twice the second tap's; else pair by pair
};

/// Which samples make each output, with weights of `weight_bits` fractional bits that sum to one.
/// - narrow, wide: `pairs` times two taps, up to 3 (2). Four outputs are a block, whose pairs begin
/// within 8
///   (16) samples of `base` and are shuffled by `control` from one (two) loads of 16 bytes.
/// - dots: `chunks` times eight taps from `base` on, output by output.
/// - many: `taps` weights from `base` on, a multiple of max_lanes, the last ones 0; `fine` adds
///   parts of 2^-6 of a weight's unit.
/// - permuted: there are permute tables alone.
/// Outputs come in groups of 32, the last one filled up with weights of 0. But for `many`, blocks
/// and outputs lie by horizontal_place(), so that sums of any width of vector pack to neighbours.
struct HorizontalTable {
  enum class Mode : std::uint8_t { identity, narrow, wide, dots, many, permuted };
  static constexpr int weight_bits = 14;
  static constexpr std::int32_t max_lanes = 32;  ///< 16-bit ones of the widest vector

  Mode mode = Mode::identity;
  std::int32_t outputs = 0;
  std::int32_t pairs = 0;
  std::int32_t chunks = 0;
  std::int32_t taps = 0;
  std::vector<std::int32_t> base;     ///< first sample, per block or output
  std::vector<std::uint8_t> control;  ///< per block 16; wide: low halves, then high halves
  std::vector<std::int16_t> weights;  ///< per pair, per output 2; per chunk, per output 8
  std::vector<std::int16_t> fine;
  /// The same for a source row of bytes, where one pair is enough and every block's samples lie
  /// within 16 bytes of the row; else empty. Where each output is one sample, `pick` shuffles the
  /// samples of a block into 16-bit lanes, low halves for even blocks, high ones for odd.
  std::vector<std::int32_t> byte_base;
  std::vector<std::uint8_t> byte_control;
  std::vector<std::uint8_t> pick;
  /// Both for processors that permute: in place of the others, where they serve all that is asked.
  PermuteTable permute;
  PermuteTable byte_permute;

  bool takes_bytes() const noexcept { return byte_permute.group != 0 || !byte_base.empty(); }
};

/// Outputs of one group, and where the i-th of them, or its i-th block of four, lies.
inline constexpr std::size_t horizontal_group = 32;
constexpr std::size_t horizontal_place(std::size_t i) noexcept {
  return i % 8 * 4 + i / 8;
}
constexpr std::size_t horizontal_block_place(std::size_t i) noexcept {
  return i % 2 * 4 + i / 2;
}

/// Whether the processor takes permute tables.
bool takes_permutes();

/// `in` and `out` have spare samples. Not for identity.
void resample_row(const std::int16_t* in, const HorizontalTable& table, std::int16_t* out);
/// From the bytes of one source row. Tables that take bytes only.
void resample_bytes(const std::uint8_t* in, const HorizontalTable& table, int fraction,
                    std::int16_t* out);

}  // namespace halyard::image
