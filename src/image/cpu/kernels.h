// SPDX-License-Identifier: Apache-2.0
// Row kernels of the fused way: down, across, colour, store, and the quarter turn. Compiled for
// every instruction set of the architecture and chosen at run time; all of them give the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace halyard::image {

/// Samples between the steps are 8.7 fixed point (0 .. 32640) in rows that end with this many spare
/// samples, so that kernels may load and store whole vectors.
inline constexpr std::size_t spare_samples = 64;

/// Source rows, blended: the sum of rows[t] * weights[t] / 2^15, weights positive with sum 2^15.
/// One row: taken as it is. Groups of `step` interleaved bytes go to separate rows; a null `out`
/// leaves its byte alone. Reads no byte behind the counted samples.
struct BlendJob {
  std::int32_t taps = 1;
  const std::uint8_t* const* rows = nullptr;
  const std::int16_t* weights = nullptr;
  std::int32_t step = 1;  ///< 1..4
  std::array<std::int16_t*, 4> out{};
  std::array<std::int32_t, 4> samples{};  ///< of each out
};

/// `pairs` times two taps per output along a row: samples first, first + 1, ... and weights that
/// sum to 2^14. Outputs come in blocks of four; a block whose pairs begin within 8 (16) samples is
/// served by one (two) 16-byte loads and byte shuffles, wider ones one by one.
struct AcrossTable {
  enum class Mode : std::uint8_t { identity, narrow, wide, single };
  Mode mode = Mode::identity;
  std::int32_t outputs = 0;
  std::int32_t pairs = 1;
  std::vector<std::int32_t> base;     ///< per block: its lowest sample
  std::vector<std::uint8_t> control;  ///< per block 16; wide: low halves, then high halves
  std::vector<std::int32_t> first;    ///< per output: its first sample
  std::vector<std::int16_t> weights;  ///< per pair and output: both weights
  /// The same for a source row of bytes, where every block's samples lie within 16 bytes of the
  /// row; else empty.
  std::vector<std::int32_t> byte_base;
  std::vector<std::uint8_t> byte_control;
};

/// What the samples are and what is to be made of them.
enum class ColorMode : std::uint8_t {
  direct,  ///< channels as they are (grey: the one channel for all)
  yuv_to_rgb,
  yuv_to_grey,
  rgb_to_grey,
};

/// 15 fractional bits on a quarter of each coefficient: 8.7 in, 8.5 out.
struct FixedMatrix {
  std::int16_t y_offset = 0;  ///< 8.7
  std::int16_t y_scale = 0;
  std::int16_t rv = 0;
  std::int16_t gu = 0;
  std::int16_t gv = 0;
  std::int16_t bu = 0;
};

/// Where samples come from: rows of the steps before, or a source row as it is (same size, chroma
/// columns shared by two pixels, the last pair whole even where the width is odd).
enum class Feed : std::uint8_t {
  rows,
  luma_and_pairs,  ///< luma bytes; interleaved chroma bytes, one pair per two pixels
  luma_low,        ///< 16-bit units, luma in the low byte, chroma alternating in the high one
  luma_high,
};

/// One row of samples to one row of 8-bit codes per channel: R G B A, or grey in the first.
struct ColorJob {
  Feed feed = Feed::rows;
  std::array<const std::int16_t*, 4> rows{};  ///< null alpha: its codes are left alone
  const std::uint8_t* bytes = nullptr;        ///< luma row or packed row
  const std::uint8_t* pairs = nullptr;
  bool v_first = false;  ///< Cr before Cb in the pairs
  ColorMode color = ColorMode::direct;
  FixedMatrix matrix;
  std::int32_t width = 0;
  std::array<std::uint8_t*, 4> codes{};  ///< with spare samples
};

/// One row of codes to one destination row.
struct StoreJob {
  std::int32_t width = 0;
  std::int32_t channels = 3;  ///< 1, 3 or 4 stored
  bool planar = false;        ///< out[c] per channel; else out[0], interleaved
  bool blue_first = false;    ///< interleaved only
  bool as_float = false;
  std::uint8_t flip = 0;                       ///< xor of the colour channels' bytes: 0 or 0x80
  std::array<const std::uint8_t*, 4> codes{};  ///< with spare samples
  std::array<std::byte*, 4> out{};
  std::array<float, 4> scale_high{}, scale_low{}, bias{};  ///< ValueMap's affine
};

/// Side of the square that transpose_codes turns.
inline constexpr std::int32_t turn_side = 16;

void blend_rows(const BlendJob& job);
void resample_row(const std::int16_t* in, const AcrossTable& table, std::int16_t* out);
/// From the bytes of one source row that no other is blended with. Tables with byte_base only.
void resample_bytes(const std::uint8_t* in, const AcrossTable& table, std::int16_t* out);
void color_row(const ColorJob& job);
void store_row(const StoreJob& job);
/// out[x * out_stride + y] = in[y * in_stride + x] for x and y below turn_side.
void transpose_codes(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
                     std::size_t out_stride);

namespace scalar {  // the same, one sample at a time
void blend_rows(const BlendJob& job);
void resample_row(const std::int16_t* in, const AcrossTable& table, std::int16_t* out);
void resample_bytes(const std::uint8_t* in, const AcrossTable& table, std::int16_t* out);
void color_row(const ColorJob& job);
void store_row(const StoreJob& job);
void transpose_codes(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
                     std::size_t out_stride);
}  // namespace scalar

}  // namespace halyard::image
