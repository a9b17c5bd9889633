// SPDX-License-Identifier: Apache-2.0
// Samples to RGB bytes in signed 16-bit fixed point, with the roundings of the separate steps.
// Samples have 7 fractional bits and are not negative; RGB made from YUV has 5. Nothing overflows:
// see color-inl.h; packing to bytes saturates.
#include "image/cpu/kernels/fused_write.h"

#include <cstring>

// Packing within blocks needs vectors with a known count of blocks. Processors without vectors use
// Highway's emulation of them.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/fused_write.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include "image/cpu/kernels/color/color-inl.h"
#include "image/cpu/kernels/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Store = FusedWriteSetup::Store;

constexpr std::size_t lanes16 = lanes8 / 2;

// Moves 4-byte groups from packed blocks (8 codes of one vector, 8 of the next) to the order that
// interleave() needs for whole vectors of pixels: part k of block b is group b of vector k.
constexpr Table spread = table_of([](std::size_t block, std::size_t i) {
  const std::size_t group = i * blocks + block;
  const std::size_t half = lanes32 / 2;
  return group < half ? group / 2 * 4 + group % 2 : (group - half) / 2 * 4 + 2 + group % 2;
});

// Codes of red, green, blue and alpha, in blocks of 8 of one vector of samples and 8 of the next.
struct ResultCodes {
  V8 channel[4];
  HWY_INLINE ResultCodes() {}
};

// Rounds to codes, halves up: the fixed-point product divides by 2^fraction and rounds.
template <int fraction>
HWY_INLINE V8 rounded_codes(V16 low, V16 high) {
  const V16 unit = hn::Set(D16(), 1 << (15 - fraction));
  return pack_in_blocks(hn::MulFixedPoint15(low, unit), hn::MulFixedPoint15(high, unit));
}

HWY_INLINE V8 kept(const std::int16_t* from) {
  return rounded_codes<7>(hn::LoadU(D16(), from), hn::LoadU(D16(), from + lanes16));
}

struct FromRgb {
  HWY_INLINE explicit FromRgb(const FixedColors&) {}
  HWY_INLINE void codes(const FusedWriteJob& job, std::size_t x, ResultCodes& out) const {
    for (std::size_t c = 0; c < 3; ++c)
      out.channel[c] = kept(job.in[c] + x);
  }
};

struct FusedFromYuv {
  colors::FromYuv<7> from;
  HWY_INLINE explicit FusedFromYuv(const FixedColors& m) : from(m, hn::Zero(D16())) {}
  HWY_INLINE void codes(const FusedWriteJob& job, std::size_t x, ResultCodes& out) const {
    const D16 d;
    V16 rgb[3][2];
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t at = x + half * lanes16;
      from.rgb(hn::LoadU(d, job.in[0] + at), hn::LoadU(d, job.in[1] + at),
               hn::LoadU(d, job.in[2] + at), rgb[0][half], rgb[1][half], rgb[2][half]);
    }
    for (std::size_t c = 0; c < 3; ++c)
      out.channel[c] = rounded_codes<colors::rgb_fraction>(rgb[c][0], rgb[c][1]);
  }
};

// Stores the codes of one vector of pixels.
template <bool keeps_alpha, bool blue_first>
struct Packed4 {
  static constexpr std::size_t bytes = 4;
  static constexpr std::size_t parts = 1;
  Indices order;
  HWY_INLINE explicit Packed4(const FusedWriteSetup&)
      : order(hn::SetTableIndices(D32(), spread.at)) {}

  HWY_INLINE void put(const ResultCodes& in, const FusedWriteJob& job, std::size_t x) const {
    const auto codes = [&](std::size_t c) { return permuted(in.channel[c], order); };
    VU16 pixels[4];
    interleave(codes(blue_first ? 2 : 0), codes(1), codes(blue_first ? 0 : 2),
               keeps_alpha ? codes(3) : hn::Set(D8(), 255), pixels);
    for (std::size_t k = 0; k < 4; ++k)
      hn::StoreU(hn::BitCast(D8(), pixels[k]), D8(), job.out[0] + 4 * x + k * lanes8);
  }
};

template <bool blue_first>
struct Packed3 {
  static constexpr std::size_t bytes = 3;
  static constexpr std::size_t parts = 1;
  Indices order;
  HWY_INLINE explicit Packed3(const FusedWriteSetup&)
      : order(hn::SetTableIndices(D32(), unpack.at)) {}

  HWY_INLINE void put(const ResultCodes& in, const FusedWriteJob& job, std::size_t x) const {
    const auto codes = [&](std::size_t c) { return permuted(in.channel[c], order); };
    hn::StoreInterleaved3(codes(blue_first ? 2 : 0), codes(1), codes(blue_first ? 0 : 2), D8(),
                          job.out[0] + 3 * x);
  }
};

struct Planes {
  static constexpr std::size_t bytes = 1;
  static constexpr std::size_t parts = 3;
  Indices order;
  V8 flip;
  HWY_INLINE explicit Planes(const FusedWriteSetup& setup)
      : order(hn::SetTableIndices(D32(), unpack.at)), flip(hn::Set(D8(), setup.flip)) {}

  HWY_INLINE void put(const ResultCodes& in, const FusedWriteJob& job, std::size_t x) const {
    for (std::size_t c = 0; c < 3; ++c)
      hn::StoreU(hn::Xor(permuted(in.channel[c], order), flip), D8(), job.out[c] + x);
  }
};

// A row shorter than a vector is written through a buffer; otherwise the last vector overlaps
// the one before.
template <class Change, bool keeps_alpha, class To>
HWY_NOINLINE void paint(const FusedWriteSetup& setup, const FusedWriteJob& given) {
  const FusedWriteJob job = given;  // a local copy: the stores do not change it
  const Change change(setup.fixed);
  const To to(setup);
  const auto codes = [&](std::size_t x) {
    ResultCodes out;
    change.codes(job, x, out);
    if constexpr (keeps_alpha) out.channel[3] = kept(job.in[3] + x);
    return out;
  };
  if (job.width < lanes8) {
    HWY_ALIGN std::uint8_t rest[To::parts][lanes8 * To::bytes];
    FusedWriteJob short_row = job;
    for (std::size_t p = 0; p < To::parts; ++p)
      short_row.out[p] = rest[p];
    to.put(codes(0), short_row, 0);
    for (std::size_t p = 0; p < To::parts; ++p)
      std::memcpy(job.out[p], rest[p], job.width * To::bytes);
    return;
  }
  std::size_t x = 0;
  for (; x + lanes8 <= job.width; x += lanes8)
    to.put(codes(x), job, x);
  if (x != job.width) to.put(codes(job.width - lanes8), job, job.width - lanes8);
}

template <class Change, bool blue_first>
void paint_packed(const FusedWriteSetup& setup, const FusedWriteJob& job) {
  if (setup.store == Store::packed3) return paint<Change, false, Packed3<blue_first>>(setup, job);
  if (!setup.keeps_alpha) return paint<Change, false, Packed4<false, blue_first>>(setup, job);
  // Only RGB sources have alpha.
  paint<FromRgb, true, Packed4<true, blue_first>>(setup, job);
}

template <class Change>
void paint_from(const FusedWriteSetup& setup, const FusedWriteJob& job) {
  if (setup.store == Store::planes) return paint<Change, false, Planes>(setup, job);
  setup.blue_first ? paint_packed<Change, true>(setup, job)
                   : paint_packed<Change, false>(setup, job);
}

void PaintRow(const FusedWriteSetup& setup, const FusedWriteJob& job) {
  setup.from_yuv ? paint_from<FusedFromYuv>(setup, job) : paint_from<FromRgb>(setup, job);
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(PaintRow);

void fused_write_row(const FusedWriteSetup& setup, const FusedWriteJob& job) {
  HWY_DYNAMIC_DISPATCH(PaintRow)(setup, job);
}

}  // namespace halyard::image
#endif
