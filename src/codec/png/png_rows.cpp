// SPDX-License-Identifier: Apache-2.0
#include "codec/png/png_rows.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace halyard::codec {
namespace {

template <class In>
In luma(const In* pixel) {
  // BT.601 weights in 16 bits, as libjpeg has them; they sum to 65536.
  return static_cast<In>((19595U * pixel[0] + 38470U * pixel[1] + 7471U * pixel[2] + 32768U) >> 16);
}

// v * 255 / 65535 rounded, without a division.
constexpr unsigned nearest_code(std::uint16_t v) noexcept {
  return (v * 255U + 32895U) >> 16U;
}

template <class In, class Out>
Out convert_sample(In v) {
  constexpr bool wide = sizeof(In) == 2;
  if constexpr (std::is_same_v<Out, float>) {
    return static_cast<float>(v) / static_cast<float>(std::numeric_limits<In>::max());
  } else if constexpr (std::is_same_v<Out, std::uint16_t>) {
    return static_cast<std::uint16_t>(wide ? v : v * 257U);
  } else {
    const unsigned byte = wide ? nearest_code(v) : v;
    return static_cast<Out>(std::is_same_v<Out, std::int8_t> ? byte ^ 0x80U : byte);
  }
}

template <class In, class Out>
void convert_row(const RowJob& job) {
  const auto* in = reinterpret_cast<const In*>(job.in);
  auto* out = reinterpret_cast<Out*>(job.out);
  if (job.format == PixelFormat::grey) {
    for (std::size_t x = 0; x < job.width; ++x, in += job.in_channels) {
      out[x] = convert_sample<In, Out>(job.in_channels >= 3 ? luma(in) : in[0]);
    }
    return;
  }
  const std::size_t channels = info(job.format).channels;
  const bool swapped = job.format == PixelFormat::bgra;
  for (std::size_t x = 0; x < job.width; ++x, in += job.in_channels, out += channels) {
    out[0] = convert_sample<In, Out>(in[swapped ? 2 : 0]);
    out[1] = convert_sample<In, Out>(in[1]);
    out[2] = convert_sample<In, Out>(in[swapped ? 0 : 2]);
    if (channels == 4) out[3] = convert_sample<In, Out>(in[3]);
  }
}

template <class In>
RowConverter converter_to(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return convert_row<In, std::uint8_t>;
    case DType::i8:
      return convert_row<In, std::int8_t>;
    case DType::u16:
      return convert_row<In, std::uint16_t>;
    default:
      return convert_row<In, float>;
  }
}

// One sample in host order.
template <class T>
T sample_at(const std::uint8_t* in, std::size_t index) {
  if constexpr (sizeof(T) == 1) {
    return in[index];
  } else {
    return static_cast<T>(in[2 * index] << 8 | in[2 * index + 1]);
  }
}

template <class T, std::size_t stored, std::size_t channels>
void spread_row(const SpreadJob& job) {
  if constexpr (sizeof(T) == 1 && stored == channels) {
    std::memcpy(job.out, job.in, job.width * channels);
    return;
  }
  auto* out = reinterpret_cast<T*>(job.out);
  const std::uint8_t* in = job.in;
  for (std::size_t x = 0; x < job.width; ++x, in += stored * sizeof(T), out += channels) {
    if constexpr (stored == channels) {
      for (std::size_t c = 0; c < channels; ++c)
        out[c] = sample_at<T>(in, c);
    } else {
      constexpr bool is_color = stored >= 3;
      for (std::size_t c = 0; c < 3; ++c)
        out[c] = sample_at<T>(in, is_color ? c : 0);
      if constexpr (channels == 4) {
        constexpr bool has_alpha = stored % 2 == 0;
        out[3] = has_alpha ? sample_at<T>(in, stored - 1) : std::numeric_limits<T>::max();
      }
    }
  }
}

template <std::size_t channels>
void spread_palette_row(const SpreadJob& job) {
  std::byte* out = job.out;
  for (std::size_t x = 0; x < job.width; ++x, out += channels)
    std::memcpy(out, (*job.palette)[job.in[x]].data(), channels);
}

template <class T, std::size_t stored>
RowSpreader spreader_from(std::size_t channels) {
  if (channels == 4) return spread_row<T, stored, 4>;
  if (channels == 3) return spread_row<T, stored, 3>;
  if (stored >= 3 || channels != stored) return nullptr;
  return spread_row<T, stored, stored>;
}

template <class T>
RowSpreader spreader_of(unsigned color_type, std::size_t channels) {
  switch (color_type) {
    case 0:
      return spreader_from<T, 1>(channels);
    case 2:
      return spreader_from<T, 3>(channels);
    case 4:
      return spreader_from<T, 2>(channels);
    default:
      return spreader_from<T, 4>(channels);
  }
}

}  // namespace

RowConverter row_converter(bool is_wide, DType dtype) noexcept {
  return is_wide ? converter_to<std::uint16_t>(dtype) : converter_to<std::uint8_t>(dtype);
}

void swap_red_and_blue(std::byte* row, std::size_t width) noexcept {
  for (std::size_t x = 0; x < width; ++x)
    std::swap(row[4 * x], row[4 * x + 2]);
}

RowSpreader row_spreader(unsigned color_type, bool is_wide, std::size_t channels) noexcept {
  if (color_type == 3) {
    if (is_wide || channels < 3) return nullptr;
    return channels == 4 ? spread_palette_row<4> : spread_palette_row<3>;
  }
  return is_wide ? spreader_of<std::uint16_t>(color_type, channels)
                 : spreader_of<std::uint8_t>(color_type, channels);
}

}  // namespace halyard::codec
