// SPDX-License-Identifier: Apache-2.0
// Converts rows between packed pixels and planes. Bytes move and may be xor-ed: there is no other
// arithmetic.
#include "image/cpu/kernels/repack.h"

#include <utility>

// Enables the portable target. GCC before 12.3 gets its high halves of products wrong; this file
// has none.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/repack.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Group = RepackJob::Group;

// Converts one pixel; used for the rest of rows shorter than a vector.
void RepackPixel(const RepackJob& job, std::size_t x) {
  std::uint8_t pixel[4] = {0, 0, 0, 255};
  const std::size_t step = job.from == Group::packed4 ? 4 : 3;
  for (std::size_t c = 0; c < 4; ++c) {
    if (job.from == Group::grey) {
      if (c < 3) pixel[c] = job.in[0][x];
    } else if (job.from == Group::planes) {
      if (job.in[c] != nullptr) pixel[c] = job.in[c][x];
    } else if (c < step) {
      pixel[c] = job.in[0][x * step + c];
    }
  }
  if (job.swaps_ends) std::swap(pixel[0], pixel[2]);
  for (std::size_t c = 0; c < 3; ++c)
    pixel[c] = static_cast<std::uint8_t>(pixel[c] ^ job.flip);
  for (std::size_t c = 0; c < 4; ++c) {
    if (job.to == Group::planes) {
      if (job.out[c] != nullptr) job.out[c][x] = pixel[c];
    } else if (c < (job.to == Group::packed4 ? 4U : 3U)) {
      job.out[0][x * (job.to == Group::packed4 ? 4 : 3) + c] = pixel[c];
    }
  }
}

// Converts pixels [x, x + lanes).
template <Group from, Group to, class D>
HWY_INLINE void repack_at(D d, const RepackJob& job, std::size_t x) {
  hn::Vec<D> r, g, b;
  hn::Vec<D> a = hn::Set(d, 255);
  if constexpr (from == Group::grey) {
    r = g = b = hn::LoadU(d, job.in[0] + x);
  } else if constexpr (from == Group::packed3) {
    hn::LoadInterleaved3(d, job.in[0] + 3 * x, r, g, b);
  } else if constexpr (from == Group::packed4) {
    hn::LoadInterleaved4(d, job.in[0] + 4 * x, r, g, b, a);
  } else {
    r = hn::LoadU(d, job.in[0] + x);
    g = hn::LoadU(d, job.in[1] + x);
    b = hn::LoadU(d, job.in[2] + x);
    if (job.in[3] != nullptr) a = hn::LoadU(d, job.in[3] + x);
  }
  if (job.swaps_ends) std::swap(r, b);
  const auto flip = hn::Set(d, job.flip);
  r = hn::Xor(r, flip);
  g = hn::Xor(g, flip);
  b = hn::Xor(b, flip);
  if constexpr (to == Group::packed3) {
    hn::StoreInterleaved3(r, g, b, d, job.out[0] + 3 * x);
  } else if constexpr (to == Group::packed4) {
    hn::StoreInterleaved4(r, g, b, a, d, job.out[0] + 4 * x);
  } else {
    hn::StoreU(r, d, job.out[0] + x);
    hn::StoreU(g, d, job.out[1] + x);
    hn::StoreU(b, d, job.out[2] + x);
    if (job.out[3] != nullptr) hn::StoreU(a, d, job.out[3] + x);
  }
}

// The last vector overlaps pixels that are converted already.
template <Group from, Group to>
HWY_INLINE void repack_row(const RepackJob& job) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::CappedTag<std::uint8_t, 8> few;
  const std::size_t width = job.width;
  const std::size_t step = hn::Lanes(d);
  std::size_t x = 0;
  for (; x + step <= width; x += step)
    repack_at<from, to>(d, job, x);
  if (x == width) return;
  if (width >= step) return repack_at<from, to>(d, job, width - step);
  const std::size_t step_few = hn::Lanes(few);
  for (; x + step_few <= width; x += step_few)
    repack_at<from, to>(few, job, x);
  if (x == width) return;
  if (width >= step_few) return repack_at<from, to>(few, job, width - step_few);
  for (; x < width; ++x)
    RepackPixel(job, x);
}

template <Group from, Group to>
void repack(RepackJob job) {
  for (std::size_t y = 0; y < job.rows; ++y) {
    repack_row<from, to>(job);
    for (const std::uint8_t*& in : job.in)
      in = in == nullptr ? in : in + job.in_stride;
    for (std::uint8_t*& out : job.out)
      out = out == nullptr ? out : out + job.out_stride;
  }
}

template <Group from>
void repack_from(const RepackJob& job) {
  switch (job.to) {
    case Group::planes:
      return repack<from, Group::planes>(job);
    case Group::packed3:
      return repack<from, Group::packed3>(job);
    case Group::packed4:
    case Group::grey:
      return repack<from, Group::packed4>(job);
  }
}

void RepackRows(const RepackJob& job) {
  switch (job.from) {
    case Group::planes:
      return repack_from<Group::planes>(job);
    case Group::packed3:
      return repack_from<Group::packed3>(job);
    case Group::packed4:
      return repack_from<Group::packed4>(job);
    case Group::grey:
      return repack_from<Group::grey>(job);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(RepackRows);

void repack_rows(const RepackJob& job) {
  HWY_DYNAMIC_DISPATCH(RepackRows)(job);
}

}  // namespace halyard::image
#endif
