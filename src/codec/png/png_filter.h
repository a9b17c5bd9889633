// SPDX-License-Identifier: Apache-2.0
// Kernels: PNG's row filters (PNG specification, section 9), undone and applied.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::codec {

enum class PngFilter : std::uint8_t { none, sub, up, average, paeth };
constexpr std::size_t png_filter_count = 5;

/// Bytes behind each row that the kernels may read and, in `out`, write.
constexpr std::size_t png_row_slack = 64;

/// Undoes the filter of one row. `pixel_bytes` is 1, 2, 3, 4, 6 or 8. `in`, `above` (the finished
/// row above, zeros for the first one) and `out` are `row_bytes` long with png_row_slack bytes
/// behind them; they do not overlap.
void unfilter_row(PngFilter filter, std::size_t pixel_bytes, std::size_t row_bytes,
                  const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out) noexcept;

/// Two rows of the Paeth filter at once, `out[0]` below `above` and `out[1]` below it, in little
/// more than the time of one. `pixel_bytes` is at most png_pair_pixel_bytes; the rest is as above.
void unfilter_paeth_pair(std::size_t pixel_bytes, std::size_t row_bytes,
                         const std::uint8_t* const (&in)[2], const std::uint8_t* above,
                         std::uint8_t* const (&out)[2]) noexcept;
constexpr std::size_t png_pair_pixel_bytes = 4;

/// Applies to one row the filter whose bytes have the least sum as signed numbers, the first of
/// those with equal sums: out[0] becomes the filter, `row_bytes` bytes follow. `row` and `above`
/// are as above, and have png_row_lead bytes of zeros before them.
void filter_row(std::size_t pixel_bytes, std::size_t row_bytes, const std::uint8_t* row,
                const std::uint8_t* above, std::uint8_t* out) noexcept;
constexpr std::size_t png_row_lead = 8;

}  // namespace halyard::codec
