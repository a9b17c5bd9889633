// SPDX-License-Identifier: Apache-2.0
// The row kernels in Highway. Everything up to the 8-bit result is integer arithmetic with the same
// roundings on every target.
// Long: all kernels that are compiled once per target share one translation unit.
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
void ResampleBytes(const std::uint8_t* in, const AcrossTable& table, std::int16_t* out) {
  scalar::resample_bytes(in, table, out);
}
void ColorRow(const ColorJob& job) {
  scalar::color_row(job);
}
void StoreRow(const StoreJob& job) {
  scalar::store_row(job);
}
void TransposeCodes(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
                    std::size_t out_stride) {
  scalar::transpose_codes(in, in_stride, out, out_stride);
}

#else
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using DU16 = hn::RebindToUnsigned<D16>;
using D32 = hn::ScalableTag<std::int32_t>;
using DHalf = hn::Rebind<std::uint8_t, D16>;  // one byte per 16-bit lane
using V16 = hn::Vec<D16>;
using VHalf = hn::Vec<DHalf>;

// ---- down ------------------------------------------------------------------------------------

// Samples of the group at `from`, one vector per channel, 8.7 fixed point.
template <int step>
HWY_INLINE void load_group(const std::uint8_t* from, V16 (&v)[step]) {
  const D16 d;
  if constexpr (step == 1) {
    v[0] = hn::ShiftLeft<7>(hn::PromoteTo(d, hn::LoadU(DHalf(), from)));
  } else if constexpr (step == 2) {
    const auto unit = hn::BitCast(DU16(), hn::LoadU(D8(), from));
    v[0] = hn::BitCast(d, hn::ShiftLeft<7>(hn::And(unit, hn::Set(DU16(), 0xFFU))));
    v[1] = hn::BitCast(d, hn::ShiftLeft<7>(hn::ShiftRight<8>(unit)));
  } else {
    VHalf a, b, c, e;
    if constexpr (step == 3) hn::LoadInterleaved3(DHalf(), from, a, b, c);
    if constexpr (step == 4) hn::LoadInterleaved4(DHalf(), from, a, b, c, e);
    v[0] = hn::ShiftLeft<7>(hn::PromoteTo(d, a));
    v[1] = hn::ShiftLeft<7>(hn::PromoteTo(d, b));
    v[2] = hn::ShiftLeft<7>(hn::PromoteTo(d, c));
    if constexpr (step == 4) v[3] = hn::ShiftLeft<7>(hn::PromoteTo(d, e));
  }
}

// taps: 1, 2, or 0 for any count.
template <int step, int taps>
HWY_INLINE void blend_at(const BlendJob& job, std::size_t x) {
  const D16 d;
  V16 sum[step];
  load_group<step>(job.rows[0] + x * step, sum);
  if constexpr (taps == 2) {
    // a + (b - a) * w keeps equal samples equal.
    V16 other[step];
    load_group<step>(job.rows[1] + x * step, other);
    const V16 weight = hn::Set(d, job.weights[1]);
    for (int k = 0; k < step; ++k)
      sum[k] = hn::Add(sum[k], hn::MulFixedPoint15(hn::Sub(other[k], sum[k]), weight));
  } else if constexpr (taps == 0) {
    for (int k = 0; k < step; ++k)
      sum[k] = hn::MulFixedPoint15(sum[k], hn::Set(d, job.weights[0]));
    for (std::int32_t t = 1; t < job.taps; ++t) {
      V16 other[step];
      load_group<step>(job.rows[t] + x * step, other);
      for (int k = 0; k < step; ++k)
        sum[k] = hn::Add(sum[k], hn::MulFixedPoint15(other[k], hn::Set(d, job.weights[t])));
    }
  }
  for (std::size_t k = 0; k < std::size_t{step}; ++k)
    if (job.out[k] != nullptr) hn::StoreU(sum[k], d, job.out[k] + x);
}

template <int step, int taps>
void blend_step(const BlendJob& given) {
  constexpr std::int32_t most_taps = 64;
  if (given.taps > most_taps) return scalar::blend_rows(given);
  const BlendJob job = given;  // the stores cannot change a copy
  const std::size_t lanes = hn::Lanes(D16());
  std::int32_t least = 0x7FFFFFFF;
  for (std::size_t k = 0; k < std::size_t{step}; ++k)
    if (job.out[k] != nullptr) least = std::min(least, job.samples[k]);
  // A group is read whole, so the last one must be complete: its byte `step - 1` exists when a
  // channel of that offset is counted, or when there is a next group.
  const bool complete = job.out[step - 1] != nullptr;
  const auto groups = static_cast<std::size_t>(complete ? least : std::max(least - 1, 0));
  std::size_t x = 0;
  for (; x + lanes <= groups; x += lanes)
    blend_at<step, taps>(job, x);
  if (x < groups && groups >= lanes) {
    blend_at<step, taps>(job, groups - lanes);
    x = groups;
  }
  BlendJob rest = job;
  const std::uint8_t* rows[most_taps];
  for (std::int32_t t = 0; t < job.taps; ++t)
    rows[t] = job.rows[t] + x * step;
  rest.rows = rows;
  for (std::size_t k = 0; k < std::size_t{step}; ++k) {
    if (rest.out[k] != nullptr) rest.out[k] += x;
    rest.samples[k] -= static_cast<std::int32_t>(x);
  }
  scalar::blend_rows(rest);
}

template <int step>
void blend_taps(const BlendJob& job) {
  if (job.taps == 1) return blend_step<step, 1>(job);
  if (job.taps == 2) return blend_step<step, 2>(job);
  blend_step<step, 0>(job);
}

void BlendRows(const BlendJob& job) {
  switch (job.step) {
    case 1:
      return blend_taps<1>(job);
    case 2:
      return blend_taps<2>(job);
    case 3:
      return blend_taps<3>(job);
    default:
      return blend_taps<4>(job);
  }
}

// ---- across ----------------------------------------------------------------------------------

// One 16-byte load per block, from `in` + base[block], into one vector.
template <class T>
HWY_INLINE hn::Vec<hn::ScalableTag<T> > load_blocks(const T* in, const std::int32_t* base) {
  const hn::Full128<T> block;
#if HWY_MAX_BYTES == 16
  return hn::LoadU(block, in + base[0]);
#else
  const hn::Full256<T> d256;
  const auto low =
      hn::Combine(d256, hn::LoadU(block, in + base[1]), hn::LoadU(block, in + base[0]));
#if HWY_MAX_BYTES == 32
  return low;
#else
  const auto high =
      hn::Combine(d256, hn::LoadU(block, in + base[3]), hn::LoadU(block, in + base[2]));
  return hn::Combine(hn::ScalableTag<T>(), high, low);
#endif
#endif
}

HWY_INLINE hn::Vec<D32> weigh(V16 pairs, const std::int16_t* weights, hn::Vec<D32> sum) {
  const D32 d32;
  auto odd = hn::Zero(d32);
  const auto product =
      hn::ReorderWidenMulAccumulate(d32, pairs, hn::LoadU(D16(), weights), hn::Zero(d32), odd);
  return hn::Add(sum, hn::RearrangeToOddPlusEven(product, odd));
}

HWY_INLINE void store_sums(hn::Vec<D32> sum, std::int16_t* out) {
  const hn::Rebind<std::int16_t, D32> half;
  hn::StoreU(hn::DemoteTo(half, hn::ShiftRight<14>(sum)), half, out);
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
  const std::int16_t* weights = table.weights.data();
  const std::size_t high_half = wide ? table.control.size() / 2 : 0;
  const auto pairs = static_cast<std::size_t>(table.pairs);
  const std::size_t weight_stride = table.weights.size() / pairs;
  for (std::size_t i = 0; i < count; i += blocks) {
    const auto low_control = hn::LoadU(d8, control + 16 * i);
    auto high_control = low_control;
    if constexpr (wide) high_control = hn::LoadU(d8, control + high_half + 16 * i);
    auto sum = hn::Set(D32(), 1 << 13);
    for (std::size_t p = 0; p < pairs; ++p) {
      const auto low = hn::BitCast(d8, load_blocks(in + 2 * p, base + i));
      auto taps = hn::TableLookupBytesOr0(low, low_control);
      if constexpr (wide) {
        const auto high = hn::BitCast(d8, load_blocks(in + 2 * p + 8, base + i));
        taps = hn::Or(taps, hn::TableLookupBytesOr0(high, high_control));
      }
      sum = weigh(hn::BitCast(d16, taps), weights + p * weight_stride + 8 * i, sum);
    }
    store_sums(sum, out + 4 * i);
  }
}

void resample_single(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  const D16 d16;
  const D32 d32;
  const std::size_t lanes = hn::Lanes(d32);
  const auto pairs = static_cast<std::size_t>(table.pairs);
  const std::size_t weight_stride = table.weights.size() / pairs;
  for (std::size_t x = 0; x < static_cast<std::size_t>(table.outputs); x += lanes) {
    auto sum = hn::Set(d32, 1 << 13);
    for (std::size_t p = 0; p < pairs; ++p) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
      const auto bytes = hn::ShiftLeft<1>(hn::LoadU(d32, table.first.data() + x));
      const auto taps =
          hn::GatherOffset(d32, reinterpret_cast<const std::int32_t*>(in + 2 * p), bytes);
#else
      HWY_ALIGN std::int32_t each[HWY_MAX_BYTES / 4];
      for (std::size_t i = 0; i < lanes; ++i)
        std::memcpy(each + i, in + table.first[x + i] + 2 * p, 4);
      const auto taps = hn::Load(d32, each);
#endif
      sum = weigh(hn::BitCast(d16, taps), table.weights.data() + p * weight_stride + 2 * x, sum);
    }
    store_sums(sum, out + x);
  }
}

// (a * 2^7 * w + b * 2^7 * v + 2^13) / 2^14 without the common factor: the bits of the ways above.
void ResampleBytes(const std::uint8_t* in, const AcrossTable& table, std::int16_t* out) {
  const D8 d8;
  const D16 d16;
  constexpr std::size_t blocks = HWY_MAX_BYTES / 16;
  const std::size_t count = static_cast<std::size_t>(table.outputs + 3) / 4;
  const std::int32_t* base = table.byte_base.data();
  const std::uint8_t* control = table.byte_control.data();
  const std::int16_t* weights = table.weights.data();
  const auto half = hn::Set(D32(), 1 << 6);
  const hn::Rebind<std::int16_t, D32> narrow;
  for (std::size_t i = 0; i < count; i += blocks) {
    const auto samples = hn::BitCast(d8, load_blocks(in, base + i));
    const auto taps = hn::TableLookupBytesOr0(samples, hn::LoadU(d8, control + 16 * i));
    const auto sum = weigh(hn::BitCast(d16, taps), weights + 8 * i, half);
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<7>(sum)), narrow, out + 4 * i);
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

// ---- colour ----------------------------------------------------------------------------------

// A job's pointers, each copied alone: a block copy would wait for the caller's narrower stores.
struct Lines {
  const std::int16_t* row0;
  const std::int16_t* row1;
  const std::int16_t* row2;
  const std::uint8_t* bytes;
  const std::uint8_t* pairs;
  std::uint8_t* code0;
  std::uint8_t* code1;
  std::uint8_t* code2;
};

HWY_INLINE Lines lines_of(const ColorJob& job) {
  return {job.rows[0], job.rows[1],  job.rows[2],  job.bytes,
          job.pairs,   job.codes[0], job.codes[1], job.codes[2]};
}

// Luma at x, 8.7, and for source rows as they are the chroma of pixel pairs, alternating in the
// lanes.
template <Feed feed>
HWY_INLINE V16 load_luma(const Lines& in, std::size_t x, V16& chroma) {
  const D16 d;
  if constexpr (feed == Feed::rows) {
    return hn::LoadU(d, in.row0 + x);
  } else if constexpr (feed == Feed::luma_and_pairs) {
    chroma = hn::ShiftLeft<7>(hn::PromoteTo(d, hn::LoadU(DHalf(), in.pairs + x)));
    return hn::ShiftLeft<7>(hn::PromoteTo(d, hn::LoadU(DHalf(), in.bytes + x)));
  } else {
    const auto unit = hn::BitCast(DU16(), hn::LoadU(D8(), in.bytes + 2 * x));
    const V16 low = hn::BitCast(d, hn::ShiftLeft<7>(hn::And(unit, hn::Set(DU16(), 0xFFU))));
    const V16 high = hn::BitCast(d, hn::ShiftLeft<7>(hn::ShiftRight<8>(unit)));
    chroma = feed == Feed::luma_low ? high : low;
    return feed == Feed::luma_low ? low : high;
  }
}

// Fixed point that has its rounding half in it already to codes, saturating.
template <int fraction>
HWY_INLINE void store_codes(V16 value, std::uint8_t* to) {
  hn::StoreU(hn::DemoteTo(DHalf(), hn::ShiftRight<fraction>(value)), DHalf(), to);
}

HWY_INLINE V16 half_of_7(V16 value) {
  return hn::Add(value, hn::Set(D16(), 1 << 6));
}

struct Constants {
  V16 offset, y_scale, rv, gu, gv, bu, first, second, half;
};

// Lanes a, b, a, b, ...
HWY_INLINE V16 alternate(std::int16_t a, std::int16_t b) {
  const hn::RepartitionToWide<DU16> d32;
  const auto both = static_cast<std::uint32_t>(static_cast<std::uint16_t>(a)) |
                    static_cast<std::uint32_t>(static_cast<std::uint16_t>(b)) << 16;
  return hn::BitCast(D16(), hn::Set(d32, both));
}

HWY_INLINE Constants constants_of(const ColorJob& job) {
  const D16 d;
  const FixedMatrix& m = job.matrix;
  const bool swapped = job.v_first;
  return {hn::Set(d, m.y_offset),
          hn::Set(d, m.y_scale),
          hn::Set(d, m.rv),
          hn::Set(d, m.gu),
          hn::Set(d, m.gv),
          hn::Set(d, m.bu),
          swapped ? alternate(m.rv, m.bu) : alternate(m.bu, m.rv),
          swapped ? alternate(m.gv, m.gu) : alternate(m.gu, m.gv),
          hn::Set(d, 1 << 4)};
}

// 8.5 with the rounding half.
HWY_INLINE V16 luma_of(const Constants& m, V16 y) {
  const V16 above = hn::Sub(hn::Max(y, m.offset), m.offset);
  return hn::Add(hn::MulFixedPoint15(above, m.y_scale), m.half);
}

// The terms of one pixel pair, alternating, to both lanes of the pair: the first, the second, the
// sum.
HWY_INLINE void spread(V16 terms, V16& first, V16& second) {
  const D16 d16;
  const hn::RepartitionToWide<DU16> d32;
  const auto pair = hn::BitCast(d32, terms);
  const auto even = hn::And(pair, hn::Set(d32, 0xFFFFU));
  const auto odd = hn::ShiftRight<16>(pair);
  first = hn::BitCast(d16, hn::Or(even, hn::ShiftLeft<16>(even)));
  second = hn::BitCast(d16, hn::Or(odd, hn::ShiftLeft<16>(odd)));
}

HWY_INLINE V16 sum_of_pair(V16 terms) {
  const hn::RepartitionToWide<DU16> d32;
  return hn::Add(terms, hn::BitCast(D16(), hn::RotateRight<16>(hn::BitCast(d32, terms))));
}

template <Feed feed, bool v_first>
HWY_INLINE void yuv_to_rgb_at(const Lines& line, const Constants& m, std::size_t x) {
  const D16 d;
  const V16 centre = hn::Set(d, 128 * 128);
  V16 chroma = centre;
  const V16 l = luma_of(m, load_luma<feed>(line, x, chroma));
  V16 red, green, blue;
  if constexpr (feed == Feed::rows) {
    const V16 u = hn::Sub(hn::LoadU(d, line.row1 + x), centre);
    const V16 v = hn::Sub(hn::LoadU(d, line.row2 + x), centre);
    red = hn::MulFixedPoint15(v, m.rv);
    green = hn::Add(hn::MulFixedPoint15(u, m.gu), hn::MulFixedPoint15(v, m.gv));
    blue = hn::MulFixedPoint15(u, m.bu);
  } else {  // once per pair, then to both pixels
    chroma = hn::Sub(chroma, centre);
    green = sum_of_pair(hn::MulFixedPoint15(chroma, m.second));
    if constexpr (v_first) {
      spread(hn::MulFixedPoint15(chroma, m.first), red, blue);
    } else {
      spread(hn::MulFixedPoint15(chroma, m.first), blue, red);
    }
  }
  store_codes<5>(hn::Add(l, red), line.code0 + x);
  store_codes<5>(hn::Sub(l, green), line.code1 + x);
  store_codes<5>(hn::Add(l, blue), line.code2 + x);
}

template <Feed feed, ColorMode color, bool v_first>
HWY_INLINE void color_at(const Lines& line, const Constants& m, std::size_t x) {
  const D16 d;
  V16 unused = hn::Zero(d);
  if constexpr (color == ColorMode::direct) {
    store_codes<7>(half_of_7(hn::LoadU(d, line.row0 + x)), line.code0 + x);
    store_codes<7>(half_of_7(hn::LoadU(d, line.row1 + x)), line.code1 + x);
    store_codes<7>(half_of_7(hn::LoadU(d, line.row2 + x)), line.code2 + x);
  } else if constexpr (color == ColorMode::yuv_to_rgb) {
    yuv_to_rgb_at<feed, v_first>(line, m, x);
  } else if constexpr (color == ColorMode::yuv_to_grey) {
    store_codes<5>(luma_of(m, load_luma<feed>(line, x, unused)), line.code0 + x);
  } else {
    // BT.601 luma; the weights sum to 2^13, a quarter of one.
    const V16 red = hn::MulFixedPoint15(hn::LoadU(d, line.row0 + x), hn::Set(d, 2449));
    const V16 green = hn::MulFixedPoint15(hn::LoadU(d, line.row1 + x), hn::Set(d, 4809));
    const V16 blue = hn::MulFixedPoint15(hn::LoadU(d, line.row2 + x), hn::Set(d, 934));
    store_codes<5>(hn::Add(hn::Add(red, green), hn::Add(blue, m.half)), line.code0 + x);
  }
}

template <Feed feed, ColorMode color, bool v_first>
void color_as(const ColorJob& job) {
  Lines line = lines_of(job);
  const Constants m = constants_of(job);
  const std::size_t lanes = hn::Lanes(D16());
  const auto width = static_cast<std::size_t>(job.width);
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes)
    color_at<feed, color, v_first>(line, m, x);
  if (x == width) return;
  if constexpr (feed == Feed::rows) {  // rows and codes have spare samples
    color_at<feed, color, v_first>(line, m, x);
    return;
  }
  std::uint8_t bytes[HWY_MAX_BYTES] = {};
  std::uint8_t pairs[HWY_MAX_BYTES] = {};
  const std::size_t even = (width - x + 1) / 2 * 2;  // the last pair is whole
  if constexpr (feed == Feed::luma_and_pairs) {
    std::memcpy(bytes, line.bytes + x, width - x);
    std::memcpy(pairs, line.pairs + x, even);
  } else {
    std::memcpy(bytes, line.bytes + 2 * x, 2 * even);
  }
  line = {nullptr, nullptr, nullptr, bytes, pairs, line.code0 + x, line.code1 + x, line.code2 + x};
  color_at<feed, color, v_first>(line, m, 0);
}

template <Feed feed>
void color_fed(const ColorJob& job) {
  if (job.color == ColorMode::yuv_to_grey) {
    color_as<feed, ColorMode::yuv_to_grey, false>(job);
  } else if (job.v_first) {
    color_as<feed, ColorMode::yuv_to_rgb, true>(job);
  } else {
    color_as<feed, ColorMode::yuv_to_rgb, false>(job);
  }
}

void color_alpha(const ColorJob& job) {
  const std::size_t lanes = hn::Lanes(D16());
  for (std::size_t x = 0; x < static_cast<std::size_t>(job.width); x += lanes)
    store_codes<7>(half_of_7(hn::LoadU(D16(), job.rows[3] + x)), job.codes[3] + x);
}

void ColorRow(const ColorJob& job) {
  if (job.rows[3] != nullptr) color_alpha(job);
  switch (job.feed) {
    case Feed::luma_and_pairs:
      return color_fed<Feed::luma_and_pairs>(job);
    case Feed::luma_low:
      return color_fed<Feed::luma_low>(job);
    case Feed::luma_high:
      return color_fed<Feed::luma_high>(job);
    case Feed::rows:
      break;
  }
  if (job.color == ColorMode::direct) return color_as<Feed::rows, ColorMode::direct, false>(job);
  if (job.color == ColorMode::rgb_to_grey) {
    return color_as<Feed::rows, ColorMode::rgb_to_grey, false>(job);
  }
  color_fed<Feed::rows>(job);
}

// ---- store -----------------------------------------------------------------------------------

using DFloat = hn::ScalableTag<float>;
using VFloat = hn::Vec<DFloat>;
using DQuarter = hn::Rebind<std::uint8_t, DFloat>;  // one byte per float lane

struct Affine {
  VFloat high, low, bias;

  HWY_INLINE VFloat operator()(const std::uint8_t* codes) const {
    const auto wide = hn::PromoteTo(D32(), hn::LoadU(DQuarter(), codes));
    const VFloat value = hn::ConvertTo(DFloat(), wide);
    return hn::MulAdd(value, high, hn::MulAdd(value, low, bias));
  }
};

HWY_INLINE Affine affine_of(const StoreJob& job, std::size_t c) {
  const DFloat d;
  return {hn::Set(d, job.scale_high[c]), hn::Set(d, job.scale_low[c]), hn::Set(d, job.bias[c])};
}

// Calls at(x, to) for whole vectors of `lanes` pixels; the last pixels go through a buffer, so that
// no byte behind the row is written. `pixel` bytes per pixel.
template <class At>
HWY_INLINE void for_vectors(std::size_t width, std::size_t lanes, std::size_t pixel, std::byte* out,
                            const At& at) {
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes)
    at(x, out + x * pixel);
  if (x == width) return;
  HWY_ALIGN std::byte rest[HWY_MAX_BYTES * 4];
  at(x, rest);
  std::memcpy(out + x * pixel, rest, (width - x) * pixel);
}

HWY_INLINE float* as_floats(std::byte* to) {
  return reinterpret_cast<float*>(to);
}
HWY_INLINE std::uint8_t* as_bytes(std::byte* to) {
  return reinterpret_cast<std::uint8_t*>(to);
}

void store_plane(const StoreJob& job, std::size_t c) {
  const auto width = static_cast<std::size_t>(job.width);
  const std::uint8_t* codes = job.codes[c];
  if (job.as_float) {
    const Affine affine = affine_of(job, c);
    for_vectors(width, hn::Lanes(DFloat()), 4, job.out[c], [&](std::size_t x, std::byte* to) {
      hn::StoreU(affine(codes + x), DFloat(), as_floats(to));
    });
    return;
  }
  const auto flip = hn::Set(D8(), c == 3 ? std::uint8_t{0} : job.flip);
  for_vectors(width, hn::Lanes(D8()), 1, job.out[c], [&](std::size_t x, std::byte* to) {
    hn::StoreU(hn::Xor(hn::LoadU(D8(), codes + x), flip), D8(), as_bytes(to));
  });
}

template <int channels>
void store_packed_bytes(const StoreJob& job, std::size_t first) {
  const auto flip = hn::Set(D8(), job.flip);
  const std::uint8_t* c0 = job.codes[first];
  const std::uint8_t* c1 = job.codes[1];
  const std::uint8_t* c2 = job.codes[2 - first];
  const std::uint8_t* c3 = job.codes[3];
  for_vectors(static_cast<std::size_t>(job.width), hn::Lanes(D8()), channels, job.out[0],
              [&](std::size_t x, std::byte* to) {
                const auto v0 = hn::Xor(hn::LoadU(D8(), c0 + x), flip);
                const auto v1 = hn::Xor(hn::LoadU(D8(), c1 + x), flip);
                const auto v2 = hn::Xor(hn::LoadU(D8(), c2 + x), flip);
                if constexpr (channels == 3) {
                  hn::StoreInterleaved3(v0, v1, v2, D8(), as_bytes(to));
                } else {
                  hn::StoreInterleaved4(v0, v1, v2, hn::LoadU(D8(), c3 + x), D8(), as_bytes(to));
                }
              });
}

template <int channels>
void store_packed_floats(const StoreJob& job, std::size_t first) {
  const Affine a0 = affine_of(job, first);
  const Affine a1 = affine_of(job, 1);
  const Affine a2 = affine_of(job, 2 - first);
  const Affine a3 = affine_of(job, 3);
  const auto& codes = job.codes;
  for_vectors(static_cast<std::size_t>(job.width), hn::Lanes(DFloat()), 4 * channels, job.out[0],
              [&](std::size_t x, std::byte* to) {
                const VFloat v0 = a0(codes[first] + x);
                const VFloat v1 = a1(codes[1] + x);
                const VFloat v2 = a2(codes[2 - first] + x);
                if constexpr (channels == 3) {
                  hn::StoreInterleaved3(v0, v1, v2, DFloat(), as_floats(to));
                } else {
                  hn::StoreInterleaved4(v0, v1, v2, a3(codes[3] + x), DFloat(), as_floats(to));
                }
              });
}

void StoreRow(const StoreJob& job) {
  if (job.planar || job.channels == 1) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(job.channels); ++c)
      store_plane(job, c);
    return;
  }
  const std::size_t first = job.blue_first ? 2 : 0;
  if (job.as_float) {
    job.channels == 3 ? store_packed_floats<3>(job, first) : store_packed_floats<4>(job, first);
  } else {
    job.channels == 3 ? store_packed_bytes<3>(job, first) : store_packed_bytes<4>(job, first);
  }
}

// ---- quarter turn ----------------------------------------------------------------------------

// Four rounds of interleaving rows i and i + 8: after each, the index of a byte is rotated by one
// bit.
void TransposeCodes(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
                    std::size_t out_stride) {
  const hn::Full128<std::uint8_t> d;
  hn::Vec<decltype(d)> a[16], b[16];
  for (std::size_t i = 0; i < 16; ++i)
    a[i] = hn::LoadU(d, in + i * in_stride);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < 8; ++i) {
      b[2 * i] = hn::InterleaveLower(d, a[i], a[i + 8]);
      b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + 8]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      a[2 * i] = hn::InterleaveLower(d, b[i], b[i + 8]);
      a[2 * i + 1] = hn::InterleaveUpper(d, b[i], b[i + 8]);
    }
  }
  for (std::size_t i = 0; i < 16; ++i)
    hn::StoreU(a[i], d, out + i * out_stride);
}

#endif  // HWY_SCALAR
}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(BlendRows);
HWY_EXPORT(ResampleRow);
HWY_EXPORT(ResampleBytes);
HWY_EXPORT(ColorRow);
HWY_EXPORT(StoreRow);
HWY_EXPORT(TransposeCodes);

void blend_rows(const BlendJob& job) {
  HWY_DYNAMIC_DISPATCH(BlendRows)(job);
}

void resample_row(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleRow)(in, table, out);
}

void resample_bytes(const std::uint8_t* in, const AcrossTable& table, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleBytes)(in, table, out);
}

void color_row(const ColorJob& job) {
  HWY_DYNAMIC_DISPATCH(ColorRow)(job);
}

void store_row(const StoreJob& job) {
  HWY_DYNAMIC_DISPATCH(StoreRow)(job);
}

void transpose_codes(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
                     std::size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(TransposeCodes)(in, in_stride, out, out_stride);
}

}  // namespace halyard::image
#endif
