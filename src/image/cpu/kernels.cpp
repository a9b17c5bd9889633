// SPDX-License-Identifier: Apache-2.0
// The row kernels in Highway. Everything up to the 8-bit result is integer arithmetic with the same
// roundings on every target. Longer than other files: one translation unit per set of targets.
#include "image/cpu/kernels.h"

#include <algorithm>
#include <cstring>

// Byte shuffles over blocks of a known count of vectors need fixed-size targets.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR

void BlendRows(const BlendJob& job) {
  scalar::blend_rows(job);
}

void ResampleRow(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  scalar::resample_row(in, table, out);
}

void FinishRow(const FinishJob& job) {
  scalar::finish_row(job);
}

#else
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using V16 = hn::Vec<D16>;
using DBytes = hn::Rebind<std::uint8_t, D16>;  // one byte per 16-bit lane
using VBytes = hn::Vec<DBytes>;

// ---- down ------------------------------------------------------------------------------------

HWY_INLINE V16 blend(VBytes a, VBytes b, V16 weight) {
  const D16 d;
  const V16 low = hn::PromoteTo(d, a);
  const V16 difference = hn::ShiftLeft<7>(hn::Sub(hn::PromoteTo(d, b), low));
  return hn::Add(hn::ShiftLeft<7>(low), hn::MulFixedPoint15(difference, weight));
}

HWY_INLINE std::int16_t blend_one(std::uint8_t a, std::uint8_t b, std::int16_t weight) {
  const std::int32_t product = (b - a) * 128 * weight;
  return static_cast<std::int16_t>(a * 128 + ((product + (1 << 14)) >> 15));
}

template <int step>
HWY_INLINE void load_group(const std::uint8_t* from, VBytes (&v)[4]) {
  const DBytes d;
  if constexpr (step == 1) v[0] = hn::LoadU(d, from);
  if constexpr (step == 2) hn::LoadInterleaved2(d, from, v[0], v[1]);
  if constexpr (step == 3) hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
  if constexpr (step == 4) hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
}

template <int step, bool one_row>
HWY_INLINE void blend_at(const BlendJob& job, std::size_t x, V16 weight) {
  const D16 d;
  VBytes a[4];
  VBytes b[4];
  load_group<step>(job.a + x * step, a);
  if constexpr (!one_row) load_group<step>(job.b + x * step, b);
  for (int k = 0; k < step; ++k) {
    if (job.out[k] == nullptr) continue;
    const V16 value =
        one_row ? hn::ShiftLeft<7>(hn::PromoteTo(d, a[k])) : blend(a[k], b[k], weight);
    hn::StoreU(value, d, job.out[k] + x);
  }
}

template <int step, bool one_row>
void blend_step(const BlendJob& job) {
  const D16 d;
  const std::size_t lanes = hn::Lanes(d);
  std::int32_t least = 0x7FFFFFFF;
  for (int k = 0; k < step; ++k)
    if (job.out[k] != nullptr) least = std::min(least, job.samples[k]);
  // A group is read whole, so the last one must be complete: its byte `step - 1` exists when a
  // channel of that offset is counted, or when there is a next group.
  const bool complete = job.out[step - 1] != nullptr;
  const auto groups = static_cast<std::size_t>(complete ? least : std::max(least - 1, 0));
  const V16 weight = hn::Set(d, job.weight);
  std::size_t x = 0;
  for (; x + lanes <= groups; x += lanes)
    blend_at<step, one_row>(job, x, weight);
  if (x < groups && groups >= lanes) {
    blend_at<step, one_row>(job, groups - lanes, weight);
    x = groups;
  }
  for (int k = 0; k < step; ++k) {
    if (job.out[k] == nullptr) continue;
    for (auto i = x; i < static_cast<std::size_t>(job.samples[k]); ++i) {
      const std::uint8_t a = job.a[i * step + static_cast<std::size_t>(k)];
      const std::uint8_t b = one_row ? a : job.b[i * step + static_cast<std::size_t>(k)];
      job.out[k][i] = blend_one(a, b, one_row ? std::int16_t{0} : job.weight);
    }
  }
}

template <bool one_row>
void blend_any(const BlendJob& job) {
  switch (job.step) {
    case 1:
      return blend_step<1, one_row>(job);
    case 2:
      return blend_step<2, one_row>(job);
    case 3:
      return blend_step<3, one_row>(job);
    default:
      return blend_step<4, one_row>(job);
  }
}

void BlendRows(const BlendJob& job) {
  if (job.weight == 0) {
    blend_any<true>(job);
  } else {
    blend_any<false>(job);
  }
}

// ---- across ----------------------------------------------------------------------------------

using D8 = hn::ScalableTag<std::uint8_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using DBlock = hn::Full128<std::int16_t>;

// One 16-byte load per block, from `in` + base[block], into one vector.
HWY_INLINE V16 load_blocks(const std::int16_t* in, const std::int32_t* base) {
  const DBlock block;
#if HWY_MAX_BYTES == 16
  return hn::LoadU(block, in + base[0]);
#else
  const hn::Full256<std::int16_t> d256;
  const auto low =
      hn::Combine(d256, hn::LoadU(block, in + base[1]), hn::LoadU(block, in + base[0]));
#if HWY_MAX_BYTES == 32
  return low;
#else
  const auto high =
      hn::Combine(d256, hn::LoadU(block, in + base[3]), hn::LoadU(block, in + base[2]));
  return hn::Combine(D16(), high, low);
#endif
#endif
}

HWY_INLINE void weigh_and_store(V16 pairs, const std::int16_t* weights, std::int16_t* out) {
  const D16 d16;
  const D32 d32;
  auto odd = hn::Zero(d32);
  auto sum = hn::ReorderWidenMulAccumulate(d32, pairs, hn::LoadU(d16, weights), hn::Zero(d32), odd);
  sum = hn::RearrangeToOddPlusEven(sum, odd);
  sum = hn::ShiftRight<14>(hn::Add(sum, hn::Set(d32, 1 << 13)));
  const hn::Rebind<std::int16_t, D32> half;
  hn::StoreU(hn::DemoteTo(half, sum), half, out);
}

// Outputs of whole vectors; the rows' spare samples take what lies behind the last.
template <bool wide>
void resample_blocks(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  const D8 d8;
  const D16 d16;
  constexpr std::size_t blocks = HWY_MAX_BYTES / 16;
  const std::size_t count = static_cast<std::size_t>(table.outputs + 3) / 4;
  const std::int32_t* base = table.base.data();
  const std::uint8_t* control = table.control.data();
  const std::size_t high_half = wide ? table.control.size() / 2 : 0;
  for (std::size_t i = 0; i < count; i += blocks) {
    const auto low = hn::BitCast(d8, load_blocks(in, base + i));
    auto pairs = hn::TableLookupBytesOr0(low, hn::LoadU(d8, control + 16 * i));
    if constexpr (wide) {
      const auto high = hn::BitCast(d8, load_blocks(in + 8, base + i));
      pairs =
          hn::Or(pairs, hn::TableLookupBytesOr0(high, hn::LoadU(d8, control + high_half + 16 * i)));
    }
    weigh_and_store(hn::BitCast(d16, pairs), table.weights.data() + 8 * i, out + 4 * i);
  }
}

void resample_single(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  const D16 d16;
  const D32 d32;
  const std::size_t lanes = hn::Lanes(d32);
  for (std::size_t x = 0; x < static_cast<std::size_t>(table.outputs); x += lanes) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
    const auto bytes = hn::ShiftLeft<1>(hn::LoadU(d32, table.first.data() + x));
    const auto pairs = hn::GatherOffset(d32, reinterpret_cast<const std::int32_t*>(in), bytes);
#else
    HWY_ALIGN std::int32_t each[HWY_MAX_BYTES / 4];
    for (std::size_t i = 0; i < lanes; ++i)
      std::memcpy(each + i, in + table.first[x + i], 4);
    const auto pairs = hn::Load(d32, each);
#endif
    weigh_and_store(hn::BitCast(d16, pairs), table.weights.data() + 2 * x, out + x);
  }
}

void ResampleRow(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  if (table.mode == AcrossTable::Mode::narrow) {
    resample_blocks<false>(in, table, out);
  } else if (table.mode == AcrossTable::Mode::wide) {
    resample_blocks<true>(in, table, out);
  } else {
    resample_single(in, table, out);
  }
}

// ---- colour and store ------------------------------------------------------------------------

struct Samples {
  V16 c[4];
};

// Chroma of two pixels, alternating in the lanes, to one of each per pixel; 8.7.
HWY_INLINE void spread_chroma(V16 alternating, bool v_first, Samples& s) {
  const D16 d16;
  const hn::RepartitionToWide<hn::RebindToUnsigned<D16> > d32;
  const auto pair = hn::BitCast(d32, alternating);
  const auto even = hn::And(pair, hn::Set(d32, 0xFFFFU));
  const auto odd = hn::ShiftRight<16>(pair);
  const V16 first = hn::BitCast(d16, hn::Or(even, hn::ShiftLeft<16>(even)));
  const V16 second = hn::BitCast(d16, hn::Or(odd, hn::ShiftLeft<16>(odd)));
  s.c[1] = v_first ? second : first;
  s.c[2] = v_first ? first : second;
}

template <Feed feed>
HWY_INLINE Samples load_samples(const FinishJob& job, std::size_t x) {
  const D16 d;
  const hn::RebindToUnsigned<D16> du;
  const DBytes bytes;
  Samples s;
  if constexpr (feed == Feed::rows) {
    for (int k = 0; k < 4; ++k)
      s.c[k] = job.rows[k] == nullptr ? hn::Set(d, 255 * 128) : hn::LoadU(d, job.rows[k] + x);
  } else if constexpr (feed == Feed::luma_and_pairs) {
    s.c[0] = hn::ShiftLeft<7>(hn::PromoteTo(d, hn::LoadU(bytes, job.bytes + x)));
    spread_chroma(hn::ShiftLeft<7>(hn::PromoteTo(d, hn::LoadU(bytes, job.pairs + x))), job.v_first,
                  s);
    s.c[3] = hn::Set(d, 255 * 128);
  } else {
    const hn::Repartition<std::uint8_t, D16> d8;
    const auto unit = hn::BitCast(du, hn::LoadU(d8, job.bytes + 2 * x));
    const auto low = hn::ShiftLeft<7>(hn::And(unit, hn::Set(du, 0xFFU)));
    const auto high = hn::ShiftLeft<7>(hn::ShiftRight<8>(unit));
    s.c[0] = hn::BitCast(d, feed == Feed::luma_low ? low : high);
    spread_chroma(hn::BitCast(d, feed == Feed::luma_low ? high : low), job.v_first, s);
    s.c[3] = hn::Set(d, 255 * 128);
  }
  return s;
}

// 8.5 fixed point to bytes, halves up, saturating.
HWY_INLINE VBytes to_bytes_from_5(V16 value) {
  const D16 d;
  return hn::DemoteTo(DBytes(), hn::ShiftRight<5>(hn::Add(value, hn::Set(d, 16))));
}

HWY_INLINE VBytes to_bytes_from_7(V16 value) {
  const D16 d;
  return hn::DemoteTo(DBytes(), hn::ShiftRight<7>(hn::Add(value, hn::Set(d, 64))));
}

HWY_INLINE V16 luma_of(const FixedMatrix& m, V16 y) {
  const D16 d;
  const V16 offset = hn::Set(d, m.y_offset);
  return hn::MulFixedPoint15(hn::Sub(hn::Max(y, offset), offset), hn::Set(d, m.y_scale));
}

template <ColorMode color>
HWY_INLINE void change_colors(const FixedMatrix& m, const Samples& s, VBytes (&out)[4]) {
  const D16 d;
  if constexpr (color == ColorMode::direct) {
    for (int k = 0; k < 3; ++k)
      out[k] = to_bytes_from_7(s.c[k]);
  } else if constexpr (color == ColorMode::yuv_to_rgb) {
    const V16 centre = hn::Set(d, 128 * 128);
    const V16 l = luma_of(m, s.c[0]);
    const V16 u = hn::Sub(s.c[1], centre);
    const V16 v = hn::Sub(s.c[2], centre);
    const V16 red = hn::MulFixedPoint15(v, hn::Set(d, m.rv));
    const V16 green =
        hn::Add(hn::MulFixedPoint15(u, hn::Set(d, m.gu)), hn::MulFixedPoint15(v, hn::Set(d, m.gv)));
    const V16 blue = hn::MulFixedPoint15(u, hn::Set(d, m.bu));
    out[0] = to_bytes_from_5(hn::Add(l, red));
    out[1] = to_bytes_from_5(hn::Sub(l, green));
    out[2] = to_bytes_from_5(hn::Add(l, blue));
  } else if constexpr (color == ColorMode::yuv_to_grey) {
    out[0] = to_bytes_from_5(luma_of(m, s.c[0]));
  } else {
    // BT.601 luma; the weights sum to 2^13, a quarter of one.
    const V16 grey = hn::Add(hn::Add(hn::MulFixedPoint15(s.c[0], hn::Set(d, 2449)),
                                     hn::MulFixedPoint15(s.c[1], hn::Set(d, 4809))),
                             hn::MulFixedPoint15(s.c[2], hn::Set(d, 934)));
    out[0] = to_bytes_from_5(grey);
  }
  out[3] = to_bytes_from_7(s.c[3]);
}

using DFloat = hn::ScalableTag<float>;
using DQuarter = hn::Rebind<std::uint8_t, DFloat>;  // one byte per float lane

HWY_INLINE hn::Vec<DFloat> to_floats(const FinishJob& job, int channel, const std::uint8_t* codes) {
  const DFloat d;
  const auto value = hn::ConvertTo(d, hn::PromoteTo(D32(), hn::LoadU(DQuarter(), codes)));
  const auto low =
      hn::MulAdd(value, hn::Set(d, job.scale_low[channel]), hn::Set(d, job.bias[channel]));
  return hn::MulAdd(value, hn::Set(d, job.scale_high[channel]), low);
}

HWY_INLINE float* float_at(std::byte* base, std::size_t index) {
  return reinterpret_cast<float*>(base) + index;
}

HWY_INLINE void store_floats(const FinishJob& job, std::byte* const* to, std::size_t x,
                             const VBytes (&v)[4]) {
  const DFloat d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::uint8_t codes[4][HWY_MAX_BYTES / 2];
  for (int k = 0; k < job.channels; ++k)
    hn::Store(v[k], DBytes(), codes[k]);
  for (std::size_t i = 0; i < hn::Lanes(D16()); i += lanes) {
    if (job.planar || job.channels == 1) {
      for (int k = 0; k < job.channels; ++k)
        hn::StoreU(to_floats(job, k, codes[k] + i), d, float_at(to[k], x + i));
      continue;
    }
    const int first = job.blue_first ? 2 : 0;
    const auto c0 = to_floats(job, first, codes[first] + i);
    const auto c1 = to_floats(job, 1, codes[1] + i);
    const auto c2 = to_floats(job, 2 - first, codes[2 - first] + i);
    const std::size_t at = (x + i) * static_cast<std::size_t>(job.channels);
    if (job.channels == 3) {
      hn::StoreInterleaved3(c0, c1, c2, d, float_at(to[0], at));
    } else {
      hn::StoreInterleaved4(c0, c1, c2, to_floats(job, 3, codes[3] + i), d, float_at(to[0], at));
    }
  }
}

HWY_INLINE void store_bytes(const FinishJob& job, std::byte* const* to, std::size_t x,
                            VBytes (&v)[4]) {
  const DBytes d;
  const auto flip = hn::Set(d, job.flip);
  for (int k = 0; k < 3; ++k)
    v[k] = hn::Xor(v[k], flip);
  const auto byte_at = [](std::byte* base, std::size_t i) {
    return reinterpret_cast<std::uint8_t*>(base) + i;
  };
  if (job.planar || job.channels == 1) {
    for (int k = 0; k < job.channels; ++k)
      hn::StoreU(v[k], d, byte_at(to[k], x));
    return;
  }
  const VBytes c0 = job.blue_first ? v[2] : v[0];
  const VBytes c2 = job.blue_first ? v[0] : v[2];
  if (job.channels == 3) {
    hn::StoreInterleaved3(c0, v[1], c2, d, byte_at(to[0], 3 * x));
  } else {
    hn::StoreInterleaved4(c0, v[1], c2, v[3], d, byte_at(to[0], 4 * x));
  }
}

template <Feed feed, ColorMode color>
HWY_INLINE void finish_at(const FinishJob& job, std::size_t x, std::byte* const* to,
                          std::size_t to_x) {
  VBytes v[4];
  const Samples samples = load_samples<feed>(job, x);
  v[1] = v[2] = hn::Zero(DBytes());
  change_colors<color>(job.matrix, samples, v);
  if (job.as_float) {
    store_floats(job, to, to_x, v);
  } else {
    store_bytes(job, to, to_x, v);
  }
}

// The last pixels: input bytes are copied so that no byte behind the row is read, output goes
// through a buffer so that none behind it is written.
template <Feed feed, ColorMode color>
HWY_NOINLINE void finish_tail(const FinishJob& job, std::size_t x) {
  constexpr std::size_t most = HWY_MAX_BYTES / 2;  // pixels of a vector
  const std::size_t left = static_cast<std::size_t>(job.width) - x;
  std::uint8_t bytes[2 * most] = {};
  std::uint8_t pairs[2 * most] = {};
  FinishJob tail = job;
  std::size_t from = x;
  if constexpr (feed != Feed::rows) {
    const std::size_t even = (left + 1) / 2 * 2;  // the last pair is whole
    if constexpr (feed == Feed::luma_and_pairs) {
      std::memcpy(bytes, job.bytes + x, left);
      std::memcpy(pairs, job.pairs + x, even);
    } else {
      std::memcpy(bytes, job.bytes + 2 * x, 2 * even);
    }
    tail.bytes = bytes;
    tail.pairs = pairs;
    from = 0;
  }
  alignas(64) std::byte stored[4][most * 16];
  std::byte* to[4] = {stored[0], stored[1], stored[2], stored[3]};
  finish_at<feed, color>(tail, from, to, 0);
  const std::size_t sample = job.as_float ? 4 : 1;
  const bool apart = job.planar || job.channels == 1;
  const std::size_t pixel = apart ? sample : sample * static_cast<std::size_t>(job.channels);
  for (int k = 0; k < (apart ? job.channels : 1); ++k)
    std::memcpy(job.out[k] + pixel * x, stored[k], pixel * left);
}

template <Feed feed, ColorMode color>
void finish_as(const FinishJob& job) {
  const std::size_t lanes = hn::Lanes(D16());
  const auto width = static_cast<std::size_t>(job.width);
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes)
    finish_at<feed, color>(job, x, job.out.data(), x);
  if (x < width) finish_tail<feed, color>(job, x);
}

template <Feed feed>
void finish_fed(const FinishJob& job) {
  if (job.color == ColorMode::yuv_to_rgb) {
    finish_as<feed, ColorMode::yuv_to_rgb>(job);
  } else {
    finish_as<feed, ColorMode::yuv_to_grey>(job);
  }
}

void FinishRow(const FinishJob& job) {
  switch (job.feed) {
    case Feed::luma_and_pairs:
      return finish_fed<Feed::luma_and_pairs>(job);
    case Feed::luma_low:
      return finish_fed<Feed::luma_low>(job);
    case Feed::luma_high:
      return finish_fed<Feed::luma_high>(job);
    case Feed::rows:
      break;
  }
  if (job.color == ColorMode::direct) return finish_as<Feed::rows, ColorMode::direct>(job);
  if (job.color == ColorMode::rgb_to_grey) {
    return finish_as<Feed::rows, ColorMode::rgb_to_grey>(job);
  }
  finish_fed<Feed::rows>(job);
}

#endif  // HWY_SCALAR
}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(BlendRows);
HWY_EXPORT(ResampleRow);
HWY_EXPORT(FinishRow);

void blend_rows(const BlendJob& job) {
  HWY_DYNAMIC_DISPATCH(BlendRows)(job);
}

void resample_row(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleRow)(in, table, out);
}

void finish_row(const FinishJob& job) {
  HWY_DYNAMIC_DISPATCH(FinishRow)(job);
}

}  // namespace halyard::image
#endif
