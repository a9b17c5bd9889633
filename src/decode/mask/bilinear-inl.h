// SPDX-License-Identifier: Apache-2.0
// The horizontal pass of the bilinear sampler. Include once per target, outside of any namespace.
#if defined(HALYARD_DECODE_BILINEAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HALYARD_DECODE_BILINEAR_INL_H_
#undef HALYARD_DECODE_BILINEAR_INL_H_
#else
#define HALYARD_DECODE_BILINEAR_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "decode/mask/mask_geometry.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {

using Floats = hwy::HWY_NAMESPACE::CappedTag<float, 16>;

// Resamples one source row to the target's columns: low weight x left sample + high weight x right
// sample. `row` points to source pixel `left`. May write one vector past the last column.
HWY_INLINE void resample_row(const float* row, std::int32_t left, const AxisSamples& x,
                             PixelRange columns, float* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(columns.length());
  const std::int32_t* low = x.low.data() + columns.begin;
  const float* low_weight = x.low_weight.data() + columns.begin;
  const float* high_weight = x.high_weight.data() + columns.begin;
  for (std::size_t i = 0; i < count; i += lanes) {
    const float* from = row + (low[i] - left);
    if (HWY_LIKELY(low[i + lanes - 1] - low[i] + 1 < static_cast<std::int32_t>(lanes))) {
      const auto near = hn::LoadU(d, from);
      const auto index = hn::Sub(hn::LoadU(di, low + i), hn::Set(di, low[i]));
      const auto next = hn::Add(index, hn::Set(di, 1));
      const auto a = hn::TableLookupLanes(near, hn::IndicesFromVec(d, index));
      const auto b = hn::TableLookupLanes(near, hn::IndicesFromVec(d, next));
      hn::StoreU(hn::Add(hn::Mul(hn::LoadU(d, low_weight + i), a),
                         hn::Mul(hn::LoadU(d, high_weight + i), b)),
                 d, out + i);
      continue;
    }
    for (std::size_t j = i; j < std::min(i + lanes, count); ++j) {
      const float* at = row + (low[j] - left);
      out[j] = low_weight[j] * at[0] + high_weight[j] * at[1];
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#endif
