// SPDX-License-Identifier: Apache-2.0
// Order of the rows of GIF files.
#include <gtest/gtest.h>

#include <vector>

#include "halyard/codec.h"
#include "support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

constexpr std::size_t width = 11;

// The colour of a pixel and its index in the palette.
std::size_t index_at(std::size_t x, std::size_t y) {
  return (x * 7 + y * 13) % 128;
}

// The rows of an interlaced file: every eighth, those in the middle between them, and so on.
std::vector<std::size_t> rows_in_order(std::size_t height, bool is_interlaced) {
  std::vector<std::size_t> out;
  if (!is_interlaced) {
    for (std::size_t y = 0; y < height; ++y)
      out.push_back(y);
    return out;
  }
  for (const auto& [start, step] : {std::pair{0, 8}, {4, 8}, {2, 4}, {1, 2}})
    for (auto y = static_cast<std::size_t>(start); y < height; y += static_cast<std::size_t>(step))
      out.push_back(y);
  return out;
}

// A file whose LZW codes are all of 8 bits: the code "clear" comes before the table is full.
Bytes gif_of(std::size_t height, bool is_interlaced) {
  constexpr unsigned clear = 128, end = 129;
  std::vector<unsigned> codes;
  for (const std::size_t y : rows_in_order(height, is_interlaced))
    for (std::size_t x = 0; x < width; ++x) {
      if (codes.size() % 64 == 0) codes.push_back(clear);
      codes.push_back(static_cast<unsigned>(index_at(x, y)));
    }
  codes.push_back(end);
  Bytes out;
  const auto put = [&](std::initializer_list<std::size_t> bytes) {
    for (const std::size_t byte : bytes)
      out.push_back(static_cast<std::byte>(byte));
  };
  put({'G', 'I', 'F', '8', '9', 'a', width, 0, height, 0, 0xF6, 0, 0});
  for (std::size_t i = 0; i < 128; ++i)
    put({2 * i, 255 - i, i});
  put({0x2C, 0, 0, 0, 0, width, 0, height, 0, is_interlaced ? std::size_t{0x40} : 0, 7});
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (i % 255 == 0) put({std::min<std::size_t>(255, codes.size() - i)});
    put({codes[i]});
  }
  put({0, 0x3B});
  return out;
}

TEST(GifRows, are_in_their_order_in_files_of_every_height) {
  if (!kind_of(ImageFileType::gif).is_read) GTEST_SKIP() << "built without giflib";
  for (const bool is_interlaced : {false, true})
    for (std::size_t height = 1; height <= 40; ++height) {
      SCOPED_TRACE(testing::Message() << height << is_interlaced);
      ASSERT_VALUE(const Tensor image, load(gif_of(height, is_interlaced)));
      ASSERT_EQ(image.format(), PixelFormat::rgb);
      ASSERT_EQ(image.size(), (Size{width, static_cast<std::int32_t>(height)}));
      const std::vector<std::uint8_t> found = plane_bytes(image, 0);
      for (const auto [y, x] : grid<std::size_t>(height, width)) {
        const std::size_t index = index_at(x, y);
        const std::uint8_t* const pixel = &found[3 * (y * width + x)];
        ASSERT_EQ(pixel[0], 2 * index) << x << " " << y;
        ASSERT_EQ(pixel[1], 255 - index) << x << " " << y;
        ASSERT_EQ(pixel[2], index) << x << " " << y;
      }
    }
}

}  // namespace
}  // namespace halyard::test
