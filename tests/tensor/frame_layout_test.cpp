// SPDX-License-Identifier: Apache-2.0
// Layouts of frames: what can be one, and their text.
#include "halyard/frame_layout.h"

#include <gtest/gtest.h>

#include <random>

#include "support/result.h"

namespace halyard {
namespace {

FrameLayout nv12() {
  FrameLayout frame;
  frame.size_bytes = 256 * 48 * 3 / 2;
  frame.width = 200;
  frame.height = 48;
  frame.format = PixelFormat::nv12;
  frame.plane_count = 2;
  frame.planes[0] = {0, 256, 0};
  frame.planes[1] = {256 * 48, 256, 0};
  return frame;
}

FrameLayout halves() {
  FrameLayout frame;
  frame.size_bytes = 128 + 2 * 3 * 64;
  frame.align_bytes = 4096;
  frame.tensor.dtype = DType::f16;
  frame.tensor.rank = 3;
  frame.tensor.shape = {2, 3, 20};
  frame.tensor.stride_bytes = {192, 64, 2};
  frame.tensor_offset_bytes = 128;
  frame.fill = std::uint8_t{7};
  return frame;
}

TEST(FrameLayout, lies_over_buffers) {
  const auto memory = *allocate(1 << 20, Memory::mem);
  ASSERT_VALUE(const auto image, nv12().over(memory));
  EXPECT_EQ(image.width(), 200U);
  EXPECT_EQ(image.map(Access::read)->plane(1).stride_bytes, 256U);
  EXPECT_FAILS(nv12().tensor_over(memory), Errc::unsupported);
  ASSERT_VALUE(const auto tensor, halves().over(memory));
  EXPECT_EQ(tensor.layout().stride_bytes[1], 64);
  FrameLayout both = halves();
  both.size_bytes = 1 << 16;
  both.width = both.height = 20;
  both.format = PixelFormat::grey;
  both.plane_count = 1;
  both.planes[0] = {128, 64, 0};
  EXPECT_TRUE(both.over(memory)->is_image());
  EXPECT_EQ(both.tensor_over(memory)->shape().size(), 3U);
}

TEST(FrameLayout, is_the_same_as_text) {
  for (const FrameLayout& frame : {nv12(), halves()}) {
    ASSERT_VALUE(const auto again, FrameLayout::from_text(frame.to_text()));
    EXPECT_EQ(again, frame);
  }
  EXPECT_FALSE(nv12() == halves());
  EXPECT_EQ(nv12().to_text(), "size 18432 align 64 image nv12 200 48 0 2 0 256 0 12288 256 0");
  EXPECT_EQ(nv12().describe(), "nv12 200x48 pitch 256/256");
  EXPECT_EQ(halves().describe(), "f16 [2, 3, 20] strides [192, 64, 2]");
}

TEST(FrameLayout, refuses_what_leaves_its_bytes) {
  EXPECT_TRUE(nv12().check());
  FrameLayout frame = nv12();
  frame.size_bytes -= 1;
  EXPECT_TRUE(frame.check()) << "the last row has padding";
  frame.size_bytes = 256 * 48;
  EXPECT_FAILS(frame.check(), Errc::invalid_argument);
  frame = halves();
  frame.tensor_offset_bytes = 1 << 20;
  EXPECT_FAILS(frame.check(), Errc::invalid_argument);
  frame = nv12();
  frame.align_bytes = 96;
  EXPECT_FAILS(frame.check(), Errc::invalid_argument);
  EXPECT_FAILS(FrameLayout().check(), Errc::invalid_argument);
  frame = nv12();
  frame.plane_count = 9;
  EXPECT_FAILS(frame.check(), Errc::invalid_argument);
}

TEST(FrameLayout, refuses_texts_that_are_none) {
  const std::string good = halves().to_text();
  for (const std::string& bad :
       {std::string(), std::string("size"), good + " more", good + " tensor u8 0 1 1 1",
        std::string("size -1 align 64"), std::string("size 10 align 64"), good + " fill 300",
        std::string("size 99999999999999999999 align 64 tensor u8 0 1 1 1"),
        std::string("size 8 align 64 tensor u9 0 1 1 1"),
        std::string("size 8 align 64 tensor u8 0 9 1 1"),
        std::string("size 8 align 64 image nv99 1 1 0 1 0 1 0")})
    EXPECT_FALSE(FrameLayout::from_text(bad)) << bad;
  for (std::size_t size = 0; size + 1 < good.size(); ++size)
    static_cast<void>(FrameLayout::from_text(good.substr(0, size)));
}

TEST(FrameLayout, of_mutated_texts_is_refused_or_lies_in_its_bytes) {
  std::mt19937 random(5);
  std::size_t taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = (round % 2 == 0 ? nv12() : halves()).to_text();
    for (int k = 0; k < 2; ++k)
      text[random() % text.size()] = "0123456789 -uf"[random() % 14];
    const auto frame = FrameLayout::from_text(text);
    if (!frame) continue;
    ++taken;
    EXPECT_TRUE(frame->check()) << text;
    EXPECT_EQ(*FrameLayout::from_text(frame->to_text()), *frame) << text;
  }
  EXPECT_GT(taken, 100U);
}

}  // namespace
}  // namespace halyard
