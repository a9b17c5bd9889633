// SPDX-License-Identifier: Apache-2.0
// BMP files of every depth, header and packing that the reader knows, and what it refuses.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "halyard/codec.h"
#include "support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using Color3 = std::array<std::uint8_t, 3>;

struct BmpSpec {
  std::uint32_t header_bytes = 40;
  int width = 0, height = 0;  ///< height < 0: from the top down
  unsigned bits = 24, compression = 0;
  std::vector<Color3> palette = {};
  std::vector<std::uint32_t> masks = {};  ///< in the header where it has room, else behind it
  std::uint32_t colors = 0;               ///< entries of the palette; 0: all
};

Bytes bmp_of(const BmpSpec& spec, const Bytes& data) {
  Bytes out;
  const bool is_core = spec.header_bytes == 12;
  put(out, 0x4D42, 2);  // "BM"
  put(out, 0, 12);
  put(out, spec.header_bytes, 4);
  put(out, static_cast<std::uint32_t>(spec.width), is_core ? 2 : 4);
  put(out, static_cast<std::uint32_t>(spec.height), is_core ? 2 : 4);
  put(out, 1, 2);
  put(out, spec.bits, 2);
  if (!is_core) {
    put(out, spec.compression, 4);
    for (const std::uint32_t value : {0U, 0U, 0U, spec.colors, 0U})
      put(out, value, 4);
  }
  for (const std::uint32_t mask : spec.masks)
    put(out, mask, 4);
  out.resize(std::max<std::size_t>(out.size(), 14 + spec.header_bytes));
  for (const Color3& color : spec.palette) {
    put(out, color[2], 1);
    put(out, color[1], 1);
    put(out, color[0], 1);
    if (!is_core) put(out, 0, 1);
  }
  for (std::size_t i = 0; i < 4; ++i)
    out[10 + i] = static_cast<std::byte>(out.size() >> (8 * i));
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

/// Rows of pixels of `bits` bits, each padded to 4 bytes; row 0 is the first in the file.
Bytes rows_of(int width, int height, unsigned bits,
              const std::function<std::uint64_t(int, int)>& at) {
  Bytes out;
  for (int y = 0; y < height; ++y) {
    std::uint64_t held = 0;
    unsigned held_bits = 0;
    for (int x = 0; x < width; ++x) {
      if (bits >= 8) {
        put(out, at(x, y), static_cast<int>(bits / 8));
        continue;
      }
      held = held << bits | at(x, y);
      held_bits += bits;
      if (held_bits == 8) put(out, std::exchange(held, 0), 1);
      held_bits %= 8;
    }
    if (held_bits != 0) put(out, held << (8 - held_bits), 1);
    while (out.size() % 4 != 0)
      put(out, 0, 1);
  }
  return out;
}

/// The image's bytes; rows from the top.
std::vector<std::uint8_t> loaded(const Bytes& file, PixelFormat format) {
  const Result<Tensor> image = load(file);
  EXPECT_TRUE(succeeds(image));
  if (!image) return {};
  EXPECT_EQ(image->format(), format);
  return plane_bytes(*image, 0);
}

std::vector<Color3> colors(std::size_t count) {
  std::vector<Color3> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back({static_cast<std::uint8_t>(i * 37 + 1), static_cast<std::uint8_t>(i * 91 + 2),
                   static_cast<std::uint8_t>(i * 53 + 3)});
  return out;
}

TEST(Bmp, palettes_of_every_depth_and_header_are_read_in_both_directions) {
  constexpr int width = 13, height = 5;
  for (const auto& [bits, header, is_down] :
       product({1U, 4U, 8U}, {12U, 40U, 56U, 108U, 124U}, {false, true})) {
    if (header == 12 && is_down) continue;  // its height has no sign
    SCOPED_TRACE(testing::Message() << bits << " " << header << is_down);
    const std::size_t count = std::size_t{1} << bits;
    const auto index = [&](int x, int y) {
      return static_cast<std::size_t>(x * 29 + y * 7 + 3) % count;
    };
    const BmpSpec spec{header, width, is_down ? -height : height, bits, 0, colors(count)};
    const auto found = loaded(bmp_of(spec, rows_of(width, height, bits, index)), PixelFormat::rgb);
    ASSERT_EQ(found.size(), 3U * width * height);
    for (const auto [y, x] : grid<int>(height, width)) {
      const int row = is_down ? y : height - 1 - y;
      const Color3& color = spec.palette[index(x, row)];
      ASSERT_EQ(std::memcmp(&found[static_cast<std::size_t>(3 * (y * width + x))], color.data(), 3),
                0)
          << x << " " << y;
    }
  }
}

TEST(Bmp, a_palette_may_be_short_and_an_index_beyond_it_is_an_error) {
  BmpSpec spec{40, 3, 1, 8, 0, colors(3), {}, 3};
  const auto row = [](std::size_t last) {
    return rows_of(3, 1, 8, [=](int x, int) { return x == 2 ? last : 1; });
  };
  EXPECT_EQ(loaded(bmp_of(spec, row(2)), PixelFormat::rgb)[6], spec.palette[2][0]);
  EXPECT_FAILS(load(bmp_of(spec, row(3))), Errc::corrupt, "3 of 3");
  // The file ends where the palette ends, or before.
  spec.colors = 0;
  EXPECT_FAILS(load(bmp_of(spec, {})), Errc::corrupt, "cut short");
}

TEST(Bmp, masks_select_channels_behind_the_header_or_in_it) {
  struct Case {
    unsigned bits, compression;
    std::vector<std::uint32_t> masks;
    std::array<unsigned, 4> maximum;
  };
  const Case cases[] = {
      {16, 0, {}, {31, 31, 31, 0}},
      {16, 3, {0xF800, 0x7E0, 0x1F}, {31, 63, 31, 0}},
      {16, 3, {0xF00, 0xF0, 0xF}, {15, 15, 15, 0}},
      {32, 0, {}, {255, 255, 255, 0}},
      {32, 3, {0x3FF00000, 0xFFC00, 0x3FF}, {1023, 1023, 1023, 0}},
      {32, 6, {0xFF, 0xFF00, 0xFF0000, 0xFF000000}, {255, 255, 255, 255}},
  };
  constexpr int width = 9, height = 4;
  for (const Case& each : cases)
    for (const std::uint32_t header : {40U, 56U}) {
      SCOPED_TRACE(testing::Message() << each.bits << " " << each.compression << " " << header);
      std::vector<std::uint32_t> masks = each.masks;
      if (header == 56 && masks.size() == 3) masks.push_back(0);
      const std::vector<std::uint32_t> usual =
          each.bits == 16 ? std::vector<std::uint32_t>{0x7C00, 0x3E0, 0x1F}
                          : std::vector<std::uint32_t>{0xFF0000, 0xFF00, 0xFF};
      const auto& used = each.masks.empty() ? usual : each.masks;
      const auto value = [&](int x, int y, std::size_t c) {
        return static_cast<unsigned>(x * 131 + y * 57 + static_cast<int>(c) * 77) %
               (each.maximum[c] + 1);
      };
      const auto pixel = [&](int x, int y) {
        std::uint64_t out = 0;
        for (std::size_t c = 0; c < used.size(); ++c)
          out |= std::uint64_t{value(x, y, c)} << __builtin_ctz(used[c]);
        return out;
      };
      const bool has_alpha = each.maximum[3] != 0;
      const BmpSpec spec{header, width, -height, each.bits, each.compression, {}, masks};
      const auto found = loaded(bmp_of(spec, rows_of(width, height, each.bits, pixel)),
                                has_alpha ? PixelFormat::rgba : PixelFormat::rgb);
      const std::size_t channels = has_alpha ? 4 : 3;
      ASSERT_EQ(found.size(), channels * width * height);
      for (const auto [y, x] : grid<int>(height, width))
        for (std::size_t c = 0; c < channels; ++c) {
          const unsigned maximum = each.maximum[c];
          ASSERT_EQ(found[static_cast<std::size_t>(y * width + x) * channels + c],
                    (value(x, y, c) * 255 + maximum / 2) / maximum)
              << x << " " << y << " " << c;
        }
    }
}

Bytes bytes(std::initializer_list<unsigned> values) {
  Bytes out;
  for (const unsigned value : values)
    put(out, value, 1);
  return out;
}

/// Whether a file of 6 x 3 pixels shows these entries of its palette.
void expect_indices(const BmpSpec& spec, const Bytes& data, const std::size_t (&expected)[3][6]) {
  const auto found = loaded(bmp_of(spec, data), PixelFormat::rgb);
  ASSERT_EQ(found.size(), 54U);
  for (const auto [y, x] : grid<std::size_t>(3, 6))
    EXPECT_EQ(found[3 * (6 * y + x)], spec.palette[expected[y][x]][0]) << x << " " << y;
}

TEST(Bmp, runs_literals_and_steps_are_unpacked_from_the_bottom) {
  // 6 x 3. Bottom row: a run and three literals, padded. Middle: a step over two and four literals
  // without padding. Top: from x 3 on.
  const Bytes bytes_rle8 = bytes({2, 5, 0, 3, 1, 2, 3, 0, 1, 4, 0, 0, 0, 2, 2, 0,
                                  0, 4, 7, 8, 7, 6, 0, 0, 0, 2, 3, 0, 3, 9, 0, 1});
  const std::size_t expected[3][6] = {{0, 0, 0, 9, 9, 9}, {0, 0, 7, 8, 7, 6}, {5, 5, 1, 2, 3, 4}};
  const BmpSpec eight{40, 6, 3, 8, 1, colors(256)};
  expect_indices(eight, bytes_rle8, expected);

  // The same of 4 bits: a run alternates between two indices, five literals take three bytes.
  const Bytes bytes_rle4 =
      bytes({1, 0x50, 0, 5, 0x51, 0x23, 0x40, 0, 0, 0, 0, 2, 2, 0, 0, 4, 0x78, 0x76, 0, 1});
  const std::size_t expected4[3][6] = {{0, 0, 0, 0, 0, 0}, {0, 0, 7, 8, 7, 6}, {5, 5, 1, 2, 3, 4}};
  const BmpSpec four{40, 6, 3, 4, 2, colors(16)};
  expect_indices(four, bytes_rle4, expected4);

  for (const auto& [spec, data] : {std::pair{eight, bytes_rle8}, {four, bytes_rle4}})
    for (std::size_t length = 0; length < data.size(); ++length)
      EXPECT_FAILS(load(bmp_of(spec, Bytes(data.begin(),
                                           data.begin() + static_cast<std::ptrdiff_t>(length)))),
                   Errc::corrupt, "ends early");
  for (const Bytes& outside : {bytes({7, 1, 0, 1}), bytes({0, 2, 0, 3, 1, 1, 0, 1}),
                               bytes({0, 7, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1})})
    EXPECT_FAILS(load(bmp_of(eight, outside)), Errc::corrupt, "outside the image");
}

TEST(Bmp, is_known_by_two_letters_and_the_length_of_its_header) {
  Bytes file = bytes({'B', 'M', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  std::vector<int> known;
  for (int length = 0; length < 256; ++length) {
    file[14] = static_cast<std::byte>(length);
    if (image_file_type(file)) known.push_back(length);
  }
  EXPECT_EQ(known, (std::vector<int>{12, 16, 40, 52, 56, 64, 108, 124}));
}

TEST(Bmp, what_no_file_can_be_is_refused) {
  const auto code = [](unsigned bits, unsigned compression, int height = 2) {
    const BmpSpec spec{40, 2, height, bits, compression, colors(bits <= 8 ? 1U << bits : 0), {}};
    const auto image = load(bmp_of(spec, Bytes(64)));
    return image ? Errc::ok : image.error().code;
  };
  EXPECT_EQ(code(24, 0), Errc::ok);
  for (const auto& [bits, compression] : std::vector<std::pair<unsigned, unsigned>>{{4, 1},
                                                                                    {24, 1},
                                                                                    {8, 2},
                                                                                    {1, 2},
                                                                                    {4, 3},
                                                                                    {8, 3},
                                                                                    {24, 3},
                                                                                    {8, 6},
                                                                                    {24, 6},
                                                                                    {24, 4},
                                                                                    {32, 1},
                                                                                    {32, 5},
                                                                                    {16, 2},
                                                                                    {2, 0},
                                                                                    {9, 0},
                                                                                    {48, 0}})
    EXPECT_EQ(code(bits, compression), Errc::unsupported) << bits << " " << compression;
  EXPECT_EQ(code(8, 1, -2), Errc::corrupt);
  EXPECT_EQ(code(4, 2, -2), Errc::corrupt);
  EXPECT_EQ(code(24, 0, 0), Errc::corrupt);

  for (const auto& masks : std::vector<std::vector<std::uint32_t>>{
           {0xF00, 0x1F0, 0xF}, {0xF00, 0xA0, 0xF}, {0x1F0000, 0x7E0, 0x1F}}) {
    const auto image = load(bmp_of({40, 2, 2, 16, 3, {}, masks}, Bytes(64)));
    EXPECT_FAILS(image, Errc::corrupt, "masks must be runs of bits");
    EXPECT_FAILS(image, Errc::corrupt, masks[1] == 0x1F0 ? "0xf00, 0x1f0, 0xf, 0x0" : "");
  }
}

}  // namespace
}  // namespace halyard::test
