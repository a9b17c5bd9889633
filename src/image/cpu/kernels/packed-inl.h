// SPDX-License-Identifier: Apache-2.0
// Packs and interleaves bytes within blocks of 16 bytes, and permutes the blocks into order.
// Packing saturates 16-bit values to [0, 255]. Included once per target: the include guard follows
// the toggle of foreach_target.h.
#if defined(HALYARD_IMAGE_PACKED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HALYARD_IMAGE_PACKED_INL_H
#undef HALYARD_IMAGE_PACKED_INL_H
#else
#define HALYARD_IMAGE_PACKED_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using DU16 = hn::Repartition<std::uint16_t, D8>;
using D16 = hn::RebindToSigned<DU16>;
using D32 = hn::Repartition<std::uint32_t, D8>;
using V8 = hn::Vec<D8>;
using VU16 = hn::Vec<DU16>;
using V16 = hn::Vec<D16>;
using Indices = decltype(hn::SetTableIndices(D32(), static_cast<const std::uint32_t*>(nullptr)));

constexpr std::size_t lanes32 = hn::MaxLanes(D32());
constexpr std::size_t blocks = lanes32 / 4;
constexpr std::size_t lanes8 = 4 * lanes32;

// Packs both to bytes, clamped to [0, 255]: within each block first those of `low`, then those of
// `high`.
HWY_INLINE V8 pack_in_blocks(V16 low, V16 high) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return V8{_mm512_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V8{_mm256_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_SSE4
  return V8{_mm_packus_epi16(low.raw, high.raw)};
#else
  static_assert(blocks == 1);
  const hn::Rebind<std::uint8_t, D16> half;
  return hn::Combine(D8(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
}

struct alignas(64) Table {
  std::uint32_t at[lanes32];
};

// A permutation of 32-bit groups: place i of a block receives group(block, i).
template <class Group>
constexpr Table table_of(const Group& group) {
  Table table{};
  for (std::size_t i = 0; i < lanes32; ++i)
    table.at[i] = static_cast<std::uint32_t>(group(i / 4, i % 4));
  return table;
}

// Restores the order of pixels from packed blocks (8 codes of one vector, 8 of the next).
constexpr Table unpack = table_of([](std::size_t block, std::size_t i) {
  const std::size_t at = 4 * block + i;
  const std::size_t half = lanes32 / 2;
  return at < half ? at / 2 * 4 + at % 2 : (at - half) / 2 * 4 + 2 + at % 2;
});
// A vector of one block needs no permutation.
HWY_INLINE V8 permuted(V8 v, const Indices& indices) {
  if constexpr (blocks == 1) return v;
  return hn::BitCast(D8(), hn::TableLookupLanes(hn::BitCast(D32(), v), indices));
}

// Interleaves four channels to pixels of four bytes: vector k holds a quarter of each block's
// pixels.
HWY_INLINE void interleave(V8 c0, V8 c1, V8 c2, V8 c3, VU16 (&pixels)[4]) {
  const D8 d;
  const DU16 du;
  const VU16 low01 = hn::BitCast(du, hn::InterleaveLower(d, c0, c1));
  const VU16 high01 = hn::BitCast(du, hn::InterleaveUpper(d, c0, c1));
  const VU16 low23 = hn::BitCast(du, hn::InterleaveLower(d, c2, c3));
  const VU16 high23 = hn::BitCast(du, hn::InterleaveUpper(d, c2, c3));
  pixels[0] = hn::InterleaveLower(du, low01, low23);
  pixels[1] = hn::InterleaveUpper(du, low01, low23);
  pixels[2] = hn::InterleaveLower(du, high01, high23);
  pixels[3] = hn::InterleaveUpper(du, high01, high23);
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#endif
