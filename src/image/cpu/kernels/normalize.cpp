// SPDX-License-Identifier: Apache-2.0
// Bytes to floats, doubles and signed bytes, in Highway. Bytes are exact in every type. ToFloats: a
// product with `high` (at most 16 bits) has at most 24 bits and is exact, the one with `low` and
// the sum are rounded once each. ToSigned bytes: differences lie in [-255, 255], 16 bits hold them.
#include "image/cpu/kernels/normalize.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/normalize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class V>
HWY_INLINE V quotient(V v, const ByteQuotient<T>& q) {
  const hn::DFromV<V> d;
  const V sum = hn::Add(hn::Mul(v, hn::Set(d, q.high)), hn::Mul(v, hn::Set(d, q.low)));
  return hn::Sub(sum, hn::Set(d, q.offset));
}

template <class T>
HWY_INLINE void rest(const std::uint8_t* in, std::size_t begin, std::size_t count,
                     const ByteQuotient<T>& q, std::byte* out) {
  for (std::size_t i = begin; i < count; ++i) {
    const T v = static_cast<T>(in[i]);
    const T value = (v * q.high + v * q.low) - q.offset;
    std::memcpy(out + i * sizeof value, &value, sizeof value);
  }
}

void ToFloats(const std::uint8_t* in, std::size_t count, const ByteQuotient<float>& q,
              std::byte* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, in + i)));
    hn::StoreU(quotient(v, q), d, reinterpret_cast<float*>(out + i * sizeof(float)));
  }
  rest(in, i, count, q, out);
}

void ToDoubles(const std::uint8_t* in, std::size_t count, const ByteQuotient<double>& q,
               std::byte* out) {
  std::size_t i = 0;
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::PromoteTo(d, hn::PromoteTo(d32, hn::LoadU(d8, in + i)));
    hn::StoreU(quotient(v, q), d, reinterpret_cast<double*>(out + i * sizeof(double)));
  }
#endif
  rest(in, i, count, q, out);
}

void ToSigned(const std::uint8_t* in, std::size_t count, int zero_point, std::byte* out) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const hn::Rebind<std::int8_t, decltype(d)> signed8;
  const auto zero = hn::Set(d, static_cast<std::int16_t>(zero_point));
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, in + i)), zero);
    hn::StoreU(hn::DemoteTo(signed8, v), signed8, reinterpret_cast<std::int8_t*>(out + i));
  }
  for (; i < count; ++i)
    out[i] = static_cast<std::byte>(std::clamp(in[i] - zero_point, -128, 127));
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {
namespace {
HWY_EXPORT(ToFloats);
HWY_EXPORT(ToDoubles);
HWY_EXPORT(ToSigned);
}  // namespace

void bytes_to_floats(const std::uint8_t* in, std::size_t count, const ByteQuotient<float>& q,
                     std::byte* out) noexcept {
  HWY_DYNAMIC_DISPATCH(ToFloats)(in, count, q, out);
}

void bytes_to_doubles(const std::uint8_t* in, std::size_t count, const ByteQuotient<double>& q,
                      std::byte* out) noexcept {
  HWY_DYNAMIC_DISPATCH(ToDoubles)(in, count, q, out);
}

void bytes_to_signed(const std::uint8_t* in, std::size_t count, int zero_point,
                     std::byte* out) noexcept {
  HWY_DYNAMIC_DISPATCH(ToSigned)(in, count, zero_point, out);
}

}  // namespace halyard::image
#endif  // HWY_ONCE
