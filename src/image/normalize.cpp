// SPDX-License-Identifier: Apache-2.0
// normalize_bytes(): rows of pixels side by side go through the kernels, all other strides through
// a table of 256 numbers that the same kernels make.
#include "halyard/normalize.h"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/text/format_error.h"
#include "halyard/strided_copy.h"
#include "image/cpu/kernels/normalize.h"
#include "image/cpu/store/store_value.h"

namespace halyard {
namespace {

using image::ByteQuotient;

struct Arrays {
  const Layout& from;
  const std::byte* in;
  const Layout& to;
  std::byte* out;
};

// 1 / divisor in two parts. 1 - high * divisor is exact: both have few bits.
template <class T>
constexpr ByteQuotient<T> quotient_by(T divisor, T offset) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const T high = std::bit_cast<T>(std::bit_cast<Bits>(T{1} / divisor) & ~Bits{0xFF});
  return {high, (T{1} - high * divisor) / divisor, offset};
}

template <class T>
constexpr bool is_exact_for(T divisor) {
  const auto q = quotient_by(divisor, T{0});
  for (int v = 0; v < 256; ++v)
    if (static_cast<T>(v) * q.high + static_cast<T>(v) * q.low != static_cast<T>(v) / divisor)
      return false;
  return true;
}
static_assert(is_exact_for(255.0F) && is_exact_for(127.5F));
static_assert(is_exact_for(255.0) && is_exact_for(127.5));

template <class T>
ByteQuotient<T> quotient_of(const ByteNormalization& how) {
  constexpr auto half = static_cast<T>(127.5);
  if (how.scale == ByteScale::none) return {};
  if (how.scale == ByteScale::unit) return quotient_by(T{255}, T{0});
  return quotient_by(half, how.zero_point ? static_cast<T>(*how.zero_point) / half : T{1});
}

// run(in, count, out) makes T of bytes side by side.
template <class T, class Run>
void apply(const Arrays& a, const Run& run) {
  const auto channels = static_cast<std::ptrdiff_t>(a.to.shape[2]);
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  const bool are_rows = a.from.shape[2] == a.to.shape[2] && a.from.stride_bytes[1] == channels &&
                        a.from.stride_bytes[2] == 1 && a.to.stride_bytes[1] == channels * size &&
                        a.to.stride_bytes[2] == size;
  std::array<std::uint8_t, 256> bytes{};
  std::array<T, 256> table{};
  if (!are_rows) {
    for (std::size_t v = 0; v < bytes.size(); ++v)
      bytes[v] = static_cast<std::uint8_t>(v);
    run(bytes.data(), bytes.size(), reinterpret_cast<std::byte*>(table.data()));
  }
  for (std::size_t y = 0; y < a.to.shape[0]; ++y) {
    const std::byte* in = a.in + static_cast<std::ptrdiff_t>(y) * a.from.stride_bytes[0];
    std::byte* out = a.out + static_cast<std::ptrdiff_t>(y) * a.to.stride_bytes[0];
    if (are_rows) {
      run(reinterpret_cast<const std::uint8_t*>(in), a.to.shape[1] * a.to.shape[2], out);
      continue;
    }
    for (std::size_t x = 0; x < a.to.shape[1]; ++x) {
      const auto column = static_cast<std::ptrdiff_t>(x);
      for (std::size_t c = 0; c < a.to.shape[2]; ++c) {
        const auto channel = static_cast<std::ptrdiff_t>(c);
        const std::byte v = in[column * a.from.stride_bytes[1] + channel * a.from.stride_bytes[2]];
        std::memcpy(out + column * a.to.stride_bytes[1] + channel * a.to.stride_bytes[2],
                    &table[std::to_integer<std::size_t>(v)], sizeof(T));
      }
    }
  }
}

void normalize_arrays(const Arrays& a, const ByteNormalization& how) {
  switch (a.to.dtype) {
    case DType::u8:
      return apply<std::uint8_t>(a, [](const std::uint8_t* in, std::size_t count, std::byte* out) {
        std::memcpy(out, in, count);
      });
    case DType::i8:
      return apply<std::int8_t>(a, [&](const std::uint8_t* in, std::size_t count, std::byte* out) {
        image::bytes_to_signed(in, count, how.zero_point.value_or(128), out);
      });
    case DType::f16: {
      std::array<std::uint16_t, 256> halves{};
      const auto q = quotient_of<float>(how);
      for (std::size_t v = 0; v < halves.size(); ++v) {
        const auto value = static_cast<float>(v);
        halves[v] = image::f16_bits((value * q.high + value * q.low) - q.offset);
      }
      const auto run = [&halves](const std::uint8_t* in, std::size_t count, std::byte* out) {
        for (std::size_t i = 0; i < count; ++i)
          std::memcpy(out + 2 * i, &halves[in[i]], 2);
      };
      return apply<std::uint16_t>(a, run);
    }
    case DType::f32:
      return apply<float>(a, [q = quotient_of<float>(how)](const std::uint8_t* in,
                                                           std::size_t count, std::byte* out) {
        image::bytes_to_floats(in, count, q, out);
      });
    default:
      return apply<double>(a, [q = quotient_of<double>(how)](const std::uint8_t* in,
                                                             std::size_t count, std::byte* out) {
        image::bytes_to_doubles(in, count, q, out);
      });
  }
}

Status check_normalization(const Layout& from, const Layout& to, const ByteNormalization& how) {
  if (from.dtype != DType::u8 || from.rank != 3)
    return fail(Errc::unsupported, "from: must be u8 of three axes", "{} of {} axes",
                to_string(from.dtype), from.rank);
  const bool is_float = to.dtype == DType::f16 || to.dtype == DType::f32 || to.dtype == DType::f64;
  if ((!is_float && to.dtype != DType::u8 && to.dtype != DType::i8) || to.rank != 3)
    return fail(Errc::unsupported, "to: must be u8, i8, f16, f32 or f64 of three axes",
                "{} of {} axes", to_string(to.dtype), to.rank);
  const bool drops_one = from.shape[2] == 4 && to.shape[2] == 3;
  if (to.shape[0] != from.shape[0] || to.shape[1] != from.shape[1] ||
      (to.shape[2] != from.shape[2] && !drops_one))
    return fail(Errc::invalid_argument, "to: must have the extents of from",
                "{} x {} x {}, from has {} x {} x {}", to.shape[0], to.shape[1], to.shape[2],
                from.shape[0], from.shape[1], from.shape[2]);
  if (how.scale > ByteScale::symmetric)
    return fail(Errc::invalid_argument, "scale: not a value of ByteScale");
  if (!is_float && how.scale != (to.dtype == DType::u8 ? ByteScale::none : ByteScale::symmetric))
    return fail(Errc::unsupported, "scale: u8 takes none, i8 takes symmetric");
  if (how.zero_point && (*how.zero_point < 0 || *how.zero_point > 255))
    return fail(Errc::invalid_argument, "zero_point: must be 0 to 255", "{}", *how.zero_point);
  if (how.zero_point.value_or(0) != 0 && how.scale != ByteScale::symmetric)
    return fail(Errc::invalid_argument, "zero_point: needs ByteScale::symmetric", "{}",
                *how.zero_point);
  return {};
}

}  // namespace

Status normalize_bytes(const Layout& from, const std::byte* source, const Layout& to,
                       std::byte* destination, const ByteNormalization& how) {
  HALYARD_RETURN_IF_ERROR(check_normalization(from, to, how));
  if (!may_share_bytes(from, source, to, destination)) {
    normalize_arrays({from, source, to, destination}, how);
    return {};
  }
  HALYARD_TRY(const Layout plain, Layout::contiguous(from.dtype, from.dims()));
  std::vector<std::byte> elements(plain.size_bytes());
  copy_elements(from, source, plain, elements.data());
  normalize_arrays({plain, elements.data(), to, destination}, how);
  return {};
}

}  // namespace halyard
