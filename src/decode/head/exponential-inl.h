// SPDX-License-Identifier: Apache-2.0
// e^x with the same bits on every target. Include once per target, outside of any namespace.
#if defined(HALYARD_DECODE_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HALYARD_DECODE_EXPONENTIAL_INL_H_
#undef HALYARD_DECODE_EXPONENTIAL_INL_H_
#else
#define HALYARD_DECODE_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {

// For x in [-87, 0]; relative error below 2e-7.
template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  const auto k = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
  // ln 2 in two parts; the product with the first is exact.
  auto r = hn::Sub(x, hn::Mul(k, hn::Set(d, 0.693359375F)));
  r = hn::Add(r, hn::Mul(k, hn::Set(d, 2.12194440e-4F)));
  auto sum = hn::Set(d, 1 / 720.0F);
  for (const float c : {1 / 120.0F, 1 / 24.0F, 1 / 6.0F, 0.5F, 1.0F, 1.0F})
    sum = hn::Add(hn::Mul(sum, r), hn::Set(d, c));
  const auto power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, k), hn::Set(di, 127)));
  return hn::Mul(sum, hn::BitCast(d, power));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#endif
