// SPDX-License-Identifier: Apache-2.0
// Elements of batches: strides, metadata, and images that several threads write at once.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "support/result.h"
#include "support/threads.h"
#include "tensor/byte_sets.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::batch_of;
using test::bytes_of;
using test::contiguous;
using test::image_of;
using test::share_bytes;

TEST(Batch, of_a_strided_axis_steps_by_its_stride) {
  const auto buffer = *allocate(400, Memory::mem);
  Layout layout = contiguous(DType::u8, {4, 2, 3});
  layout.stride_bytes = {100, 10, 1};
  const Tensor t = *Tensor::wrap(buffer, layout, 5);
  EXPECT_EQ(t.batch(3)->offset_bytes(), 305U);
  EXPECT_EQ(t.batch(3)->layout().stride_bytes[0], 10);
  layout.stride_bytes = {-100, 10, 1};
  EXPECT_EQ(Tensor::wrap(buffer, layout, 305)->batch(3)->offset_bytes(), 5U);
  layout.stride_bytes = {0, 10, 1};
  EXPECT_EQ(Tensor::wrap(buffer, layout, 5)->batch(3)->offset_bytes(), 5U) << "one for all";
}

TEST(Batch, says_which_rule_an_index_or_a_tensor_breaks) {
  const Tensor t = *Tensor::create(DType::u8, {2, 3}, Memory::mem);
  EXPECT_FAILS(t.batch(2), "2 of 2");
  EXPECT_FAILS(t.batch(SIZE_MAX), Errc::invalid_argument);
  EXPECT_FAILS(t.batch(0)->batch(0), "two axes");
  EXPECT_FAILS(Tensor().batch(0), Errc::invalid_argument);
  EXPECT_FAILS(image_of(4, 4, F::rgb).batch(0), "image");
}

TEST(ImageBatch, has_images_of_every_format_and_odd_size_that_share_no_byte) {
  for (const FormatInfo& f : all_formats()) {
    for (const auto& [width, height] :
         {std::pair<std::size_t, std::size_t>{64, 8}, {17, 5}, {1, 1}}) {
      const auto batch =
          Tensor::create_image_batch(3, width, height, f.format, {.memory = Memory::mem});
      ASSERT_TRUE(batch) << f.name << ": " << batch.error().message();
      EXPECT_EQ(batch->shape()[0], 3U);
      EXPECT_EQ(batch->item_format(), f.format);
      const Tensor single = image_of(width, height, f.format);
      for (std::size_t n = 0; n < 3; ++n) {
        const auto item = batch->batch(n);
        ASSERT_TRUE(item) << f.name << ": " << item.error().message();
        EXPECT_EQ(item->format(), f.format);
        EXPECT_EQ(item->width(), width) << f.name;
        EXPECT_EQ(item->height(), height) << f.name;
        EXPECT_EQ(item->offset_bytes() % 64, 0U);
        EXPECT_EQ(item->row_stride_bytes(), single.row_stride_bytes());
        EXPECT_FALSE(item->item_format());
        EXPECT_LT(*bytes_of(*item).rbegin(), batch->buffer()->size_bytes()) << f.name;
        for (std::size_t k = 0; k < n; ++k) {
          EXPECT_FALSE(share_bytes(*item, *batch->batch(k))) << f.name;
          EXPECT_FALSE(aliases(*item, *batch->batch(k))) << f.name;
        }
        EXPECT_TRUE(aliases(*item, *batch)) << f.name;
      }
    }
  }
}

TEST(ImageBatch, refuses_what_no_batch_can_be) {
  EXPECT_FAILS(Tensor::create_image_batch(0, 4, 4, F::rgb), Errc::invalid_argument);
  EXPECT_FAILS(Tensor::create_image_batch(SIZE_MAX / 2, 4, 4, F::rgb), Errc::invalid_argument);
  EXPECT_FAILS(Tensor::create_image_batch(SIZE_MAX / 64, 4, 4, F::rgb), Errc::invalid_argument);
  EXPECT_FAILS(Tensor::create_image_batch(2, 0, 4, F::rgb), Errc::invalid_argument);
  EXPECT_FAILS(Tensor::create_image_batch(2, 4, 4, F::rgb, {.stride_bytes = 8}),
               Errc::invalid_argument);
}

TEST(ImageBatch, slots_are_written_by_several_threads_at_once) {
  for (const F format : {F::nv12, F::rgb, F::planar_rgb, F::i420}) {
    const Tensor batch = batch_of(4, 33, 17, format);
    std::atomic<int> ready{0};
    test::on_threads(4, [&](std::size_t n) {
      const Tensor item = *batch.batch(n);
      ASSERT_VALUE(const auto map, item.map(Access::write));
      // All maps stand open before any ends.
      for (++ready; ready < 4;)
        std::this_thread::yield();
      for (std::size_t p = 0; p < map.plane_count(); ++p) {
        const MappedPlane& plane = map.plane(p);
        for (std::size_t row = 0; row < plane.rows; ++row)
          std::memset(plane.writable + row * plane.stride_bytes, static_cast<int>(n + 1),
                      plane.row_bytes);
      }
    });
    const Map all = *batch.buffer()->map(Access::read);
    for (std::size_t n = 0; n < 4; ++n) {
      for (const std::size_t byte : bytes_of(*batch.batch(n)))
        ASSERT_EQ(all.bytes()[byte], std::byte{static_cast<unsigned char>(n + 1)});
    }
  }
}

TEST(ImageBatch, one_slot_is_written_by_one_thread_at_a_time) {
  const Tensor batch = batch_of(2, 32, 16, F::nv12);
  const Tensor first = *batch.batch(0);
  const TensorMap mine = *first.map(Access::write);
  std::thread([&batch, &first] {
    EXPECT_FAILS(first.map(Access::write), Errc::busy);
    EXPECT_FAILS(batch.map(Access::write), Errc::busy);
    EXPECT_TRUE(batch.batch(1)->map(Access::write));
    EXPECT_TRUE(first.map(Access::read));
  }).join();
}

TEST(ImageBatch, a_slot_grows_within_itself_only) {
  const Tensor batch = batch_of(3, 64, 64, F::rgb);
  const Tensor slot = *batch.batch(1);
  const Tensor small = *slot.reconfigured(32, 32, F::nv12);
  EXPECT_TRUE(small.reconfigured(64, 64, F::rgb))
      << "the capacity is that of the slot, not its own";
  EXPECT_FAILS(small.reconfigured(64, 65, F::rgb), Errc::exhausted)
      << "the next image of the batch begins there";
  EXPECT_FAILS(batch.batch(2)->reconfigured(64, 65, F::rgb), Errc::exhausted);
  const Tensor raw = *Tensor::create(DType::u8, {4, 100, 100}, Memory::mem);
  EXPECT_TRUE(raw.batch(0)->reconfigured(100, 100, F::grey));
  EXPECT_FAILS(raw.batch(0)->reconfigured(100, 101, F::grey), Errc::exhausted);
}

TEST(ImageBatch, hands_its_metadata_to_its_images) {
  Tensor batch = batch_of(2, 8, 8, F::rgb, DType::i8);
  batch.set_name("input");
  batch.set_colorimetry(Colorimetry::jpeg());
  batch.set_modifier(0x0800000000000001ULL);
  ASSERT_TRUE(batch.set_quantization(Quantization{{1, 2, 3}, {}, 3}));
  const Tensor item = *batch.batch(1);
  EXPECT_EQ(item.name(), "input");
  EXPECT_EQ(item.colorimetry(), Colorimetry::jpeg());
  EXPECT_EQ(item.modifier(), batch.modifier());
  EXPECT_EQ(item.quantization(), (Quantization{{1, 2, 3}, {}, 2}));
  ASSERT_TRUE(batch.set_quantization(Quantization{{1, 2}, {3, 4}, 0}));
  EXPECT_EQ(batch.batch(1)->quantization(), Quantization::per_tensor(2, 4));
}

}  // namespace
}  // namespace halyard
