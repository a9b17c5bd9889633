// SPDX-License-Identifier: Apache-2.0
// Conversions between separate and interleaved chroma planes. Plain loops that compilers vectorize.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::codec {

/// cbcr[2i] = cb[i], cbcr[2i + 1] = cr[i] for i < count. No overlap.
void interleave(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* cbcr,
                std::size_t count) noexcept;
/// The inverse.
void deinterleave(const std::uint8_t* cbcr, std::uint8_t* cb, std::uint8_t* cr,
                  std::size_t count) noexcept;

/// One chroma plane whose sample grid is h_factor / h_max by v_factor / v_max of the luma grid.
struct ChromaPlane {
  const std::uint8_t* data;
  std::size_t stride_bytes;
  unsigned h_factor, v_factor;
};

/// Averages `plane` over the 2 x 2 luma block of every chroma sample of a width x height NV12
/// image. Each sample is weighted by its share of the block. Writes every second byte of the rows
/// at `out`. Blocks that reach beyond the image are cut at its edge.
void box_resample(const ChromaPlane& plane, unsigned h_max, unsigned v_max, std::size_t width,
                  std::size_t height, std::uint8_t* out, std::size_t out_stride_bytes);

}  // namespace halyard::codec
