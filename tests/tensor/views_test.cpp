// SPDX-License-Identifier: Apache-2.0
// Views: parts of images, other formats and other shapes of the same bytes.
#include <gtest/gtest.h>

#include <random>

#include "support/product.h"
#include "support/result.h"
#include "tensor/byte_sets.h"
#include "tensor/image_storage.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::bytes_of;
using test::contiguous;
using test::image_of;

TEST(Slice, of_every_format_shows_the_samples_of_the_whole_at_the_same_place) {
  for (const auto& [f, dtype] : test::product(all_formats(), {DType::u8, DType::u16})) {
    const Tensor image = image_of(21, 13, f.format, dtype);
    const Tensor part = *image.slice({4, 2, 7, 5});
    const std::size_t element = size_of(dtype);
    for (std::size_t p = 0; p < image.plane_count(); ++p) {
      const ImagePlane whole = *image.image_plane(p);
      const ImagePlane plane = *part.image_plane(p);
      const bool chroma = p > 0 && f.kind != FormatKind::planar;
      const std::size_t sx = chroma ? f.chroma_shift_x : 0;
      const std::size_t sy = chroma ? f.chroma_shift_y : 0;
      const std::size_t samples = f.kind == FormatKind::packed                  ? f.channels
                                  : chroma && f.kind == FormatKind::semi_planar ? 2
                                                                                : 1;
      EXPECT_EQ(plane.stride_bytes, whole.stride_bytes);
      EXPECT_EQ(plane.offset_bytes, whole.offset_bytes + (2U >> sy) * whole.stride_bytes +
                                        (4U >> sx) * samples * element)
          << f.name << " plane " << p;
      EXPECT_EQ(plane.rows, (5 + (1U << sy) - 1) >> sy) << f.name << " plane " << p;
    }
    const auto inside = bytes_of(image);
    for (const std::size_t byte : bytes_of(part))
      ASSERT_EQ(inside.count(byte), 1U) << f.name << ": a part has no byte of its own";
  }
}

TEST(Slice, of_one_row_or_one_column_or_all_is_legal) {
  for (const FormatInfo& f : all_formats()) {
    const Tensor image = image_of(17, 9, f.format);
    EXPECT_TRUE(image.slice({0, 8, 17, 1})) << f.name;
    EXPECT_TRUE(image.slice({16, 0, 1, 9})) << f.name;
    EXPECT_TRUE(image.slice({16, 8, 1, 1})) << f.name;
    EXPECT_EQ(bytes_of(*image.slice({0, 0, 17, 9})), bytes_of(image)) << f.name;
  }
  const Tensor row = *image_of(17, 9, F::rgb).slice({2, 3, 4, 1});
  EXPECT_EQ((*row.map(Access::read)->flat<const std::uint8_t>()).size(), 12U)
      << "one row has no gaps";
}

TEST(Slice, never_clamps) {
  for (const FormatInfo& f : all_formats()) {
    const Tensor image = image_of(16, 8, f.format);
    for (const Region& region :
         {Region{0, 0, 17, 8}, Region{0, 0, 16, 9}, Region{16, 0, 1, 1}, Region{0, 8, 1, 1},
          Region{2, 0, 15, 1}, Region{0, 2, 1, 7}, Region{0, 0, 0, 1}, Region{0, 0, 1, 0},
          Region{-2, 0, 2, 2}, Region{0, -2, 2, 2}, Region{0, 0, -1, 1},
          Region{INT32_MAX - 1, 0, 2, 2}, Region{2, 2, INT32_MAX, 1},
          Region{INT32_MAX, 0, INT32_MAX, 4}})
      EXPECT_FAILS(image.slice(region), Errc::invalid_argument, "region") << f.name;
  }
}

TEST(Slice, begins_at_chroma_blocks_and_mosaic_periods_or_says_why_not) {
  for (const FormatInfo& f : all_formats()) {
    const Tensor image = image_of(16, 8, f.format);
    const bool bayer = f.model == ColorModel::bayer;
    const bool odd_x = f.chroma_shift_x == 0 && !bayer;
    const bool odd_y = f.chroma_shift_y == 0 && !bayer;
    for (const auto& [region, is_legal] :
         {std::pair{Region{1, 0, 3, 3}, odd_x}, std::pair{Region{0, 1, 3, 3}, odd_y}}) {
      const auto part = image.slice(region);
      EXPECT_TRUE(is_legal ? part.has_value() : test::fails(part, Errc::invalid_argument, "region"))
          << f.name;
    }
    EXPECT_TRUE(image.slice({2, 2, 3, 3})) << f.name;
  }
  EXPECT_FAILS(image_of(16, 8, F::nv12).slice({0, 1, 4, 4}), "(0, 1) with blocks of 2x2 in nv12");
}

TEST(Slice, of_slices_equals_one_slice) {
  std::mt19937 random(7);
  for (const FormatInfo& f : all_formats()) {
    const Tensor image = image_of(31, 23, f.format);
    for (int round = 0; round < 50; ++round) {
      const auto even = [&random](int n) { return static_cast<int>(random() % n) & ~1; };
      const Region outer{even(10), even(8), 20, 14};
      const Region inner{even(10), even(6), 1 + even(9), 1 + even(7)};
      const Tensor nested = *image.slice(outer)->slice(inner);
      const Tensor direct =
          *image.slice({outer.x + inner.x, outer.y + inner.y, inner.width, inner.height});
      EXPECT_EQ(bytes_of(nested), bytes_of(direct)) << f.name;
      EXPECT_EQ(nested.offset_bytes(), direct.offset_bytes()) << f.name;
    }
  }
}

TEST(Slice, keeps_name_and_colours_and_cuts_per_channel_quantization) {
  Tensor image = image_of(4, 3, F::rgb, DType::i8);
  image.set_name("camera");
  image.set_colorimetry(Colorimetry::jpeg());
  ASSERT_TRUE(image.set_quantization(Quantization{{1, 2, 3}, {4, 5, 6}, 2}));
  const Tensor part = *image.slice({1, 1, 2, 2});
  EXPECT_EQ(part.name(), "camera");
  EXPECT_EQ(part.colorimetry(), Colorimetry::jpeg());
  EXPECT_EQ(part.quantization(), image.quantization()) << "channels are not cut";
  ASSERT_TRUE(image.set_quantization(Quantization{{1, 2, 3}, {4, 5, 6}, 0}));
  EXPECT_EQ(image.slice({1, 1, 2, 2})->quantization(), (Quantization{{2, 3}, {5, 6}, 0}));
  EXPECT_EQ(image.slice({1, 1, 2, 1})->quantization(), Quantization::per_tensor(2, 5));
  ASSERT_TRUE(image.set_quantization(Quantization{{1, 2, 3, 4}, {}, 1}));
  EXPECT_EQ(image.slice({2, 0, 2, 2})->quantization(), (Quantization{{3, 4}, {}, 1}));
  Tensor planar = image_of(4, 3, F::planar_rgb, DType::i8);
  ASSERT_TRUE(planar.set_quantization(Quantization{{1, 2, 3, 4}, {}, 2}));
  EXPECT_EQ(planar.slice({2, 0, 2, 2})->quantization(), (Quantization{{3, 4}, {}, 2}));
  for (const Tensor& t : {part, *planar.slice({2, 0, 2, 2})})
    EXPECT_TRUE(validate(*t.quantization(), t.dtype(), t.shape()));
}

TEST(Slice, of_planes_below_each_other_drops_a_quantization_per_row_or_column) {
  for (const FormatInfo& f : all_formats()) {
    if (!is_flat(f)) continue;
    Tensor image = image_of(8, 4, f.format);
    ASSERT_TRUE(image.set_quantization(Quantization::per_tensor(0.5F, 3)));
    EXPECT_EQ(image.slice({2, 0, 4, 2})->quantization(), image.quantization()) << f.name;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::vector<float> scales(image.shape()[axis], 0.5F);
      ASSERT_TRUE(image.set_quantization(Quantization{scales, {}, axis})) << f.name;
      EXPECT_EQ(image.slice({2, 0, 4, 2})->quantization(), std::nullopt)
          << f.name << " axis " << axis;
      EXPECT_EQ(image.slice({0, 0, 8, 4})->quantization(), image.quantization())
          << f.name << " axis " << axis;
    }
  }
}

TEST(Orientation, goes_with_the_rows_that_it_speaks_of) {
  const Orientation rotated{Flip::horizontal, Rotation::cw90};
  // Rows of DMA memory have gaps, which reshape() refuses.
  Tensor image = image_of(16, 8, F::rgb);
  EXPECT_EQ(image.orientation(), Orientation{});
  EXPECT_EQ(image.upright_size(), (Size{16, 8}));
  image.set_orientation(rotated);
  EXPECT_EQ(image.upright_size(), (Size{8, 16}));
  EXPECT_EQ(image.slice({2, 2, 4, 3})->orientation(), rotated);
  EXPECT_EQ(image.slice({2, 2, 4, 3})->upright_size(), (Size{3, 4}));
  EXPECT_EQ(image.reshape({std::size_t{16 * 8 * 3}})->orientation(), Orientation{});
  EXPECT_EQ(image.reconfigured(8, 16, F::rgb)->orientation(), Orientation{});

  Tensor copied = image;
  EXPECT_EQ(copied.orientation(), rotated);
  const Tensor moved = std::move(copied);
  EXPECT_EQ(moved.orientation(), rotated);
  EXPECT_EQ(copied.orientation(), Orientation{});  // NOLINT(bugprone-use-after-move)
  Tensor assigned;
  assigned = Tensor(moved);
  EXPECT_EQ(assigned.orientation(), rotated);

  Tensor batch = *Tensor::create_image_batch(2, 16, 8, F::rgb);
  batch.set_orientation(rotated);
  EXPECT_EQ(batch.batch(1)->orientation(), rotated);
}

TEST(Image, sizes_may_come_as_one) {
  ASSERT_VALUE(const auto made, Tensor::create_image(Size{6, 4}, F::nv12));
  EXPECT_EQ(made.size(), (Size{6, 4}));
  EXPECT_FAILS(Tensor::create_image(Size{-6, 4}, F::nv12), Errc::invalid_argument);
}

TEST(Slice, resolves_the_open_colours_of_yuv_and_leaves_those_of_rgb) {
  Tensor yuv = image_of(8, 720, F::yuyv);
  yuv.set_colorimetry({{}, {}, {}, ColorRange::full});
  const Colorimetry c = yuv.slice({0, 0, 4, 4})->colorimetry();
  EXPECT_EQ(c, resolve(yuv.colorimetry(), 720));
  EXPECT_EQ(c.range, ColorRange::full);
  yuv.set_colorimetry(Colorimetry::jpeg());
  EXPECT_EQ(yuv.slice({0, 0, 4, 4})->colorimetry(), Colorimetry::jpeg());
  EXPECT_EQ(image_of(8, 720, F::rgb).slice({0, 0, 4, 4})->colorimetry(), Colorimetry{});
}

TEST(Slice, of_what_does_not_lie_in_rows_is_refused) {
  Tensor image = image_of(16, 8, F::rgba);
  image.set_modifier(0x0800000000000001ULL);
  const auto part = image.slice({0, 0, 8, 8});
  EXPECT_FAILS(part, Errc::unsupported, "modifier");
  EXPECT_EQ(image.slice({0, 0, 16, 8})->modifier(), image.modifier()) << "all of it is no part";
  image.set_modifier(drm_modifier_invalid);
  EXPECT_EQ(image.slice({0, 0, 8, 8})->modifier(), drm_modifier_invalid);
}

TEST(Slice, cannot_grow_over_its_neighbours) {
  const Tensor image = image_of(64, 64, F::rgba);
  const Tensor part = *image.slice({0, 0, 32, 32});
  EXPECT_FAILS(part.reconfigured(8, 8, F::rgba), Errc::unsupported)
      << "its rows are shared with the right half";
  EXPECT_TRUE(image.slice({0, 0, 64, 64})->reconfigured(32, 32, F::rgba));
}

TEST(WithFormat, keeps_modifier_name_and_the_axis_of_channels) {
  Tensor t = *Tensor::create(DType::i8, {1, 4, 5, 3}, Memory::mem);
  t.set_modifier(0x0800000000000001ULL);
  t.set_name("net");
  ASSERT_TRUE(t.set_quantization(Quantization{{1, 2, 3}, {}, 3}));
  const Tensor image = *t.with_format(F::rgb);
  EXPECT_EQ(image.modifier(), t.modifier());
  EXPECT_FAILS(image.map(Access::read), Errc::unsupported);
  EXPECT_EQ(image.name(), "net");
  EXPECT_EQ(image.quantization(), (Quantization{{1, 2, 3}, {}, 2}));
  EXPECT_TRUE(validate(*image.quantization(), image.dtype(), image.shape()));
}

TEST(WithFormat, takes_colour_planes_that_lie_apart) {
  const auto buffer = *allocate(4096, Memory::mem);
  Layout layout = contiguous(DType::u8, {3, 4, 5});
  layout.stride_bytes = {1000, 8, 1};
  const Tensor image = *Tensor::wrap(buffer, layout, 16)->with_format(F::planar_rgb);
  EXPECT_EQ(image.image_plane(2)->offset_bytes, 2016U);
  EXPECT_EQ(image.image_plane(2)->stride_bytes, 8U);
  layout.stride_bytes = {8, 24, 1};
  EXPECT_FALSE(Tensor::wrap(buffer, layout)->with_format(F::planar_rgb))
      << "rows of the planes take turns: no planar image";
}

TEST(WithFormat, is_refused_where_the_planes_do_not_follow_one_another) {
  const Tensor top = *image_of(16, 16, F::nv12).slice({0, 0, 16, 8});
  EXPECT_FAILS(top.with_format(F::nv21), Errc::unsupported);
  EXPECT_EQ(bytes_of(*top.with_format(F::nv12)), bytes_of(top)) << "its own format changes nothing";
  EXPECT_TRUE(image_of(16, 16, F::nv12).with_format(F::nv21));
}

TEST(Reshape, refuses_images_whose_planes_do_not_follow_one_another) {
  const Tensor image = image_of(64, 16, F::nv12);
  EXPECT_TRUE(image.reshape({24 * 64}));
  const Tensor top = *image.slice({0, 0, 64, 8});
  EXPECT_TRUE(top.layout().is_contiguous()) << "the luma rows alone have no gaps";
  EXPECT_FAILS(top.reshape({12 * 64}), Errc::unsupported);
  const auto buffer = *allocate(64 * 40, Memory::mem);
  const std::array<Tensor::PlaneSource, 2> apart{{{buffer, 0, 64}, {buffer, 64 * 30, 64}}};
  EXPECT_FAILS(Tensor::wrap_image(apart, 64, 16, F::nv12)->reshape({24 * 64}), Errc::unsupported);
}

TEST(Reshape, drops_the_format_and_keeps_what_still_holds) {
  Tensor image = image_of(4, 3, F::rgb, DType::i8);
  image.set_name("x");
  image.set_modifier(drm_modifier_invalid);
  ASSERT_TRUE(image.set_quantization(Quantization::per_tensor(0.5F, 3)));
  const Tensor flat = *image.reshape({36});
  EXPECT_FALSE(flat.is_image());
  EXPECT_EQ(flat.width(), 0U);
  EXPECT_EQ(flat.plane_count(), 0U);
  EXPECT_EQ(flat.row_stride_bytes(), 0U);
  EXPECT_EQ(flat.name(), "x");
  EXPECT_EQ(flat.modifier(), drm_modifier_invalid);
  EXPECT_EQ(*flat.quantization(), Quantization::per_tensor(0.5F, 3));
  EXPECT_EQ(flat.buffer(), image.buffer());
}

TEST(Reshape, moves_the_axis_of_channels_or_drops_their_quantization) {
  Tensor t = *Tensor::create(DType::i8, {1, 3, 4, 5}, Memory::mem);
  ASSERT_TRUE(t.set_quantization(Quantization{{1, 2, 3}, {}, 1}));
  EXPECT_EQ(t.reshape({3, 20})->quantization()->axis, 0U);
  EXPECT_EQ(t.reshape({1, 1, 3, 2, 10})->quantization()->axis, 2U);
  EXPECT_FALSE(t.reshape({60})->quantization());
  EXPECT_FALSE(t.reshape({20, 3})->quantization()) << "the same extent, but other elements";
  EXPECT_FALSE(t.reshape({5, 4, 3})->quantization());
}

TEST(Reshape, of_strided_tensors_is_refused) {
  EXPECT_FAILS(image_of(20, 4, F::rgb).slice({0, 0, 10, 4})->reshape({120}), Errc::unsupported);
}

TEST(Wrap, refuses_offsets_and_strides_between_elements) {
  const auto buffer = *allocate(4096, Memory::mem);
  const Layout layout = contiguous(DType::u16, {4, 4});
  EXPECT_TRUE(Tensor::wrap(buffer, layout, 2));
  EXPECT_FAILS(Tensor::wrap(buffer, layout, 1), Errc::invalid_argument);
  const auto image = [](Tensor::PlaneSource plane) {
    return code_of(Tensor::wrap_image({&plane, 1}, 4, 4, F::grey, DType::u16));
  };
  EXPECT_EQ(image({buffer, 2, 10}), Errc::ok);
  EXPECT_EQ(image({buffer, 1, 10}), Errc::invalid_argument);
  EXPECT_EQ(image({buffer, 2, 9}), Errc::invalid_argument);
}

TEST(TensorMap, views_of_elements_between_addresses_are_refused) {
  alignas(8) std::array<std::byte, 64> bytes{};
  const auto buffer = *wrap_memory(static_cast<void*>(bytes.data() + 1), 32, {});
  const TensorMap map = *Tensor::wrap(buffer, contiguous(DType::f32, {4}))->map(Access::read);
  EXPECT_FAILS(map.view<const float, 1>(), Errc::invalid_argument);
  EXPECT_FAILS(map.flat<const float>(), Errc::invalid_argument);
  Layout layout = contiguous(DType::u16, {4});
  layout.stride_bytes[0] = 3;
  const TensorMap strided = *Tensor::wrap(*allocate(64, Memory::mem), layout)->map(Access::read);
  EXPECT_FAILS(strided.view<const std::uint16_t, 1>(), Errc::invalid_argument);
}

}  // namespace
}  // namespace halyard
