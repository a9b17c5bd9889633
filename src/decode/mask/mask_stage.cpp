// SPDX-License-Identifier: Apache-2.0
// Stages prototypes: with vectors if pixels or channels are adjacent, else with simple loops.
// Output: floats, or int16 pairs. u16 minus 32768 fits int16; integers of 16 bits are exact in
// floats.
#include "decode/mask/mask_stage.h"

// Use the portable vector target instead of the scalar one, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/mask/mask_stage.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "decode/head/stored_types.h"

#ifndef HALYARD_DECODE_MASK_STAGE_ONCE
#define HALYARD_DECODE_MASK_STAGE_ONCE
namespace halyard::decode {
namespace {

template <class T>
std::int16_t less_bias(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  constexpr std::int32_t bias = std::is_same_v<T, std::uint16_t> ? 32768 : 0;
  return static_cast<std::int16_t>(std::int32_t{value} - bias);
}

}  // namespace
}  // namespace halyard::decode
#endif

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class T>
HWY_INLINE hn::Vec<D> load_real(D d, const T* at) {
  if constexpr (std::is_same_v<T, float>) {
    return hn::LoadU(d, at);
  } else if constexpr (std::is_same_v<T, Half>) {
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(at)));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    const hn::Rebind<hwy::bfloat16_t, D> half;
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::bfloat16_t*>(at)));
  } else {
    const hn::RebindToSigned<D> di;
    return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(hn::Rebind<T, D>(), at)));
  }
}

// The largest bit pattern of a magnitude so far. Those of infinity and NaN exceed all others.
template <class D, class VU>
HWY_INLINE VU max_bits(D d, hn::Vec<D> value, VU maximum) {
  const hn::RebindToUnsigned<D> du;
  (void)d;
  return hn::Max(maximum, hn::BitCast(du, hn::Abs(value)));
}
template <class DU, class VU>
HWY_INLINE bool all_finite(DU du, VU maximum) {
  return hn::AllTrue(du, hn::Lt(maximum, hn::Set(du, 0x7F800000U)));
}

template <class T>
bool real_plane(const std::byte* data, std::size_t count, float zero_point, float scale,
                float* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr bool is_stored = std::is_integral_v<T>;
  const auto zero = hn::Set(d, zero_point);
  const auto factor = hn::Set(d, scale);
  const hn::RebindToUnsigned<decltype(d)> du;
  auto maximum = hn::Zero(du);
  bool is_finite = true;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto value = load_real(d, reinterpret_cast<const T*>(data + i * sizeof(T)));
    if (is_stored) value = hn::Mul(hn::Sub(value, zero), factor);
    maximum = max_bits(d, value, maximum);
    hn::StoreU(value, d, out + i);
  }
  for (; i < count; ++i) {
    const float value = load_stored<T>(data + i * sizeof(T));
    out[i] = is_stored ? (value - zero_point) * scale : value;
    is_finite = is_finite && std::isfinite(out[i]);
  }
  return is_finite && all_finite(du, maximum);
}

// Converts blocks of four pixels by four channels, for adjacent channels. Returns how many pixels
// and channels were converted.
struct Blocks {
  std::size_t pixels = 0;
  std::size_t channels = 0;
  bool is_finite = true;
};
template <class T>
Blocks real_blocks(const StoredRow& row, const ChannelScales& scales, float* out,
                   std::size_t stride) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  const std::size_t pixels = row.pixels / 4 * 4;
  const std::size_t channels = row.channels / 4 * 4;
  const hn::RebindToUnsigned<decltype(d)> du;
  auto maximum = hn::Zero(du);
  const auto interleave = [&](auto a, auto b, float* low, float* high) HWY_ATTR {
    const auto a64 = hn::BitCast(d64, a), b64 = hn::BitCast(d64, b);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, a64, b64)), d, low);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, a64, b64)), d, high);
  };
  for (std::size_t x = 0; x < pixels; x += 4) {
    const std::byte* at = row.data + static_cast<std::ptrdiff_t>(x) * row.pixel_stride_bytes;
    for (std::size_t k = 0; k < channels; k += 4, at += 4 * sizeof(T)) {
      const auto load = [&](std::ptrdiff_t pixel) HWY_ATTR {
        const auto value =
            load_real(d, reinterpret_cast<const T*>(at + pixel * row.pixel_stride_bytes));
        maximum = max_bits(d, value, maximum);
        if (!std::is_integral_v<T> || scales.scale == nullptr) return value;
        return hn::Mul(hn::Sub(value, hn::LoadU(d, scales.zero_point + k)),
                       hn::LoadU(d, scales.scale + k));
      };
      const auto a = load(0), b = load(1), c = load(2), e = load(3);
      float* to = out + k * stride + x;
      interleave(hn::InterleaveLower(d, a, b), hn::InterleaveLower(d, c, e), to, to + stride);
      to += 2 * stride;
      interleave(hn::InterleaveUpper(d, a, b), hn::InterleaveUpper(d, c, e), to, to + stride);
    }
  }
  return {pixels, channels, all_finite(du, maximum)};
}

template <class T>
bool real_rows(const StoredRow& row, const ChannelScales& scales, float* out, std::size_t stride) {
  Blocks done;
  if (row.channel_stride_bytes == sizeof(T) && row.pixel_stride_bytes != sizeof(T))
    done = real_blocks<T>(row, scales, out, stride);
  for (std::size_t k = 0; k < row.channels; ++k) {
    const std::byte* plane = row.data + static_cast<std::ptrdiff_t>(k) * row.channel_stride_bytes;
    const float zero = scales.zero_point != nullptr ? scales.zero_point[k] : 0;
    const float scale = scales.scale != nullptr ? scales.scale[k] : 1;
    float* to = out + k * stride;
    if (row.pixel_stride_bytes == sizeof(T)) {
      const bool is_finite = real_plane<T>(plane, row.pixels, zero, scale, to);
      done.is_finite = done.is_finite && is_finite;
      continue;
    }
    std::size_t x = k < done.channels ? done.pixels : 0;
    plane += static_cast<std::ptrdiff_t>(x) * row.pixel_stride_bytes;
    for (; x < row.pixels; ++x, plane += row.pixel_stride_bytes) {
      const float value = load_stored<T>(plane);
      to[x] = std::is_integral_v<T> ? (value - zero) * scale : value;
      done.is_finite = done.is_finite && std::isfinite(to[x]);
    }
  }
  return done.is_finite;
}

// Interleaves two planes of adjacent pixels as 32-bit lanes; the first is in the lower halves.
template <class T>
std::size_t pair_planes(const std::byte* a, const std::byte* b, std::size_t count,
                        std::int16_t* out) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const hn::Rebind<T, decltype(d)> stored;
  const std::size_t lanes = hn::Lanes(d);
  const auto bias = hn::Set(d, std::is_same_v<T, std::uint16_t> ? 32768 : 0);
  const auto lower = hn::Set(d, 0xFFFF);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto load = [&](const std::byte* from) HWY_ATTR {
      const auto* at = reinterpret_cast<const T*>(from + i * sizeof(T));
      return hn::Sub(hn::PromoteTo(d, hn::LoadU(stored, at)), bias);
    };
    const auto pair = hn::Or(hn::And(load(a), lower), hn::ShiftLeft<16>(load(b)));
    hn::StoreU(hn::BitCast(d16, pair), d16, out + 2 * i);
  }
  return i;
}

template <class T>
void pair_rows(const StoredRow& row, std::int16_t* out, std::size_t stride) {
  for (std::size_t k = 0; k < row.channels; k += 2) {
    const std::byte* a = row.data + static_cast<std::ptrdiff_t>(k) * row.channel_stride_bytes;
    const std::byte* b = a + row.channel_stride_bytes;
    const bool is_whole = k + 1 < row.channels;
    std::int16_t* to = out + k * stride;
    std::size_t x = 0;
    if (is_whole && row.pixel_stride_bytes == sizeof(T)) x = pair_planes<T>(a, b, row.pixels, to);
    for (; x < row.pixels; ++x) {
      const auto at = static_cast<std::ptrdiff_t>(x) * row.pixel_stride_bytes;
      to[2 * x] = less_bias<T>(a + at);
      to[2 * x + 1] = is_whole ? less_bias<T>(b + at) : std::int16_t{0};
    }
  }
}

bool stage_real(const StoredRow& row, const ChannelScales& scales, float* out, std::size_t stride) {
  switch (row.dtype) {
    case DType::f16:
      return real_rows<Half>(row, scales, out, stride);
    case DType::bf16:
      return real_rows<BFloat16>(row, scales, out, stride);
    case DType::i8:
      return real_rows<std::int8_t>(row, scales, out, stride);
    case DType::u8:
      return real_rows<std::uint8_t>(row, scales, out, stride);
    case DType::i16:
      return real_rows<std::int16_t>(row, scales, out, stride);
    case DType::u16:
      return real_rows<std::uint16_t>(row, scales, out, stride);
    default:
      return real_rows<float>(row, scales, out, stride);
  }
}

void stage_pairs(const StoredRow& row, std::int16_t* out, std::size_t stride) {
  switch (row.dtype) {
    case DType::i8:
      return pair_rows<std::int8_t>(row, out, stride);
    case DType::u8:
      return pair_rows<std::uint8_t>(row, out, stride);
    case DType::i16:
      return pair_rows<std::int16_t>(row, out, stride);
    default:
      return pair_rows<std::uint16_t>(row, out, stride);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {
HWY_EXPORT(stage_real);
HWY_EXPORT(stage_pairs);
}  // namespace

bool stage_real(const StoredRow& row, const ChannelScales& scales, float* out, std::size_t stride) {
  return HWY_DYNAMIC_DISPATCH(stage_real)(row, scales, out, stride);
}

void stage_pairs(const StoredRow& row, std::int16_t* out, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(stage_pairs)(row, out, stride);
}

}  // namespace halyard::decode
#endif
