// SPDX-License-Identifier: Apache-2.0
// Parts of arrays: which elements they hold, what they keep of the whole, and how far a re-labelled
// part may reach.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "halyard/tensor.h"
#include "support/result.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::batch_of;
using test::contiguous;
using test::image_of;
using R = AxisRange;

Tensor numbered(std::initializer_list<std::size_t> shape) {
  return test::counting<std::uint8_t>(shape, DType::u8);
}

// All elements, the innermost axis fastest.
std::vector<int> elements_of(const Tensor& t) {
  const auto map = *t.map(Access::read);
  const Layout& layout = map.layout();
  std::vector<int> values;
  for (std::size_t n = 0; n < layout.element_count(); ++n) {
    std::ptrdiff_t offset = 0;
    std::size_t rest = n;
    for (std::size_t axis = layout.rank; axis-- > 0; rest /= layout.shape[axis])
      offset += static_cast<std::ptrdiff_t>(rest % layout.shape[axis]) * layout.stride_bytes[axis];
    values.push_back(static_cast<int>(map.data()[offset]));
  }
  return values;
}

Result<Tensor> part_of(const Tensor& t, std::initializer_list<R> ranges) {
  return t.part(std::span<const R>(ranges.begin(), ranges.size()));
}

TEST(Part, holds_the_elements_of_its_indices) {
  const Tensor t = numbered({4, 5, 3});
  EXPECT_EQ(elements_of(*part_of(t, {R::index(2)})), elements_of(*t.batch(2)));
  const Tensor row = *part_of(t, {R::index(1), R::index(3)});
  EXPECT_EQ(elements_of(row), (std::vector<int>{24, 25, 26}));
  EXPECT_EQ(row.rank(), 1U);
  EXPECT_EQ(elements_of(*part_of(t, {R::index(0), {4, 3, -2, true}, {0, 2, 2, true}})),
            (std::vector<int>{12, 14, 6, 8, 0, 2}));
  EXPECT_EQ(elements_of(*part_of(t, {{1, 2, 1, true}, R::index(0), R::all(3)})),
            (std::vector<int>{15, 16, 17, 30, 31, 32}));
  EXPECT_EQ(elements_of(*part_of(*part_of(t, {{3, 4, -1, true}}), {R::index(3)})),
            elements_of(*t.batch(0)));
}

TEST(Part, refuses_what_is_no_part) {
  const Tensor t = numbered({4, 5});
  for (const R range :
       {R::index(4), R{0, 5, 1, true}, R{1, 4, 1, true}, R{0, 2, -1, true}, R{0, 2, 0, true},
        R{0, 2, PTRDIFF_MIN, true}, R{3, SIZE_MAX, 1, true}, R{0, 2, PTRDIFF_MAX, true}})
    EXPECT_FAILS(part_of(t, {range}), Errc::invalid_argument)
        << range.start << " " << range.count << " " << range.step;
  EXPECT_FAILS(part_of(t, {{2, 3, 1, true}}), "axis 0: 3 indices from 2");
  EXPECT_FAILS(part_of(t, {{0, 0, 1, true}}), Errc::invalid_argument) << "no elements";
  EXPECT_FAILS(part_of(t, {R::index(0), R::index(0)}), Errc::invalid_argument) << "no axis";
  EXPECT_FAILS(part_of(t, {R::all(4), R::all(5), R::all(1)}), Errc::invalid_argument);
  EXPECT_FAILS(Tensor().part({}), Errc::invalid_argument);
  EXPECT_FAILS(image_of(4, 4, F::rgb).part({}), Errc::invalid_argument);
}

TEST(Part, keeps_name_colours_and_the_scales_of_its_indices) {
  Tensor t = numbered({2, 3, 4});
  t.set_name("head");
  t.set_colorimetry(Colorimetry::jpeg());
  ASSERT_TRUE(t.set_quantization(Quantization::per_tensor(0.5F, 7)));
  EXPECT_EQ(part_of(t, {R::index(1), {0, 2, 1, true}})->quantization(),
            Quantization::per_tensor(0.5F, 7));
  EXPECT_EQ(part_of(t, {R::index(1)})->name(), "head");
  EXPECT_EQ(part_of(t, {R::index(1)})->colorimetry(), Colorimetry::jpeg());
  ASSERT_TRUE(t.set_quantization(Quantization{{1, 2, 3, 4}, {5, 6, 7, 8}, 2}));
  const auto reversed = part_of(t, {R::index(0), R::all(3), {3, 2, -2, true}});
  EXPECT_EQ(reversed->quantization(), (Quantization{{4, 2}, {8, 6}, 1}));
  EXPECT_EQ(part_of(t, {R::index(0), R::index(1)})->quantization()->axis, 0U);
  EXPECT_EQ(part_of(t, {R::all(2), R::all(3), R::index(2)})->quantization(),
            Quantization::per_tensor(3, 7));
  for (const auto& part : {reversed, part_of(t, {{1, 1, 1, true}})})
    EXPECT_TRUE(validate(*part->quantization(), part->dtype(), part->shape()));
  ASSERT_TRUE(t.set_quantization(Quantization{{1, 2, 3, 4}, {}, 2}));
  EXPECT_EQ(part_of(t, {R::all(2), R::all(3), {1, 2, 1, true}})->quantization(),
            (Quantization{{2, 3}, {}, 2}));
}

TEST(Part, keeps_the_format_of_items_that_stay_whole) {
  const Tensor batch = batch_of(4, 10, 6, F::nv12);
  EXPECT_EQ(part_of(batch, {R::index(3)})->format(), F::nv12);
  const Tensor some = *part_of(batch, {{1, 2, 2, true}});
  EXPECT_EQ(some.item_format(), F::nv12);
  EXPECT_EQ(some.batch(1)->offset_bytes(), batch.batch(3)->offset_bytes());
  const Tensor rows = *part_of(batch, {R::index(0), {0, 2, 1, true}});
  EXPECT_FALSE(rows.is_image());
  EXPECT_FALSE(rows.item_format());
}

// Every byte that reconfigured() may hand out belongs to the part, or to nobody.
TEST(Part, relabelled_stays_out_of_all_other_elements) {
  std::mt19937 random(7);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int served = 0;
  for (int round = 0; round < 3000; ++round) {
    const Tensor t = numbered({1 + below(4), 1 + below(6), 1 + below(40)});
    std::vector<R> ranges;
    for (std::size_t axis = 0; axis < below(4); ++axis) {
      const std::size_t extent = t.shape()[axis];
      const std::size_t start = below(extent);
      const std::ptrdiff_t step = random() % 2 == 0 ? 1 : random() % 2 == 0 ? 2 : -1;
      const std::size_t room = step < 0 ? start + 1 : (extent - start - 1) / step + 1;
      ranges.push_back(random() % 3 == 0 && axis < 2 ? R::index(start)
                                                     : R{start, 1 + below(room), step, true});
    }
    const Tensor part = *t.part(ranges);
    std::memset(t.map(Access::write)->writable(), 1, t.size_bytes());
    for (std::size_t width = 1; width <= t.size_bytes(); ++width) {
      auto image = part.reconfigured(width, 1, F::grey);
      if (!image) break;
      std::memset(image->map(Access::write)->plane(0).writable, 2, width);
      ++served;
    }
    int changed = 0;
    for (const int value : elements_of(t))
      changed += value == 2 ? 1 : 0;
    int own = 0;
    for (const int value : elements_of(part))
      own += value == 2 ? 1 : 0;
    const bool is_all = part.element_count() == t.element_count();
    ASSERT_TRUE(changed == own || is_all) << "round " << round;
  }
  EXPECT_GT(served, 10000);
}

TEST(Part, of_a_padded_batch_has_its_padding_too) {
  const Tensor batch = batch_of(3, 33, 5, F::rgb);
  const auto pitch = static_cast<std::size_t>(batch.layout().stride_bytes[0]);
  EXPECT_TRUE(batch.batch(1)->reconfigured(pitch, 1, F::grey));
  EXPECT_FAILS(batch.batch(1)->reconfigured(pitch + 1, 1, F::grey), Errc::exhausted);
  const Tensor two = *part_of(batch, {{0, 2, 1, true}});
  EXPECT_TRUE(two.reconfigured(2 * pitch, 1, F::grey));
  EXPECT_FAILS(two.reconfigured(2 * pitch + 1, 1, F::grey), Errc::exhausted);
}

TEST(Wrap, leaves_the_gaps_of_a_strided_layout_to_their_owner) {
  const auto buffer = *allocate(6400, Memory::mem);
  Layout layout = contiguous(DType::u8, {50, 64});
  EXPECT_TRUE(Tensor::wrap(buffer, layout)->reconfigured(6400, 1, F::grey));
  layout.stride_bytes[0] = 128;
  const Tensor strided = *Tensor::wrap(buffer, layout);
  EXPECT_FAILS(strided.reconfigured(64, 10, F::grey), Errc::unsupported);
  EXPECT_TRUE(strided.batch(3)->reconfigured(64, 1, F::grey));
  EXPECT_FAILS(strided.batch(3)->reconfigured(65, 1, F::grey), Errc::exhausted);
}

}  // namespace
}  // namespace halyard
