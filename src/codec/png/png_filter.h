// SPDX-License-Identifier: Apache-2.0
// Kernels: undo and apply PNG's row filters (PNG specification, section 9).
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::codec {

enum class PngFilter : std::uint8_t { none, sub, up, average, paeth };
constexpr std::size_t png_filter_count = 5;

/// Bytes after each row that the kernels may read and, in `out`, write.
constexpr std::size_t png_row_slack = 64;

/// Undoes the filter of one row. `pixel_bytes` is 1, 2, 3, 4, 6 or 8. `above` is the finished row
/// above; zeros for the first row. `in`, `above` and `out` have `row_bytes` bytes and png_row_slack
/// bytes after them; they do not overlap.
void unfilter_row(PngFilter filter, std::size_t pixel_bytes, std::size_t row_bytes,
                  const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out) noexcept;

/// Undoes two rows of the Paeth filter at once: `out[0]` is the row below `above`, `out[1]` the row
/// below `out[0]`. It takes little more time than one row. `pixel_bytes` is at most
/// png_pair_pixel_bytes; the rest is as above.
void unfilter_paeth_pair(std::size_t pixel_bytes, std::size_t row_bytes,
                         const std::uint8_t* const (&in)[2], const std::uint8_t* above,
                         std::uint8_t* const (&out)[2]) noexcept;
constexpr std::size_t png_pair_pixel_bytes = 4;

/// Applies to one row the filter whose output bytes have the least sum of absolute values as signed
/// numbers; of equal sums, the first filter. out[0] is the filter, then `row_bytes` bytes follow.
/// `row` and `above` are as above, and have png_row_lead bytes of zeros before them.
void filter_row(std::size_t pixel_bytes, std::size_t row_bytes, const std::uint8_t* row,
                const std::uint8_t* above, std::uint8_t* out) noexcept;
constexpr std::size_t png_row_lead = 8;

}  // namespace halyard::codec
