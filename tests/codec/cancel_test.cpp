// SPDX-License-Identifier: Apache-2.0
// Decodes that their caller stops.
#include "codec/support.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::Bytes;

TEST(Cancel, ends_a_decode_in_the_middle_and_leaves_the_label) {
  const Bytes samples(std::size_t{64} * 600 * 3, std::byte{9});
  const Bytes files[] = {test::make_jpeg({.width = 64, .height = 600}),
                         test::make_jpeg({.width = 64, .height = 600, .progressive = true}),
                         test::make_png({.width = 64, .height = 600}, samples),
                         test::make_png({.width = 64, .height = 600, .interlaced = true}, samples)};
  for (const Bytes& file : files) {
    int asked = 0;
    LoadOptions counting{.memory = Memory::mem};
    counting.is_cancelled = [&asked] { return ++asked < 0; };
    ASSERT_TRUE(test::load(file, counting));
    const int all = asked;
    EXPECT_GT(all, 30) << "rows of MCUs, or rows";
    auto tensor = *Tensor::create_image(64, 2400, PixelFormat::grey, DType::u8, Memory::mem);
    asked = 0;
    LoadOptions stopping;
    stopping.is_cancelled = [&asked, all] { return ++asked == all / 2; };
    EXPECT_FAILS(load_into(tensor, file, stopping), Errc::cancelled);
    EXPECT_EQ(asked, all / 2) << "nobody asks after a yes";
    EXPECT_EQ(tensor.height(), 2400U);
    EXPECT_TRUE(test::load(file)) << "the decoder works again";
  }
}

}  // namespace
}  // namespace halyard
