// SPDX-License-Identifier: Apache-2.0
// What is left of objects that were moved from: nothing.
#include "halyard/moved.h"

#include <gtest/gtest.h>

#include "halyard/tensor.h"
#include "support/result.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::batch_of;
using test::image_of;

TEST(Moved, leaves_zero_false_and_null_and_stays_when_it_is_moved_to_itself) {
  Moved<std::size_t> size = 7;
  const Moved<std::size_t> taken = std::move(size);
  EXPECT_EQ(taken, 7U);
  EXPECT_EQ(size, 0U);  // NOLINT(bugprone-use-after-move): that is the question
  Moved<bool> flag = true;
  Moved<bool> other;
  other = std::move(flag);
  EXPECT_TRUE(other);
  EXPECT_FALSE(flag);
  int number = 3;
  Moved<int*> pointer = &number;
  Moved<int*>& same = pointer;
  pointer = std::move(same);
  EXPECT_EQ(pointer.get(), &number);
  const Moved<int*> copy = pointer;
  EXPECT_EQ(copy.get(), pointer.get());
}

void expect_empty(const Tensor& t) {
  EXPECT_TRUE(t.is_empty());
  EXPECT_EQ(t.rank(), 0U);
  EXPECT_EQ(t.size_bytes(), 0U);
  EXPECT_FALSE(t.is_image());
  EXPECT_EQ(t.plane_count(), 0U);
  EXPECT_EQ(t.width() + t.height() + t.row_stride_bytes() + t.offset_bytes(), 0U);
  EXPECT_FALSE(t.item_format());
  EXPECT_FALSE(t.quantization());
  EXPECT_EQ(t.colorimetry(), Colorimetry{});
  EXPECT_TRUE(t.name().empty());
  EXPECT_FAILS(t.image_plane(0), Errc::invalid_argument);
  EXPECT_FAILS(t.map(Access::read), Errc::invalid_argument);
}

TEST(Moved, tensors_leave_an_empty_tensor_that_may_be_used_again) {
  Tensor image = image_of(20, 10, F::nv12);
  image.set_name("kept");
  image.set_colorimetry(Colorimetry::jpeg());
  ASSERT_TRUE(image.set_quantization(Quantization::per_tensor(0.5F, 3)));
  Tensor taken = std::move(image);
  expect_empty(image);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(taken.name(), "kept");
  EXPECT_EQ(taken.format(), F::nv12);
  EXPECT_EQ(taken.quantization(), Quantization::per_tensor(0.5F, 3));
  Tensor batch = batch_of(2, 8, 8, F::rgb);
  image = std::move(batch);
  expect_empty(batch);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(image.item_format(), F::rgb);
  EXPECT_TRUE(image.batch(1));
  Tensor& same = taken;
  taken = std::move(same);
  EXPECT_EQ(taken.width(), 20U);
}

TEST(Moved, maps_leave_no_address_behind) {
  const Tensor image = image_of(20, 10, F::rgb);
  auto map = *image.map(Access::read_write);
  TensorMap taken = std::move(map);
  EXPECT_EQ(map.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(map.writable(), nullptr);
  EXPECT_EQ(map.plane_count(), 0U);
  EXPECT_EQ(map.layout().rank, 0U);
  EXPECT_FALSE((map.view<std::uint8_t, 3>()));
  EXPECT_EQ(map.flat<std::uint8_t>()->size(), 0U);
  map = std::move(taken);
  EXPECT_EQ(taken.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(map.plane_count(), 1U);
  EXPECT_EQ(map.flat<std::uint8_t>()->size(), 600U);
}

}  // namespace
}  // namespace halyard
