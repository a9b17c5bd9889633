// SPDX-License-Identifier: Apache-2.0
// Bilinear blends with the same roundings on every target. Samples and results are signed 16-bit
// with 7 fractional bits, weights have 15. A sample is at most 255 * 2^7 < 2^15 and not negative,
// so that a difference of two fits 16 bits, and a + (b - a) * w with w in [0, 1) stays between a
// and b.
#include "image/cpu/kernels/blend.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/blend.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using V16 = hn::Vec<D16>;

// One vector of bytes as fixed point with 7 fractional bits.
HWY_INLINE V16 sample(const std::uint8_t* from) {
  return hn::ShiftLeft<7>(hn::PromoteTo(D16(), hn::LoadU(hn::Rebind<std::uint8_t, D16>(), from)));
}

HWY_INLINE V16 between(V16 a, V16 b, V16 way) {
  return hn::Add(a, hn::MulFixedPoint15(hn::Sub(b, a), way));
}

void BlendCorners(const BlendJob& job, std::size_t count, std::int16_t* out) {
  const D16 d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const V16 right = hn::LoadU(d, job.fraction_x + i);
    const V16 upper = between(sample(job.corner[0] + i), sample(job.corner[1] + i), right);
    const V16 lower = between(sample(job.corner[2] + i), sample(job.corner[3] + i), right);
    hn::StoreU(between(upper, lower, hn::LoadU(d, job.fraction_y + i)), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(BlendCorners);

void blend_corners(const BlendJob& job, std::size_t count, std::int16_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(BlendCorners)(job, count, out);
}

}  // namespace halyard::image
#endif
