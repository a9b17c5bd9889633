// SPDX-License-Identifier: Apache-2.0
// Images: planes, regions, formats on plain tensors, re-labelling inside a capacity.
#include <gtest/gtest.h>

#include <cstring>

#include "halyard/tensor.h"
#include "support/product.h"
#include "support/result.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::image_of;

// Every byte of every plane row gets a value that depends on plane, row and column.
std::uint8_t mark(std::size_t plane, std::size_t row, std::size_t column) {
  return static_cast<std::uint8_t>(plane * 71 + row * 13 + column * 3 + 1);
}

void fill(const Tensor& image) {
  const TensorMap map = *image.map(Access::write);
  for (std::size_t p = 0; p < map.plane_count(); ++p) {
    for (const auto [r, c] : test::grid<std::size_t>(map.plane(p).rows, map.plane(p).row_bytes))
      map.plane(p).writable[r * map.plane(p).stride_bytes + c] = std::byte{mark(p, r, c)};
  }
}

TEST(Image, odd_sizes_are_legal_for_every_format) {
  for (const auto& [f, width, height] : test::product(all_formats(), {1U, 3U, 17U}, {1U, 2U, 5U})) {
    const auto image = Tensor::create_image(width, height, f.format, DType::u8, Memory::mem);
    ASSERT_TRUE(image) << f.name << ": " << image.error().message();
    EXPECT_EQ(image->width(), width);
    EXPECT_EQ(image->height(), height);
    EXPECT_EQ(image->plane_count(), f.planes);
    fill(*image);  // the sanitizers see whether a plane leaves the buffer
    EXPECT_TRUE(image->as_image());
  }
}

TEST(Image, pitch_is_padded_where_chroma_shares_the_buffer) {
  EXPECT_EQ(Tensor::create_image(100, 4, F::rgb, DType::u8, Memory::mem)->row_stride_bytes(), 300U);
  EXPECT_EQ(Tensor::create_image(100, 4, F::nv12, DType::u8, Memory::mem)->row_stride_bytes(),
            128U);
  EXPECT_EQ(Tensor::create_image(100, 4, F::i420, DType::u8, Memory::mem)->row_stride_bytes(),
            128U);
}

TEST(Image, refuses_sizes_outside_the_limits) {
  for (const auto& [width, height] :
       {std::pair<std::size_t, std::size_t>{0, 4}, {4, 0}, {65536, 1}, {1, 65536}})
    EXPECT_FAILS(Tensor::create_image(width, height, F::rgb), Errc::invalid_argument);
}

TEST(Slice, shows_the_same_bytes_of_packed_and_planar_images) {
  for (const PixelFormat format : {F::rgba, F::planar_rgb, F::grey}) {
    const Tensor image = image_of(20, 10, format);
    fill(image);
    const Tensor part = *image.slice({3, 2, 5, 4});
    EXPECT_EQ(part.width(), 5U);
    const std::size_t pixel = format == F::rgba ? 4 : 1;
    const TensorMap map = *part.map(Access::read);
    ASSERT_EQ(map.plane_count(), image.plane_count());
    for (std::size_t p = 0; p < map.plane_count(); ++p) {
      EXPECT_EQ(map.plane(p).rows, 4U);
      EXPECT_EQ(map.plane(p).row_bytes, 5 * pixel);
      const auto last = map.plane(p).data[3 * map.plane(p).stride_bytes + 5 * pixel - 1];
      EXPECT_EQ(last, std::byte{mark(p, 5, 8 * pixel - 1)}) << to_string(format);
    }
    EXPECT_TRUE(aliases(image, part));
  }
}

TEST(Slice, of_chroma_formats_moves_all_planes) {
  for (const PixelFormat format : {F::nv12, F::nv16, F::nv24, F::i420}) {
    const Tensor image = image_of(20, 10, format);
    fill(image);
    const Tensor part = *image.slice({4, 2, 7, 5});
    const FormatInfo& f = info(format);
    const TensorMap map = *part.map(Access::read);
    EXPECT_EQ(map.plane(0).data[0], std::byte{mark(0, 2, 4)});
    const std::size_t column = (4U >> f.chroma_shift_x) * (f.planes == 2 ? 2 : 1);
    EXPECT_EQ(map.plane(1).data[0], std::byte{mark(1, 2U >> f.chroma_shift_y, column)}) << f.name;
    EXPECT_FAILS(map.view<const std::uint8_t, 2>(), Errc::unsupported)
        << "the planes of a part do not follow one another";
  }
}

TEST(WrapImage, takes_planes_from_several_buffers) {
  const auto luma = *allocate(64 * 5, Memory::mem);
  const auto chroma = *allocate(64 * 3, Memory::mem);
  const std::array<Tensor::PlaneSource, 2> planes{{{luma, 0, 64}, {chroma, 0, 64}}};
  const Tensor image = *Tensor::wrap_image(planes, 50, 5, F::nv12);
  fill(image);
  const auto second = chroma->map(Access::read);
  EXPECT_EQ(second->bytes()[64], std::byte{mark(1, 1, 0)});
  EXPECT_FAILS(image.reshape({8 * 50}), Errc::unsupported);
  EXPECT_FAILS(image.reconfigured(4, 4, F::grey), Errc::unsupported);
}

TEST(WrapImage, refuses_planes_that_leave_their_buffers) {
  const auto buffer = *allocate(64 * 5, Memory::mem);
  const auto try_wrap = [](std::initializer_list<Tensor::PlaneSource> planes, PixelFormat format) {
    return code_of(Tensor::wrap_image({planes.begin(), planes.size()}, 50, 5, format));
  };
  EXPECT_EQ(try_wrap({{buffer, 0, 64}}, F::grey), Errc::ok);
  EXPECT_EQ(try_wrap({{buffer, 16, 64}}, F::grey), Errc::invalid_argument);
  EXPECT_EQ(try_wrap({{buffer, 0, 49}}, F::grey), Errc::invalid_argument);
  EXPECT_EQ(try_wrap({{buffer, 0, 64}}, F::nv12), Errc::invalid_argument);
  EXPECT_EQ(try_wrap({{buffer, 0, 64}, {buffer, 0, 40}}, F::nv12), Errc::invalid_argument);
  EXPECT_EQ(try_wrap({{nullptr, 0, 64}}, F::grey), Errc::invalid_argument);
  EXPECT_EQ(try_wrap({{buffer, SIZE_MAX - 4, 64}}, F::grey), Errc::invalid_argument);
  EXPECT_EQ(try_wrap({{buffer, 0, 64}, {buffer, 0, 64}}, F::grey), Errc::invalid_argument);
}

TEST(WrapImage, takes_colour_planes_that_lie_apart) {
  const auto buffer = *allocate(3 * 100, Memory::mem);
  const Tensor::PlaneSource planes{buffer, 0, 16, 100};
  ASSERT_VALUE(const auto image, Tensor::wrap_image({&planes, 1}, 16, 6, F::planar_rgb));
  EXPECT_EQ(image.layout().stride_bytes[0], 100);
  EXPECT_EQ(image.image_plane(2)->offset_bytes, 200U);
  fill(image);
}

TEST(WrapImage, refuses_colour_planes_that_overlap_or_leave_the_buffer) {
  const auto buffer = *allocate(3 * 96, Memory::mem);
  for (const std::size_t apart : {95UL, 97UL, ~0UL, ~0UL / 2, std::size_t{1} << 63}) {
    const Tensor::PlaneSource planes{buffer, 0, 16, apart};
    EXPECT_FAILS(Tensor::wrap_image({&planes, 1}, 16, 6, F::planar_rgb), Errc::invalid_argument)
        << apart;
  }
}

TEST(WrapImage, refuses_a_stride_that_no_pointer_difference_can_be) {
  const Tensor::PlaneSource planes{*allocate(64, Memory::mem), 0, std::size_t{1} << 63};
  EXPECT_FAILS(Tensor::wrap_image({&planes, 1}, 8, 1, F::grey), Errc::invalid_argument);
}

TEST(WrapImage, refuses_offsets_and_strides_that_split_an_element) {
  const auto buffer = *allocate(8192, Memory::mem);
  const auto wrap = [&](const Tensor::PlaneSource& planes) {
    return code_of(Tensor::wrap_image({&planes, 1}, 16, 6, F::planar_rgb, DType::f32));
  };
  EXPECT_EQ(wrap({buffer, 4, 68, 6 * 68 + 4}), Errc::ok);
  EXPECT_EQ(wrap({buffer, 2, 68, 0}), Errc::invalid_argument);
  EXPECT_EQ(wrap({buffer, 0, 66, 0}), Errc::invalid_argument);
  EXPECT_EQ(wrap({buffer, 0, 68, 6 * 68 + 2}), Errc::invalid_argument);
}

TEST(ItemFormat, makes_images_of_the_elements_of_a_batch) {
  Tensor batch = *Tensor::create(DType::u8, {2, 4, 6, 3}, Memory::mem);
  EXPECT_FALSE(batch.batch(1)->is_image());
  ASSERT_TRUE(batch.set_item_format(F::rgb));
  EXPECT_EQ(batch.item_format(), F::rgb);
  EXPECT_EQ(batch.batch(1)->format(), F::rgb);
  EXPECT_FAILS(batch.set_item_format(F::rgba), Errc::invalid_argument);
  EXPECT_EQ(batch.item_format(), F::rgb);
  Tensor image = *batch.batch(0);
  EXPECT_FAILS(image.set_item_format(F::rgb), Errc::invalid_argument);
  ASSERT_TRUE(batch.set_item_format(std::nullopt));
  EXPECT_FALSE(batch.batch(1)->is_image());
}

TEST(AsImage, guesses_the_format_from_the_shape) {
  const auto guess = [](std::initializer_list<std::size_t> shape) {
    return Tensor::create(DType::u8, shape, Memory::mem)->as_image();
  };
  EXPECT_EQ(guess({1, 3, 32, 40})->format(), F::planar_rgb);
  EXPECT_EQ(guess({1, 3, 32, 40})->width(), 40U);
  EXPECT_EQ(guess({1, 32, 40, 3})->format(), F::rgb);
  EXPECT_EQ(guess({32, 40, 4})->format(), F::rgba);
  EXPECT_EQ(guess({4, 32, 40})->format(), F::planar_rgba);
  EXPECT_EQ(guess({1, 1, 32, 40})->format(), F::grey);
  EXPECT_EQ(guess({32, 40, 1})->format(), F::grey);
  EXPECT_FAILS(guess({2, 3, 32, 40}), Errc::invalid_argument);
  EXPECT_FAILS(guess({84, 8400}), Errc::invalid_argument);
}

TEST(WithFormat, keeps_the_bytes_and_checks_the_shape) {
  const Tensor t = *Tensor::create(DType::u8, {6, 4}, Memory::mem);
  const Tensor image = *t.with_format(F::nv12);
  EXPECT_EQ(image.height(), 4U);
  EXPECT_EQ(image.buffer(), t.buffer());
  EXPECT_FAILS(t.with_format(F::rgb), Errc::invalid_argument);
}

TEST(Reconfigured, stays_inside_the_capacity_and_keeps_a_fitting_pitch) {
  const Tensor big = image_of(256, 100, F::nv12);
  const Tensor small = *big.reconfigured(99, 51, F::nv12);
  EXPECT_EQ(small.row_stride_bytes(), 256U);
  EXPECT_EQ(small.buffer(), big.buffer());
  const Tensor rgb = *big.reconfigured(100, 100, F::rgb);
  EXPECT_EQ(rgb.format(), F::rgb);
  const auto refused = big.reconfigured(256, 101, F::nv24);
  EXPECT_FAILS(refused, Errc::exhausted, "38400")
      << "the message names the capacity: " << refused.error().message();
}

TEST(Reconfigured, uses_the_exact_size_when_a_padded_pitch_would_not_fit) {
  const Tensor exact = *Tensor::create(DType::u8, {150, 98}, Memory::mem);
  ASSERT_VALUE(const auto image, exact.reconfigured(98, 100, F::nv12));
  EXPECT_EQ(image.row_stride_bytes(), 98U);
}

TEST(Copy, of_images_leaves_the_row_padding_alone) {
  const Tensor source = image_of(5, 3, F::nv12);
  fill(source);
  const auto buffer = *allocate(4096, Memory::mem);
  std::memset(buffer->map(Access::write)->writable_bytes().data(), 0xee, 4096);
  const Tensor::PlaneSource whole{buffer, 0, 96};
  Tensor destination = *Tensor::wrap_image({&whole, 1}, 5, 3, F::nv12);
  ASSERT_TRUE(copy(source, destination));
  const auto bytes = buffer->map(Access::read);
  EXPECT_EQ(bytes->bytes()[4], std::byte{mark(0, 0, 4)});
  EXPECT_EQ(bytes->bytes()[5], std::byte{0xee});
  EXPECT_EQ(bytes->bytes()[96 * 3 + 5], std::byte{mark(1, 0, 5)});
  EXPECT_EQ(bytes->bytes()[96 * 3 + 6], std::byte{0xee});
}

}  // namespace
}  // namespace halyard
