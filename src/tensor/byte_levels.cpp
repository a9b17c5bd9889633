// SPDX-License-Identifier: Apache-2.0
// Gathers elements, then shifts or stretches them to 8 bits.
#include "halyard/byte_levels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/text/format_error.h"
#include "halyard/strided_copy.h"

namespace halyard {
namespace {

// Writes the elements one after the other, seen as elements of `dtype`.
Status gather(Layout from, const std::byte* source, DType dtype, void* out) {
  from.dtype = dtype;
  HALYARD_TRY(const Layout to, Layout::contiguous(dtype, from.dims()));
  copy_elements(from, source, to, static_cast<std::byte*>(out));
  return {};
}

Status shift(const Layout& from, const std::byte* source, std::span<std::uint8_t> out) {
  static_assert(std::endian::native == std::endian::little);
  const std::byte* const highest = source + size_of(from.dtype) - 1;
  HALYARD_RETURN_IF_ERROR(gather(from, highest, DType::u8, out.data()));
  // Two's complement with an inverted sign bit counts from the lowest value on.
  if (from.dtype == DType::i8 || from.dtype == DType::i16 || from.dtype == DType::i32)
    for (std::uint8_t& byte : out)
      byte ^= 0x80;
  return {};
}

template <class T>
float real_of(T value) noexcept {
  if constexpr (std::is_same_v<T, Half>)
    return to_float(value);
  else
    return static_cast<float>(value);
}

template <class T>
Status stretch(const Layout& from, const std::byte* source, std::span<std::uint8_t> out) {
  std::vector<T> numbers(out.size());
  HALYARD_RETURN_IF_ERROR(gather(from, source, from.dtype, numbers.data()));
  float lowest = std::numeric_limits<float>::infinity();
  float highest = -lowest;
  for (const T number : numbers) {
    const float real = real_of(number);
    if (!std::isfinite(real)) continue;
    lowest = std::min(lowest, real);
    highest = std::max(highest, real);
  }
  if (lowest > highest) lowest = highest = 0;  // none is finite
  const float scale = highest > lowest ? 255.0F / (highest - lowest) : 0.0F;
  std::ranges::transform(numbers, out.begin(), [&](T number) {
    const float real = real_of(number);
    const float level =
        std::isnan(real) ? 0.0F : (std::clamp(real, lowest, highest) - lowest) * scale;
    return static_cast<std::uint8_t>(std::lround(level));
  });
  return {};
}

}  // namespace

Status byte_levels(const Layout& from, const std::byte* source, std::uint8_t* out) {
  const std::span<std::uint8_t> bytes(out, from.element_count());
  if (is_integer(from.dtype) && size_of(from.dtype) <= 4) return shift(from, source, bytes);
  if (from.dtype == DType::f16) return stretch<Half>(from, source, bytes);
  if (from.dtype == DType::f32) return stretch<float>(from, source, bytes);
  if (from.dtype == DType::f64) return stretch<double>(from, source, bytes);
  return fail(Errc::unsupported, "numbers: must be integers of 8, 16 or 32 bits, f16, f32 or f64",
              "{}", to_string(from.dtype));
}

}  // namespace halyard
