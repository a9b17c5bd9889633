// SPDX-License-Identifier: Apache-2.0
// Converts the samples of a TIFF's row to channels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halyard::codec {

enum class TiffColor : std::uint8_t { grey, inverted_grey, palette, rgb };
enum class TiffAlpha : std::uint8_t { none, straight, premultiplied };

struct TiffLayout {
  TiffColor color = TiffColor::grey;
  TiffAlpha alpha = TiffAlpha::none;
  unsigned bits = 8;         ///< bits of a sample
  std::size_t samples = 1;   ///< samples of a pixel, unused ones included
  bool is_separate = false;  ///< each sample has its own plane
  std::vector<std::array<std::uint8_t, 3>> palette;

  /// Channels of the converted rows: 1, 3 or 4.
  std::size_t channels() const noexcept {
    if (color == TiffColor::palette) return 3;
    return color != TiffColor::rgb ? 1 : alpha == TiffAlpha::none ? 3 : 4;
  }
};

/// Grey of few bits is scaled to 0..255, white is the largest number, alpha is straight.
class TiffRows {
 public:
  TiffRows(const TiffLayout& layout, std::size_t width);
  /// `planes`: the row in each plane; one if the samples are interleaved. Valid until the next
  /// call.
  const std::byte* read(std::span<const std::byte* const> planes);

 private:
  template <class T>
  void gather(std::span<const std::byte* const> planes);
  template <class T>
  void finish();
  void unpack_bits(const std::byte* row);
  const TiffLayout& layout_;
  std::size_t width_;
  std::vector<std::byte> out_;
};

}  // namespace halyard::codec
