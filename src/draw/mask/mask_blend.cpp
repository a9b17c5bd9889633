// SPDX-License-Identifier: Apache-2.0
// Blends one colour into u8 pixels where a mask is on, for all targets, with the same bits on each.
// Numbers are unsigned integers, without fractional bits. A byte: s = p (255 - a) + c a + 128, at
// most 255 * 255 + 128 = 65153, which fits u16. Chroma: c a n + p (1020 - a n) + 510 with n of four
// pixels on, at most 255 * 1020 + 510 = 260610, in u32. The divisions by 255 and 1020 are exact
// with rounding.
#include "draw/mask/mask_blend.h"

// The portable target replaces the one with single lanes, which has no shuffles.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "draw/mask/mask_blend.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace halyard::draw {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::uint8_t>;
using Words = hn::ScalableTag<std::uint32_t>;
constexpr std::size_t max_lanes = 64;

// Loading n bytes before the middle gives n bytes of 0, then bytes of 255.
constexpr auto keep_table = [] {
  std::array<std::uint8_t, 2 * max_lanes> out{};
  for (std::size_t i = max_lanes; i < out.size(); ++i)
    out[i] = 255;
  return out;
}();

// Calls step(i, skip) for vectors of `lanes` elements from `i` on that are within `count`. The last
// vector ends with the row; its first `skip` elements are done already.
template <class Step>
HWY_INLINE void each_vector(std::size_t i, std::size_t count, std::size_t lanes, const Step& step) {
  for (; i + lanes <= count; i += lanes)
    step(i, std::size_t{0});
  if (i < count) step(count - lanes, i + lanes - count);
}

// Computes p (255 - a) + c a + 128 for even and odd bytes, then divides by 255 with rounding.
template <class D>
struct Blender {
  using D16 = hn::Repartition<std::uint16_t, D>;
  hn::Vec<D16> even, odd, even_rest, odd_rest;

  // `bytes` repeats with `period` over the vector, which begins at byte `first` of a period. Byte
  // `kept` of each period keeps its value.
  HWY_INLINE Blender(const std::uint8_t* bytes, std::size_t period, std::size_t first,
                     unsigned alpha, std::size_t kept = max_lanes) {
    const D16 d16;
    HWY_ALIGN std::uint16_t sums[2][max_lanes / 2];
    HWY_ALIGN std::uint16_t rests[2][max_lanes / 2];
    for (std::size_t i = 0; i < hn::Lanes(D()); ++i) {
      const std::size_t at = (first + i) % period;
      const unsigned a = at == kept ? 0 : alpha;
      sums[i % 2][i / 2] = static_cast<std::uint16_t>(bytes[at] * a + 128U);
      rests[i % 2][i / 2] = static_cast<std::uint16_t>(255U - a);
    }
    even = hn::Load(d16, sums[0]);
    odd = hn::Load(d16, sums[1]);
    even_rest = hn::Load(d16, rests[0]);
    odd_rest = hn::Load(d16, rests[1]);
  }

  HWY_INLINE hn::Vec<D> operator()(hn::Vec<D> pixels) const {
    const D16 d16;
    const auto p = hn::BitCast(d16, pixels);
    const auto low = hn::Add(hn::Mul(hn::And(p, hn::Set(d16, 0xFF)), even_rest), even);
    const auto high = hn::Add(hn::Mul(hn::ShiftRight<8>(p), odd_rest), odd);
    // s / 255 rounded is (s + s / 256) / 256, which is the upper half of s * 257.
    const auto by = hn::Set(d16, 257);
    const auto out = hn::Or(hn::MulHigh(low, by), hn::ShiftLeft<8>(hn::MulHigh(high, by)));
    return hn::BitCast(D(), out);
  }
};

template <class D>
HWY_INLINE hn::Vec<D> load_mask(D d, const std::uint8_t* mask, std::size_t skip) {
  const auto m = hn::LoadU(d, mask);
  return skip == 0 ? m : hn::And(m, hn::LoadU(d, keep_table.data() + max_lanes - skip));
}

// Rows shorter than a vector are copied into one.
template <std::size_t size, class Step>
HWY_INLINE void narrow_row(const std::uint8_t* mask, std::uint8_t* pixels, std::size_t width,
                           const Step& step) {
  HWY_ALIGN std::uint8_t own[max_lanes * size] = {};
  HWY_ALIGN std::uint8_t own_mask[max_lanes] = {};
  std::memcpy(own, pixels, width * size);
  std::memcpy(own_mask, mask, width);
  step(own_mask, own, std::size_t{0});
  std::memcpy(pixels, own, width * size);
}

HWY_INLINE bool is_off(const std::uint8_t* mask) {
  const hn::RebindToSigned<Bytes> d;
  return hn::AllFalse(
      d, hn::Lt(hn::LoadU(d, reinterpret_cast<const std::int8_t*>(mask)), hn::Zero(d)));
}

// Calls step(mask, pixels, skip) for all vectors of `lanes` pixels of `size` bytes, but skips runs
// of a whole vector of mask bytes that are off. Shorter runs are not tested: at the edges of masks
// such branches are mispredicted, which costs more than it saves.
template <std::size_t size, class Step>
HWY_INLINE void each_row(const MaskRows& mask, const PixelRows& pixels, std::size_t lanes,
                         const Step& step) {
  const std::size_t run = hn::Lanes(Bytes());
  const std::uint8_t* m = mask.data;
  std::uint8_t* p = pixels.data;
  for (std::size_t y = 0; y < mask.height; ++y, m += mask.stride, p += pixels.stride) {
    if (mask.width < lanes) {
      narrow_row<size>(m, p, mask.width, step);
      continue;
    }
    std::size_t x = 0;
    for (; x + run <= mask.width; x += run) {
      if (is_off(m + x)) continue;
      for (std::size_t k = x; k < x + run; k += lanes)
        step(m + k, p + k * size, std::size_t{0});
    }
    each_vector(x, mask.width, lanes,
                [&](std::size_t k, std::size_t skip) HWY_ATTR { step(m + k, p + k * size, skip); });
  }
}

void blend_plane(const MaskRows& mask, const PixelRows& pixels, const Ink& ink,
                 std::size_t channel) {
  const Bytes d;
  const hn::RebindToSigned<Bytes> di;
  const Blender<Bytes> blend(&ink.bytes[channel], 1, 0, ink.alpha);
  each_row<1>(mask, pixels, hn::Lanes(d),
              [&](const std::uint8_t* m, std::uint8_t* p, std::size_t skip) HWY_ATTR {
                const auto bits = hn::BitCast(di, load_mask(d, m, skip));
                const auto on = hn::RebindMask(d, hn::Lt(bits, hn::Zero(di)));
                const auto old = hn::LoadU(d, p);
                hn::StoreU(hn::IfThenElse(on, blend(old), old), d, p);
              });
}

void blend_packed4(const MaskRows& mask, const PixelRows& pixels, const Ink& ink) {
  const Words d32;
  const hn::RebindToSigned<Words> di32;
  const hn::Rebind<std::uint8_t, Words> d8;
  const hn::Rebind<std::int8_t, Words> di8;
  const Bytes d;
  const Blender<Bytes> blend(ink.bytes.data(), 4, 0, ink.alpha, 3);
  each_row<4>(mask, pixels, hn::Lanes(d32),
              [&](const std::uint8_t* m, std::uint8_t* p, std::size_t skip) HWY_ATTR {
                const auto bits = hn::BitCast(di8, load_mask(d8, m, skip));
                const auto on = hn::Lt(hn::PromoteTo(di32, bits), hn::Zero(di32));
                const auto old = hn::LoadU(d, p);
                const auto now = hn::IfThenElse(
                    hn::RebindMask(d32, on), hn::BitCast(d32, blend(old)), hn::BitCast(d32, old));
                hn::StoreU(hn::BitCast(d, now), d, p);  // as bytes: pixels have no alignment
              });
}

// Each mask byte is repeated three times, so a vector of mask bytes covers three vectors of pixels.
void blend_packed3(const MaskRows& mask, const PixelRows& pixels, const Ink& ink) {
  const Bytes d;
  const hn::RebindToSigned<Bytes> di;
  const std::size_t lanes = hn::Lanes(d);
  const Blender<Bytes> blend[3] = {{ink.bytes.data(), 3, 0, ink.alpha},
                                   {ink.bytes.data(), 3, lanes, ink.alpha},
                                   {ink.bytes.data(), 3, 2 * lanes, ink.alpha}};
  each_row<3>(mask, pixels, lanes,
              [&](const std::uint8_t* m, std::uint8_t* p, std::size_t skip) HWY_ATTR {
                const auto bits = hn::BitCast(di, load_mask(d, m, skip));
                const auto on = hn::VecFromMask(di, hn::Lt(bits, hn::Zero(di)));
                const auto bytes = hn::BitCast(d, on);
                HWY_ALIGN std::uint8_t chosen[3 * max_lanes];
                hn::StoreInterleaved3(bytes, bytes, bytes, d, chosen);
                for (std::size_t k = 0; k < 3 * lanes; k += lanes) {
                  const auto old = hn::LoadU(d, p + k);
                  const auto now = blend[k / lanes](old);
                  hn::StoreU(hn::IfVecThenElse(hn::Load(d, chosen + k), now, old), d, p + k);
                }
              });
}

// Number of pixels on in each 2 x 2 block, in both bytes of the block.
template <class D8>
HWY_INLINE hn::Vec<D8> count_on(D8 d8, const std::uint8_t* upper, const std::uint8_t* lower,
                                std::size_t skip) {
  const hn::Repartition<std::uint16_t, D8> d16;
  const auto bit = [&](const std::uint8_t* row) HWY_ATTR {
    return hn::ShiftRight<7>(hn::BitCast(d16, load_mask(d8, row, skip)));
  };
  const auto ones = hn::Set(d16, 0x0101);
  const auto sum = hn::Add(hn::And(bit(upper), ones), hn::And(bit(lower), ones));
  const auto swapped = hn::Or(hn::ShiftLeft<8>(sum), hn::ShiftRight<8>(sum));
  return hn::BitCast(d8, hn::Add(sum, swapped));
}

void blend_chroma_vector(const std::uint8_t* upper, const std::uint8_t* lower, std::uint8_t* chroma,
                         const Ink& ink, std::size_t skip) {
  const Words d32;
  const hn::RebindToSigned<Words> di32;
  const hn::Rebind<std::uint8_t, Words> d8;
  const auto on = count_on(d8, upper, lower, skip);
  if (hn::AllTrue(d8, hn::Eq(on, hn::Zero(d8)))) return;
  const hn::Repartition<std::uint64_t, Words> d64;
  const std::uint64_t both = ink.bytes[1] | std::uint64_t{ink.bytes[2]} << 32;
  const auto color = hn::BitCast(d32, hn::Set(d64, both));
  const auto weight = hn::Mul(hn::PromoteTo(d32, on), hn::Set(d32, ink.alpha));
  const auto old = hn::PromoteTo(d32, hn::LoadU(d8, chroma));
  const auto sum =
      hn::Add(hn::Mul(color, weight), hn::Mul(old, hn::Sub(hn::Set(d32, 1020), weight)));
  // (sum + 510) / 1020: divided by 4, then floor(q / 255) = (q + 1 + q / 256) / 256.
  const auto q = hn::ShiftRight<2>(hn::Add(sum, hn::Set(d32, 510)));
  const auto out = hn::ShiftRight<8>(hn::Add(hn::Add(q, hn::Set(d32, 1)), hn::ShiftRight<8>(q)));
  hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di32, out)), d8, chroma);
}

void blend_chroma(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t blocks,
                  std::uint8_t* chroma, const Ink& ink) {
  const std::size_t lanes = hn::Lanes(Words()), count = 2 * blocks;
  if (count >= lanes) {
    each_vector(0, count, lanes, [&](std::size_t i, std::size_t skip) HWY_ATTR {
      blend_chroma_vector(upper + i, lower + i, chroma + i, ink, skip);
    });
    return;
  }
  HWY_ALIGN std::uint8_t own[3][max_lanes] = {};
  std::memcpy(own[0], upper, count);
  std::memcpy(own[1], lower, count);
  std::memcpy(own[2], chroma, count);
  blend_chroma_vector(own[0], own[1], own[2], ink, 0);
  std::memcpy(chroma, own[2], count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::draw
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::draw {
namespace {
HWY_EXPORT(blend_plane);
HWY_EXPORT(blend_packed3);
HWY_EXPORT(blend_packed4);
HWY_EXPORT(blend_chroma);
}  // namespace

void blend_plane(const MaskRows& mask, const PixelRows& pixels, const Ink& ink,
                 std::size_t channel) {
  HWY_DYNAMIC_DISPATCH(blend_plane)(mask, pixels, ink, channel);
}

void blend_packed3(const MaskRows& mask, const PixelRows& pixels, const Ink& ink) {
  HWY_DYNAMIC_DISPATCH(blend_packed3)(mask, pixels, ink);
}

void blend_packed4(const MaskRows& mask, const PixelRows& pixels, const Ink& ink) {
  HWY_DYNAMIC_DISPATCH(blend_packed4)(mask, pixels, ink);
}

void blend_chroma(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t blocks,
                  std::uint8_t* chroma, const Ink& ink) {
  HWY_DYNAMIC_DISPATCH(blend_chroma)(upper, lower, blocks, chroma, ink);
}

}  // namespace halyard::draw
#endif
