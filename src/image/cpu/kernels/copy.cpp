// SPDX-License-Identifier: Apache-2.0
// Copies of rows with mirrored or reordered elements, and streaming copies. Bytes only move: there
// is no arithmetic.
#include "image/cpu/kernels/copy.h"

#include <algorithm>
#include <cstring>

// Enables the portable target. GCC before 12.3 gets its high halves of products wrong; this file
// has none.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/copy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void MoveElement(const RowMove& move, const std::byte* in, std::byte* out) {
  for (std::size_t k = 0; k < move.element_bytes; ++k)
    out[k] = in[move.order[k]];
}

// Moves whole vectors of elements whose size divides 16. Returns the number of elements moved.
std::size_t move_vectors(const RowMove& move, const std::byte* in, std::size_t count,
                         const std::uint8_t* order, std::byte* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto table = hn::LoadDup128(d, order);
  const std::size_t step = hn::Lanes(d) / move.element_bytes;
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const std::size_t at = (move.mirrored ? count - i - step : i) * move.element_bytes;
    const auto v = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(in + at));
    const auto moved = hn::TableLookupBytes(v, table);
    hn::StoreU(move.mirrored ? hn::ReverseBlocks(d, moved) : moved, d,
               reinterpret_cast<std::uint8_t*>(out + i * move.element_bytes));
  }
  return i;
}

// Sixteen bytes hold five elements of three bytes and one byte more. That byte is read too, before
// the elements of a mirrored row and behind those of others, and one byte more is written.
void MoveRow(const RowMove& move, const std::byte* in, std::size_t count, std::byte* out) {
  const hn::Full128<std::uint8_t> d;
  const std::size_t bytes = move.element_bytes;
  const std::size_t group = 16 / bytes;
  const std::size_t beside = 16 - group * bytes;
  HWY_ALIGN std::uint8_t order[16] = {};
  for (std::size_t i = 0; i < group * bytes; ++i) {
    const std::size_t element = move.mirrored ? group - 1 - i / bytes : i / bytes;
    order[i] = static_cast<std::uint8_t>((move.mirrored ? beside : 0) + element * bytes +
                                         move.order[i % bytes]);
  }
  const auto table = hn::Load(d, order);
  std::size_t i = beside == 0 ? move_vectors(move, in, count, order, out) : 0;
  for (; i + group + (beside != 0 ? 1 : 0) <= count; i += group) {
    const std::byte* from = in + (move.mirrored ? (count - i - group) * bytes - beside : i * bytes);
    const auto v = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from));
    hn::StoreU(hn::TableLookupBytes(v, table), d, reinterpret_cast<std::uint8_t*>(out + i * bytes));
  }
  for (; i < count; ++i)
    MoveElement(move, in + (move.mirrored ? count - 1 - i : i) * bytes, out + i * bytes);
}

void StreamBytes(const std::byte* in, std::size_t count, std::byte* out) {
  constexpr std::size_t line = 64;
  const hn::CappedTag<std::uint8_t, line> d;
  const std::size_t address = reinterpret_cast<std::uintptr_t>(out) % line;
  const std::size_t head = std::min((line - address) % line, count);
  std::memcpy(out, in, head);
  std::size_t at = head;
  for (; at + line <= count; at += line) {
    for (std::size_t i = 0; i < line; i += hn::Lanes(d)) {
      const auto v = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(in + at + i));
      hn::Stream(v, d, reinterpret_cast<std::uint8_t*>(out + at + i));
    }
  }
  std::memcpy(out + at, in + at, count - at);
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(MoveRow);
HWY_EXPORT(StreamBytes);

void move_row(const RowMove& move, const std::byte* in, std::size_t count,
              std::byte* out) noexcept {
  HWY_DYNAMIC_DISPATCH(MoveRow)(move, in, count, out);
}

void stream_bytes(const std::byte* in, std::size_t count, std::byte* out) noexcept {
  HWY_DYNAMIC_DISPATCH(StreamBytes)(in, count, out);
}

void finish_streams() noexcept {
  hwy::FlushStream();
}

}  // namespace halyard::image
#endif
