// SPDX-License-Identifier: Apache-2.0
// Tensor.normalize_to_numpy: bytes of an image as a network's numbers.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "args.h"
#include "enums.h"
#include "tensor/array_view.h"
#include "tensor/strided_copy.h"
#include "tensor/tensor_class.h"

namespace halyard::python {
namespace {

struct Numbers {
  DType dtype;
  Normalization mode;
  int zero_point;
  bool has_zero_point;
};

struct Job {
  const Layout& from;
  const std::byte* in;
  const Layout& to;
  std::byte* out;
};

// Bytes side by side to numbers side by side: a loop that a compiler makes vectors of.
template <class T, class F>
[[gnu::always_inline]] inline void apply_each(const std::uint8_t* from, std::size_t count,
                                              std::byte* to, const F& value_of) {
  for (std::size_t i = 0; i < count; ++i) {
    const T value = value_of(from[i]);
    std::memcpy(to + i * sizeof value, &value, sizeof value);
  }
}

template <class T, class F>
void apply_run(const std::uint8_t* from, std::size_t count, std::byte* to, const F& value_of) {
  apply_each<T>(from, count, to, value_of);
}
#ifdef __x86_64__
// The package is compiled for every x86-64; most have longer vectors.
template <class T, class F>
[[gnu::target("avx2")]] void apply_run_avx2(const std::uint8_t* from, std::size_t count,
                                            std::byte* to, const F& value_of) {
  apply_each<T>(from, count, to, value_of);
}
#endif

// Pixels side by side on both sides: rows are runs of numbers. False: they are not.
template <class T, class F>
bool apply_rows(const Job& job, const F& value_of) {
  const Layout& in = job.from;
  const auto channels = static_cast<std::ptrdiff_t>(job.to.shape[2]);
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  if (in.shape[2] != job.to.shape[2] || in.stride_bytes[1] != channels || in.stride_bytes[2] != 1 ||
      job.to.stride_bytes[1] != channels * size || job.to.stride_bytes[2] != size)
    return false;
  const std::size_t count = job.to.shape[1] * job.to.shape[2];
  auto* run = &apply_run<T, F>;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) run = &apply_run_avx2<T, F>;
#endif
  for (std::size_t y = 0; y < job.to.shape[0]; ++y) {
    const auto row = static_cast<std::ptrdiff_t>(y);
    const auto* from = reinterpret_cast<const std::uint8_t*>(job.in) + row * in.stride_bytes[0];
    run(from, count, job.out + row * job.to.stride_bytes[0], value_of);
  }
  return true;
}

// Each byte as value_of() says, a T.
template <class T, class F>
void apply(const Job& job, const F& value_of) {
  if (apply_rows<T>(job, value_of)) return;
  const Layout& in = job.from;
  for (std::size_t y = 0; y < job.to.shape[0]; ++y) {
    for (std::size_t x = 0; x < job.to.shape[1]; ++x) {
      const auto row = static_cast<std::ptrdiff_t>(y);
      const auto column = static_cast<std::ptrdiff_t>(x);
      const std::byte* from = job.in + row * in.stride_bytes[0] + column * in.stride_bytes[1];
      std::byte* to = job.out + row * job.to.stride_bytes[0] + column * job.to.stride_bytes[1];
      for (std::size_t c = 0; c < job.to.shape[2]; ++c) {
        const T value = value_of(std::to_integer<std::uint8_t>(*from));
        std::memcpy(to, &value, sizeof value);
        from += in.stride_bytes[2];
        to += job.to.stride_bytes[2];
      }
    }
  }
}

// A byte / 255 or / 127.5, rounded once, without a division: 1 / divisor in two parts. The first
// has so few bits that its products with bytes are exact.
template <class T>
struct Quotient {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  static constexpr Quotient one() { return {T{1}, T{0}}; }
  static constexpr Quotient by(T divisor) {
    const T high = std::bit_cast<T>(std::bit_cast<Bits>(T{1} / divisor) & ~Bits{0xFF});
    // 1 - high * divisor is exact: both have few bits.
    return {high, (T{1} - high * divisor) / divisor};
  }
  constexpr T operator()(std::uint8_t value) const {
    return static_cast<T>(value) * high + static_cast<T>(value) * low;
  }
  constexpr bool is_exact_for(T divisor) const {
    for (int v = 0; v < 256; ++v)
      if ((*this)(static_cast<std::uint8_t>(v)) != static_cast<T>(v) / divisor) return false;
    return true;
  }
  T high;
  T low;
};
static_assert(Quotient<float>::by(255.0F).is_exact_for(255.0F));
static_assert(Quotient<float>::by(127.5F).is_exact_for(127.5F));
static_assert(Quotient<double>::by(255.0).is_exact_for(255.0));
static_assert(Quotient<double>::by(127.5).is_exact_for(127.5));

template <class T>
Quotient<T> quotient_of(const Numbers& n) {
  return n.mode == Normalization::raw            ? Quotient<T>::one()
         : n.mode == Normalization::without_sign ? Quotient<T>::by(T{255})
                                                 : Quotient<T>::by(static_cast<T>(127.5));
}

template <class T>
T offset_of(const Numbers& n) {
  if (n.mode != Normalization::with_sign) return T{0};
  return n.has_zero_point ? static_cast<T>(n.zero_point) / static_cast<T>(127.5) : T{1};
}

template <class T>
void apply_scaled(const Job& job, const Numbers& n) {
  const auto quotient = quotient_of<T>(n);
  const T offset = offset_of<T>(n);
  if (offset == T{0}) return apply<T>(job, quotient);
  apply<T>(job, [quotient, offset](std::uint8_t value) { return quotient(value) - offset; });
}

// A float below 65520 in half precision, rounded to nearest even.
std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude < 0x38800000U) {  // subnormal: multiples of 2^-24
    const float steps = std::bit_cast<float>(magnitude) * 0x1p24F;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::nearbyint(steps)));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

// The same in halves: 256 bit patterns.
std::array<std::uint16_t, 256> halves(const Numbers& n) {
  const auto quotient = quotient_of<float>(n);
  const auto offset = offset_of<float>(n);
  std::array<std::uint16_t, 256> table{};
  for (std::size_t v = 0; v < table.size(); ++v)
    table[v] = half_of(quotient(static_cast<std::uint8_t>(v)) - offset);
  return table;
}

// Fills in what normalization DEFAULT means, and refuses what a dtype does not take.
void complete(Numbers& n) {
  if (n.mode == Normalization::automatic)
    n.mode = n.dtype == DType::u8 ? Normalization::raw : Normalization::with_sign;
  if (n.has_zero_point && n.zero_point != 0 && n.mode != Normalization::with_sign)
    raise(Errc::invalid_argument, "zero_point: only with SIGNED");
  const auto needed = n.dtype == DType::u8 ? Normalization::raw : Normalization::with_sign;
  if (!is_float(n.dtype) && n.mode != needed)
    raise(Errc::unsupported, std::string("normalization: uint8 takes RAW, int8 SIGNED (") +
                                 nb::str(enum_to(n.mode)).c_str() + ", " + dtype_name(n.dtype) +
                                 ")");
}

void run(const Job& job, const Numbers& n, const std::array<std::uint16_t, 256>& half_of) {
  const int zero_point = n.has_zero_point ? n.zero_point : 128;
  switch (n.dtype) {
    case DType::u8:
      return apply<std::uint8_t>(job, [](std::uint8_t v) { return v; });
    case DType::i8:
      return apply<std::int8_t>(job, [zero_point](std::uint8_t v) {
        return static_cast<std::int8_t>(std::clamp(v - zero_point, -128, 127));
      });
    case DType::f16:
      return apply<std::uint16_t>(job, [&half_of](std::uint8_t v) { return half_of[v]; });
    case DType::f32:
      return apply_scaled<float>(job, n);
    default:
      return apply_scaled<double>(job, n);
  }
}

void check_image(const Tensor& source, const Layout& to) {
  if (source.dtype() != DType::u8 || source.rank() != 3)
    raise(Errc::unsupported, "tensor: must be a packed image of uint8, shape [H,W,C]");
  const bool drops_alpha =
      source.format() == PixelFormat::rgba && to.shape[2] == 3 && source.shape()[2] == 4;
  if (to.shape[0] != source.shape()[0] || to.shape[1] != source.shape()[1] ||
      (to.shape[2] != source.shape()[2] && !drops_alpha))
    raise(Errc::invalid_argument, "dst: its shape must be the tensor's, [H,W,C]");
}

// Reads and writes with the interpreter released. Where source and destination share bytes, the
// source is copied first.
Status fill(const Tensor& source, const Layout& to, std::byte* out, const Numbers& numbers) {
  HALYARD_TRY(const TensorMap map, source.map_unclaimed(Access::read));
  if (!map.planes_adjacent())
    return make_error(Errc::unsupported, "tensor: its planes lie in several places");
  const auto table = to.dtype == DType::f16 ? halves(numbers) : decltype(halves(numbers)){};
  const Layout& from = map.layout();
  if (!address_range(map.data(), from).overlaps(address_range(out, to))) {
    run({from, map.data(), to, out}, numbers, table);
    return {};
  }
  HALYARD_TRY(const Layout plain, Layout::contiguous(from.dtype, from.dims()));
  std::vector<std::byte> elements(plain.size_bytes());
  copy_in_order(from, map.data(), plain, elements.data());
  run({plain, elements.data(), to, out}, numbers, table);
  return {};
}

// The array comes last: what the other arguments run of Python is over when it is opened.
void normalize(const PyTensor& self, nb::handle dst, nb::handle normalization,
               nb::handle zero_point) {
  const bool has_zero_point = !zero_point.is_none();
  const std::int32_t zero = has_zero_point ? int_from(zero_point, "zero_point") : 0;
  if (zero < 0 || zero > 255) raise(Errc::invalid_argument, "zero_point: must be 0 to 255");
  const auto mode = enum_from<Normalization>(normalization, "normalization");
  const Tensor source = self.value;
  ArrayView output;
  if (!output.open(dst, "dst", ArrayUse::write)) raise_wrong_type("dst", "a writable array", dst);
  if (output.rank() != 3) throw nb::type_error("dst: must have 3 axes");
  const Layout to = output.layout("dst");
  if (!(is_float(to.dtype) || to.dtype == DType::u8 || to.dtype == DType::i8))
    throw nb::type_error("dst: must be uint8, int8, float16, float32 or float64");
  check_image(source, to);
  Numbers numbers{to.dtype, mode, zero, has_zero_point};
  complete(numbers);
  check(released([&] { return fill(source, to, output.writable(), numbers); }));
}

}  // namespace

void add_normalize(TensorClass& cls) {
  cls.def(
      "normalize_to_numpy", &normalize, nb::arg("dst"),
      nb::arg("normalization") = enum_to(Normalization::automatic),
      nb::arg("zero_point") = nb::none(),
      nb::sig("def normalize_to_numpy(self, dst: numpy.ndarray, normalization: NormalizationLike = "
              "Normalization.DEFAULT, zero_point: int | None = None) -> None"),
      "Writes a packed uint8 image into an array [H,W,C] of uint8 (RAW), int8 (SIGNED: v -\n"
      "zero_point, 128 by default) or floats (SIGNED: v / 127.5 - zero_point / 127.5, 1 by\n"
      "default; UNSIGNED: v / 255; RAW: v). Rgba may drop its alpha into 3 channels. Strides\n"
      "are honoured on both sides; dst may share bytes with the image. Raises TypeError for\n"
      "another dst, RuntimeError for shapes that differ and where elements of dst share bytes.");
}

}  // namespace halyard::python
