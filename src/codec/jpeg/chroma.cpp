// SPDX-License-Identifier: Apache-2.0
// Interleaves chroma planes, and resamples them with a box filter.
#include "codec/jpeg/chroma.h"

#include <algorithm>

namespace halyard::codec {
namespace {

// The chroma samples that a block of two luma samples covers along one axis. In units of 1 / max of
// a luma sample, chroma sample k covers [k * max, (k + 1) * max) and luma sample x covers
// [x * factor, (x + 1) * factor).
struct ColumnRange {
  std::size_t begin, end;   // units
  std::size_t first, last;  // samples, both included
  ColumnRange(std::size_t block, unsigned factor, unsigned max, std::size_t luma)
      : begin(2 * block * factor),
        end(std::min((2 * block + 2) * factor, luma * factor)),
        first(begin / max),
        last((end - 1) / max) {}
  std::size_t weight(std::size_t sample, unsigned max) const {
    return std::min(end, (sample + 1) * max) - std::max(begin, sample * max);
  }
};

}  // namespace

void interleave(const std::uint8_t* __restrict cb, const std::uint8_t* __restrict cr,
                std::uint8_t* __restrict cbcr, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    cbcr[2 * i] = cb[i];
    cbcr[2 * i + 1] = cr[i];
  }
}

void deinterleave(const std::uint8_t* __restrict cbcr, std::uint8_t* __restrict cb,
                  std::uint8_t* __restrict cr, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    cb[i] = cbcr[2 * i];
    cr[i] = cbcr[2 * i + 1];
  }
}

void box_resample(const ChromaPlane& plane, unsigned h_max, unsigned v_max, std::size_t width,
                  std::size_t height, std::uint8_t* out, std::size_t out_stride_bytes) {
  for (std::size_t j = 0; j < (height + 1) / 2; ++j) {
    const ColumnRange rows(j, plane.v_factor, v_max, height);
    for (std::size_t i = 0; i < (width + 1) / 2; ++i) {
      const ColumnRange columns(i, plane.h_factor, h_max, width);
      std::size_t sum = 0;
      for (std::size_t y = rows.first; y <= rows.last; ++y) {
        const std::uint8_t* row = plane.data + y * plane.stride_bytes;
        std::size_t row_sum = 0;
        for (std::size_t x = columns.first; x <= columns.last; ++x) {
          row_sum += row[x] * columns.weight(x, h_max);
        }
        sum += row_sum * rows.weight(y, v_max);
      }
      const std::size_t area = (rows.end - rows.begin) * (columns.end - columns.begin);
      out[j * out_stride_bytes + 2 * i] = static_cast<std::uint8_t>((sum + area / 2) / area);
    }
  }
}

}  // namespace halyard::codec
