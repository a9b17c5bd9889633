// SPDX-License-Identifier: Apache-2.0
// YUV to RGB of the same size in 16-bit integers, with the same bits on every target. Sums have 6
// fractional bits. Luma is the high half of an unsigned product: at most 255 * 1.17 * 2^6 < 2^15.
// Chroma terms are MulFixedPoint15 products of (code - 128) * 2^8 and coefficients below 1, and fit
// too. Where luma plus chroma leaves the 16 bits it saturates, far outside [0, 255].
#include "image/cpu/kernels/yuv_rgb.h"

#include <algorithm>
#include <cstring>

// Packing within blocks needs vectors with a known count of blocks. Processors without vectors use
// Highway's emulation of them.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/yuv_rgb.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "image/cpu/kernels/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Out = std::array<std::uint8_t*, 3>;
using Feed = YuvRgbJob::Feed;
using Store = YuvRgbJob::Store;
// Order of 4-byte groups after a load: interleaving within blocks then gives whole vectors of
// pixels in order. Part k of each block, over all blocks, becomes vector k. Of luma or pairs (four
// pixels each) ...
constexpr Table load_pairs =
    table_of([](std::size_t block, std::size_t i) { return i * blocks + block; });
// ... and of packed YUV.
constexpr Table load_packed =
    table_of([](std::size_t block, std::size_t i) { return (i / 2 * blocks + block) * 2 + i % 2; });
constexpr Table load_as_is =
    table_of([](std::size_t block, std::size_t i) { return 4 * block + i; });
// Joins the three groups of each block that remain after Squeeze.
constexpr Table squeeze = table_of([](std::size_t block, std::size_t i) {
  const std::size_t at = std::min(4 * block + i, 3 * blocks - 1);
  return at / 3 * 4 + at % 3;
});

// Drops the last of the four bytes of every pixel, and may reverse the others.
struct Squeeze {
  Indices groups;
  V8 within;

  HWY_INLINE explicit Squeeze(bool reverses)
      : groups(hn::SetTableIndices(D32(), squeeze.at)), within(bytes(reverses)) {}
  // Stores a whole vector, whose last quarter holds no pixels.
  HWY_INLINE void store(VU16 pixels, std::uint8_t* to) const {
    const V8 in_blocks = hn::TableLookupBytes(hn::BitCast(D8(), pixels), within);
    hn::StoreU(permuted(in_blocks, groups), D8(), to);
  }

 private:
  static HWY_INLINE V8 bytes(bool reverses) {
    HWY_ALIGN static constexpr std::uint8_t squeezed[2][16] = {
        {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15},
        {2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 15, 15, 15, 15}};
    return hn::LoadDup128(D8(), squeezed[reverses ? 1 : 0]);
  }
};

struct Constants {
  V8 y_offset, y_half, flip;
  VU16 y_scale;
  V16 first, second, first_green, second_green;  // packed feeds: the first of each alternates both
  V8 spread_first, spread_second;
  Indices load, unpack;
  Squeeze squeeze;
};

// Lanes a, b, a, b, ...
HWY_INLINE V16 alternate(std::int16_t a, std::int16_t b) {
  const auto both = static_cast<std::uint32_t>(static_cast<std::uint16_t>(a)) |
                    static_cast<std::uint32_t>(static_cast<std::uint16_t>(b)) << 16;
  return hn::BitCast(D16(), hn::Set(D32(), both));
}

template <Feed feed>
HWY_INLINE Constants constants_of(const YuvRgbJob& job) {
  const D16 d;
  const YuvRgbMatrix& m = job.matrix;
  constexpr bool pairs = feed == Feed::luma_and_pairs;
  HWY_ALIGN static constexpr std::uint8_t even[16] = {0, 1, 0, 1, 4,  5,  4,  5,
                                                      8, 9, 8, 9, 12, 13, 12, 13};
  HWY_ALIGN static constexpr std::uint8_t odd[16] = {2,  3,  2,  3,  6,  7,  6,  7,
                                                     10, 11, 10, 11, 14, 15, 14, 15};
  const bool packed = job.store == Store::packed3 || job.store == Store::packed4;
  return {hn::Set(D8(), m.y_offset),
          hn::Set(D8(), m.y_half),
          hn::Set(D8(), job.flip),
          hn::Set(DU16(), m.y_scale),
          pairs ? hn::Set(d, m.first) : alternate(m.first, m.second),
          hn::Set(d, m.second),
          pairs ? hn::Set(d, m.first_green) : alternate(m.first_green, m.second_green),
          hn::Set(d, m.second_green),
          hn::LoadDup128(D8(), even),
          hn::LoadDup128(D8(), odd),
          hn::SetTableIndices(D32(), !packed ? load_as_is.at
                                     : pairs ? load_pairs.at
                                             : load_packed.at),
          hn::SetTableIndices(D32(), unpack.at),
          Squeeze(!job.first_leads)};
}

// The chroma terms of both halves of a vector of pixels.
struct ChromaLanes {
  V16 first[2], green[2], second[2];
};

HWY_INLINE ChromaLanes chroma_of_pairs(const Constants& c, V8 pairs) {
  const D16 d;
  const DU16 du;
  const auto centred = hn::BitCast(du, hn::Xor(pairs, hn::Set(D8(), 0x80)));
  const V16 a = hn::BitCast(d, hn::ShiftLeft<8>(centred));
  const V16 b = hn::BitCast(d, hn::And(centred, hn::Set(du, 0xFF00)));
  const V16 first = hn::MulFixedPoint15(a, c.first);
  const V16 second = hn::MulFixedPoint15(b, c.second);
  const V16 green =
      hn::Add(hn::MulFixedPoint15(a, c.first_green), hn::MulFixedPoint15(b, c.second_green));
  return {{hn::InterleaveLower(d, first, first), hn::InterleaveUpper(d, first, first)},
          {hn::InterleaveLower(d, green, green), hn::InterleaveUpper(d, green, green)},
          {hn::InterleaveLower(d, second, second), hn::InterleaveUpper(d, second, second)}};
}

// Scales luma, whose low byte holds the rounding half.
HWY_INLINE V16 scaled(const Constants& c, VU16 luma) {
  return hn::BitCast(D16(), hn::MulHigh(luma, c.y_scale));
}

struct Luma {
  V16 half[2];
};

HWY_INLINE Luma luma_of_bytes(const Constants& c, V8 bytes) {
  const DU16 du;
  const V8 above = hn::SaturatedSub(bytes, c.y_offset);
  return {{scaled(c, hn::BitCast(du, hn::InterleaveLower(D8(), c.y_half, above))),
           scaled(c, hn::BitCast(du, hn::InterleaveUpper(D8(), c.y_half, above)))}};
}

// One vector of packed YUV holds half a vector of pixels.
template <Feed feed>
HWY_INLINE V16 luma_of_packed(const Constants& c, VU16 in) {
  const DU16 du;
  const VU16 high = hn::Set(du, 0xFF00);
  const VU16 luma = feed == Feed::luma_low ? hn::ShiftLeft<8>(in) : hn::And(in, high);
  const VU16 offset = hn::And(hn::BitCast(du, c.y_offset), high);
  const VU16 half = hn::AndNot(high, hn::BitCast(du, c.y_half));
  return scaled(c, hn::Or(hn::SaturatedSub(luma, offset), half));
}

template <Feed feed>
HWY_INLINE void chroma_of_packed(const Constants& c, VU16 in, std::size_t half, ChromaLanes& out) {
  const D16 d;
  const DU16 du;
  const VU16 chroma =
      feed == Feed::luma_low ? hn::And(in, hn::Set(du, 0xFF00)) : hn::ShiftLeft<8>(in);
  const V16 centred = hn::BitCast(d, hn::Xor(chroma, hn::Set(du, 0x8000)));
  const V16 terms = hn::MulFixedPoint15(centred, c.first);
  const V16 greens = hn::MulFixedPoint15(centred, c.first_green);
  out.first[half] = hn::TableLookupBytes(terms, hn::BitCast(d, c.spread_first));
  out.second[half] = hn::TableLookupBytes(terms, hn::BitCast(d, c.spread_second));
  out.green[half] =
      hn::Add(greens, hn::BitCast(d, hn::RotateRight<16>(hn::BitCast(D32(), greens))));
}

HWY_INLINE V8 codes_of(V16 low, V16 high) {
  return pack_in_blocks(hn::ShiftRight<6>(low), hn::ShiftRight<6>(high));
}

template <bool streams>
HWY_INLINE void put(V8 v, std::uint8_t* to) {
  if constexpr (streams) {
    hn::Stream(v, D8(), to);
  } else {
    hn::StoreU(v, D8(), to);
  }
}

template <Store store, bool streams>
HWY_INLINE void put_packed(const Constants& c, V8 c0, V8 c1, V8 c2, std::uint8_t* to) {
  VU16 pixels[4];
  interleave(c0, c1, c2, hn::Set(D8(), 255), pixels);
  for (std::size_t k = 0; k < 4; ++k) {
    if constexpr (store == Store::packed3) {
      c.squeeze.store(pixels[k], to + k * lanes8 / 4 * 3);
    } else {
      put<streams>(hn::BitCast(D8(), pixels[k]), to + k * lanes8);
    }
  }
}

template <Feed feed, bool streams>
HWY_INLINE void put_plane(const Constants& c, V8 codes, std::uint8_t* to) {
  const V8 in_order = feed == Feed::luma_and_pairs ? codes : permuted(codes, c.unpack);
  put<streams>(hn::Xor(in_order, c.flip), to);
}

template <Feed feed, Store store, bool first_leads, bool streams>
HWY_INLINE void put_pixels(const Constants& c, const Luma& l, const ChromaLanes& chroma,
                           const Out& out, std::size_t x) {
  if constexpr (store == Store::grey) {
    return put_plane<feed, streams>(c, codes_of(l.half[0], l.half[1]), out[0] + x);
  }
  const V8 first = codes_of(hn::SaturatedAdd(l.half[0], chroma.first[0]),
                            hn::SaturatedAdd(l.half[1], chroma.first[1]));
  const V8 green = codes_of(hn::SaturatedSub(l.half[0], chroma.green[0]),
                            hn::SaturatedSub(l.half[1], chroma.green[1]));
  const V8 second = codes_of(hn::SaturatedAdd(l.half[0], chroma.second[0]),
                             hn::SaturatedAdd(l.half[1], chroma.second[1]));
  if constexpr (store == Store::planes) {
    put_plane<feed, streams>(c, first, out[0] + x);
    put_plane<feed, streams>(c, green, out[1] + x);
    put_plane<feed, streams>(c, second, out[2] + x);
  } else {
    constexpr std::size_t bytes = store == Store::packed3 ? 3 : 4;
    put_packed<store, streams>(c, first_leads ? first : second, green, first_leads ? second : first,
                               out[0] + bytes * x);
  }
}

// Converts lanes8 pixels from x on, of all rows.
template <Feed feed, Store store, bool first_leads, bool streams, std::size_t rows>
HWY_INLINE void convert_at(const YuvRgbJob& job, const Constants& c, std::size_t x) {
  const D8 d;
  ChromaLanes chroma = {};
  if constexpr (feed == Feed::luma_and_pairs) {
    if constexpr (store != Store::grey)
      chroma = chroma_of_pairs(c, permuted(hn::LoadU(d, job.pairs + x), c.load));
    for (std::size_t r = 0; r < rows; ++r) {
      const Luma l = luma_of_bytes(c, permuted(hn::LoadU(d, job.luma[r] + x), c.load));
      put_pixels<feed, store, first_leads, streams>(c, l, chroma, job.out[r], x);
    }
  } else {
    Luma l = {};
    for (std::size_t half = 0; half < 2; ++half) {
      const V8 bytes = hn::LoadU(d, job.luma[0] + 2 * x + half * lanes8);
      const VU16 in = hn::BitCast(DU16(), permuted(bytes, c.load));
      l.half[half] = luma_of_packed<feed>(c, in);
      if constexpr (store != Store::grey) chroma_of_packed<feed>(c, in, half, chroma);
    }
    put_pixels<feed, store, first_leads, streams>(c, l, chroma, job.out[0], x);
  }
}

// Converts the pixels that do not fill a vector, through buffers on both sides.
template <Feed feed, Store store, bool first_leads, std::size_t rows>
HWY_NOINLINE void convert_rest(const YuvRgbJob& job, const Constants& c, std::size_t x) {
  constexpr std::size_t parts = store == Store::planes ? 3 : 1;
  constexpr std::size_t bytes = store == Store::packed3 ? 3 : store == Store::packed4 ? 4 : 1;
  const std::size_t count = std::min(static_cast<std::size_t>(job.width) - x, lanes8);
  const std::size_t even = (count + 1) / 2 * 2;  // the last pair is whole
  HWY_ALIGN std::uint8_t luma[rows][2 * lanes8] = {};
  HWY_ALIGN std::uint8_t pairs[lanes8] = {};
  HWY_ALIGN std::uint8_t out[rows][parts][4 * lanes8];
  YuvRgbJob rest = job;
  for (std::size_t r = 0; r < rows; ++r) {
    if (feed == Feed::luma_and_pairs) std::memcpy(luma[r], job.luma[r] + x, count);
    if (feed != Feed::luma_and_pairs) std::memcpy(luma[r], job.luma[r] + 2 * x, 2 * even);
    rest.luma[r] = luma[r];
    for (std::size_t k = 0; k < parts; ++k)
      rest.out[r][k] = out[r][k];
  }
  if (feed == Feed::luma_and_pairs && store != Store::grey) std::memcpy(pairs, job.pairs + x, even);
  rest.pairs = pairs;
  convert_at<feed, store, first_leads, false, rows>(rest, c, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < parts; ++k)
      std::memcpy(job.out[r][k] + bytes * x, out[r][k], bytes * count);
  }
}

template <Feed feed, Store store, bool first_leads, bool streams, std::size_t rows>
void convert(const YuvRgbJob& job) {
  const Constants c = constants_of<feed>(job);
  const auto width = static_cast<std::size_t>(job.width);
  // packed3 also writes the bytes of a twelfth more pixels.
  constexpr std::size_t whole = store == Store::packed3 ? lanes8 + (lanes8 + 11) / 12 : lanes8;
  std::size_t x = 0;
  for (; x + whole <= width; x += lanes8)
    convert_at<feed, store, first_leads, streams, rows>(job, c, x);
  for (; x < width; x += lanes8)
    convert_rest<feed, store, first_leads, rows>(job, c, x);
}

bool can_stream(const YuvRgbJob& job) {
  std::uintptr_t any = 0;  // unused parts are null
  for (const Out& row : job.out)
    any |= reinterpret_cast<std::uintptr_t>(row[0]) | reinterpret_cast<std::uintptr_t>(row[1]) |
           reinterpret_cast<std::uintptr_t>(row[2]);
  return job.streams && any % lanes8 == 0;
}

template <Feed feed, Store store, bool first_leads, std::size_t rows>
void convert_streaming(const YuvRgbJob& job) {
  if constexpr (store != Store::packed3) {
    if (can_stream(job)) return convert<feed, store, first_leads, true, rows>(job);
  }
  convert<feed, store, first_leads, false, rows>(job);
}

template <Feed feed, std::size_t rows>
void convert_fed(const YuvRgbJob& job) {
  switch (job.store) {
    case Store::grey:
      return convert_streaming<feed, Store::grey, false, 1>(job);
    case Store::packed3:
      return convert_streaming<feed, Store::packed3, true, rows>(job);  // Squeeze has the order
    case Store::packed4:
      return job.first_leads ? convert_streaming<feed, Store::packed4, true, rows>(job)
                             : convert_streaming<feed, Store::packed4, false, rows>(job);
    case Store::planes:
      return convert_streaming<feed, Store::planes, false, rows>(job);
  }
}

void YuvRgbRows(const YuvRgbJob& job) {
  switch (job.feed) {
    case Feed::luma_and_pairs:
      return job.rows == 2 ? convert_fed<Feed::luma_and_pairs, 2>(job)
                           : convert_fed<Feed::luma_and_pairs, 1>(job);
    case Feed::luma_low:
      return convert_fed<Feed::luma_low, 1>(job);
    case Feed::luma_high:
      return convert_fed<Feed::luma_high, 1>(job);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(YuvRgbRows);

void yuv_rgb_rows(const YuvRgbJob& job) {
  HWY_DYNAMIC_DISPATCH(YuvRgbRows)(job);
}

void finish_yuv_rgb_streams() {
  hwy::FlushStream();
}

}  // namespace halyard::image
#endif
