// SPDX-License-Identifier: Apache-2.0
// Parts of images, shown and copied, against bytes that the test gathers itself.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "halyard/image_message.h"
#include "ipc/helpers.h"
#include "plain_planes.h"
#include "scene.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

TEST(ImageRoi, shows_and_copies_parts) {
  std::mt19937 random(5);
  for (const ImageEncodingInfo& row : all_encodings()) {
    const FormatInfo& f = info(row.format);
    const bool is_bayer = f.model == ColorModel::bayer;
    for (int round = 0; round < 15; ++round) {
      Scene s = scene(row, 1 + random() % 65, 1 + random() % 65, random);
      const std::size_t step_x = is_bayer ? 2 : std::size_t{1} << f.chroma_shift_x;
      const std::size_t step_y = is_bayer ? 2 : std::size_t{1} << f.chroma_shift_y;
      const std::size_t x = random() % s.image.width() / step_x * step_x;
      const std::size_t y = random() % s.image.height() / step_y * step_y;
      const std::size_t width = 1 + random() % (s.image.width() - x);
      const std::size_t height = 1 + random() % (s.image.height() - y);
      const Region region{static_cast<int>(x), static_cast<int>(y), static_cast<int>(width),
                          static_cast<int>(height)};
      SCOPED_TRACE(::testing::Message()
                   << row.name << " " << s.image.width() << "x" << s.image.height() << ": " << width
                   << "x" << height << " at " << x << "," << y);
      const std::size_t element = size_of(row.dtype);
      const auto tight = plain_planes(row.format, element, width, height,
                                      *tight_stride(row.format, row.dtype, width), 0);
      const auto bytes = s.bytes();
      std::vector<std::byte> expected(*image_bytes(row.format, row.dtype, width, height, 0));
      for (std::size_t i = 0; i < tight.size(); ++i) {
        const PlainPlane& from = s.planes[i];
        const std::size_t begin = from.offset + (y >> from.shift_y) * from.stride +
                                  (x >> from.shift_x) * from.column_bytes;
        for (std::size_t line = 0; line < tight[i].rows; ++line) {
          std::memcpy(expected.data() + tight[i].offset + line * tight[i].stride,
                      bytes.data() + begin + line * from.stride, tight[i].row_bytes);
        }
      }
      const auto copied = value_of(s.image.copy_roi(region));
      EXPECT_EQ(copied, expected);

      s.image.set_timestamp_ns(77);
      const auto part = value_of(s.image.roi(region));
      EXPECT_EQ(part.width(), width);
      EXPECT_EQ(part.step(), s.image.step());
      EXPECT_EQ(part.timestamp_ns(), 77U);
      EXPECT_EQ(part.tensor().buffer(), s.buffer);
      std::vector<std::byte> packed(part.nbytes());
      ASSERT_TRUE(copy_packed(part.tensor(), std::span(packed)));
      EXPECT_EQ(packed, expected);
      // Also on the other side of a topic.
      const Tensor plain =
          *Tensor::wrap(s.buffer, *Layout::contiguous(row.dtype, std::array{std::size_t{1}}),
                        part.tensor().offset_bytes());
      const auto received = value_of(Image::from_parts(plain, part.metadata()));
      EXPECT_EQ(*received.copy_roi({0, 0, region.width, region.height}), expected);
    }
  }
}

TEST(ImageRoi, refuses_parts_outside_and_at_odd_positions) {
  const Image nv12 =
      *Image::wrap(*Tensor::create_image(16, 16, PixelFormat::nv12, DType::u8, Memory::mem));
  for (const Region& region :
       {Region{1, 0, 4, 4}, Region{0, 1, 4, 4}, Region{0, 0, 0, 4}, Region{0, 0, 4, -1},
        Region{-2, 0, 4, 4}, Region{14, 0, 4, 4}, Region{0, 0, 17, 1}, Region{2147483646, 0, 4, 4},
        Region{0, 2147483646, 2147483647, 2147483647}}) {
    EXPECT_EQ(code_of(nv12.roi(region)), Errc::invalid_argument);
    EXPECT_FAILS(nv12.copy_roi(region), Errc::invalid_argument);
  }
  const Image yuyv =
      *Image::wrap(*Tensor::create_image(16, 16, PixelFormat::yuyv, DType::u8, Memory::mem));
  EXPECT_FAILS(yuyv.roi({1, 0, 4, 4}), Errc::invalid_argument);
  EXPECT_TRUE(yuyv.roi({2, 1, 3, 3}));
}

}  // namespace
}  // namespace halyard
