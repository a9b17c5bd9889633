// SPDX-License-Identifier: Apache-2.0
// Converts samples of TIFF rows to channels. Samples of 16 bits are in host order.
#include "codec/formats/tiff_rows.h"

#include <algorithm>
#include <limits>

namespace halyard::codec {

TiffRows::TiffRows(const TiffLayout& layout, std::size_t width)
    : layout_(layout),
      width_(width),
      out_(width * layout.channels() * (layout.bits == 16 ? 2 : 1)) {}

const std::byte* TiffRows::read(std::span<const std::byte* const> planes) {
  const bool is_plain = layout_.color == TiffColor::grey || layout_.color == TiffColor::rgb;
  if (layout_.bits >= 8 && is_plain && planes.size() == 1 &&
      layout_.samples == layout_.channels() && layout_.alpha != TiffAlpha::premultiplied) {
    return planes[0];
  }
  if (layout_.bits == 16) {
    gather<std::uint16_t>(planes);
    finish<std::uint16_t>();
  } else if (layout_.bits == 8 && layout_.color != TiffColor::palette) {
    gather<std::uint8_t>(planes);
    finish<std::uint8_t>();
  } else {
    unpack_bits(planes[0]);
  }
  return out_.data();
}

template <class T>
void TiffRows::gather(std::span<const std::byte* const> planes) {
  auto* out = reinterpret_cast<T*>(out_.data());
  const std::size_t channels = layout_.channels();
  const std::size_t step = layout_.is_separate ? 1 : layout_.samples;
  for (std::size_t c = 0; c < channels; ++c) {
    const auto* in = reinterpret_cast<const T*>(planes[layout_.is_separate ? c : 0]) +
                     (layout_.is_separate ? 0 : c);
    for (std::size_t x = 0; x < width_; ++x)
      out[x * channels + c] = in[x * step];
  }
}

template <class T>
void TiffRows::finish() {
  auto* out = reinterpret_cast<T*>(out_.data());
  constexpr T maximum = std::numeric_limits<T>::max();
  if (layout_.color == TiffColor::inverted_grey) {
    for (std::size_t x = 0; x < width_; ++x)
      out[x] = static_cast<T>(maximum - out[x]);
  }
  if (layout_.alpha != TiffAlpha::premultiplied) return;
  for (std::size_t x = 0; x < width_; ++x, out += 4) {
    const std::uint64_t alpha = out[3];
    for (std::size_t c = 0; c < 3; ++c) {
      out[c] = alpha == 0 ? T{0}
                          : static_cast<T>(std::min<std::uint64_t>(
                                maximum, out[c] * std::uint64_t{maximum} / alpha));
    }
  }
}

void TiffRows::unpack_bits(const std::byte* row) {
  auto* out = reinterpret_cast<std::uint8_t*>(out_.data());
  const unsigned maximum = (1U << layout_.bits) - 1;
  const std::size_t step = layout_.is_separate ? 1 : layout_.samples;
  for (std::size_t x = 0; x < width_; ++x) {
    const std::size_t bit = x * step * layout_.bits;
    const unsigned value =
        std::to_integer<unsigned>(row[bit / 8]) >> (8 - layout_.bits - bit % 8) & maximum;
    if (layout_.color == TiffColor::palette) {
      std::copy_n(layout_.palette[value].begin(), 3, out + 3 * x);
    } else {
      const unsigned grey = layout_.color == TiffColor::grey ? value : maximum - value;
      out[x] = static_cast<std::uint8_t>(grey * (255 / maximum));
    }
  }
}

}  // namespace halyard::codec
