// SPDX-License-Identifier: Apache-2.0
// The format table and what is derived from it: shapes, strides, plane geometry, names.
#include "halyard/format.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;

std::vector<std::size_t> shape_of(PixelFormat format, std::size_t width, std::size_t height) {
  std::array<std::size_t, 8> shape{};
  const std::size_t rank = image_shape(format, width, height, shape);
  return {shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(rank)};
}

using Shape = std::vector<std::size_t>;

TEST(FormatTable, rows_stand_at_their_enumerators_with_unique_names) {
  std::set<std::string_view> names;
  std::set<std::string_view> codes;
  std::size_t coded = 0;
  for (std::size_t i = 0; i < all_formats().size(); ++i) {
    const FormatInfo& f = all_formats()[i];
    EXPECT_EQ(static_cast<std::size_t>(f.format), i);
    names.insert(f.name);
    if (!f.fourcc.empty()) {
      EXPECT_EQ(f.fourcc.size(), 4U) << f.name;
      codes.insert(f.fourcc);
      ++coded;
    }
    EXPECT_EQ(format_from_string(f.name), f.format);
  }
  EXPECT_EQ(names.size(), all_formats().size());
  EXPECT_EQ(codes.size(), coded);
}

TEST(FormatTable, formats_with_alpha_say_so_in_their_names) {
  for (const FormatInfo& f : all_formats())
    EXPECT_EQ(f.has_alpha, f.name.ends_with("a") && f.model == ColorModel::rgb) << f.name;
}

TEST(FormatTable, finds_names_in_any_case_and_four_character_codes) {
  EXPECT_EQ(format_from_string("NV12"), F::nv12);
  EXPECT_EQ(format_from_string("nv99"), std::nullopt);
  EXPECT_EQ(format_from_fourcc("Y800"), F::grey);
  EXPECT_EQ(format_from_fourcc("RGB "), F::rgb);
  EXPECT_EQ(format_from_fourcc(""), std::nullopt);
}

TEST(FormatTable, numbers_are_those_of_the_c_interface) {
  EXPECT_EQ(static_cast<int>(F::yuyv), 0);
  EXPECT_EQ(static_cast<int>(F::rgb), 4);
  EXPECT_EQ(static_cast<int>(F::nv24), 10);
  EXPECT_EQ(static_cast<int>(DType::f16), 8);
  EXPECT_EQ(static_cast<int>(DType::f64), 10);
}

TEST(DTypes, names_and_sizes) {
  const std::array<std::size_t, 13> sizes = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 2, 1};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(size_of(dtype), sizes[i]) << to_string(dtype);
    EXPECT_EQ(dtype_from_string(to_string(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from_string("float32"), DType::f32);
  EXPECT_EQ(dtype_from_string("int7"), std::nullopt);
  EXPECT_TRUE(is_float(DType::bf16));
  EXPECT_FALSE(is_integer(DType::boolean));
}

TEST(ImageShape, follows_the_format) {
  EXPECT_EQ(shape_of(F::rgb, 640, 480), (Shape{480, 640, 3}));
  EXPECT_EQ(shape_of(F::yuyv, 640, 480), (Shape{480, 640, 2}));
  EXPECT_EQ(shape_of(F::planar_rgba, 640, 480), (Shape{4, 480, 640}));
  EXPECT_EQ(shape_of(F::nv12, 640, 483), (Shape{725, 640}));
  EXPECT_EQ(shape_of(F::i420, 641, 483), (Shape{725, 641}));
  EXPECT_EQ(shape_of(F::nv16, 640, 480), (Shape{960, 640}));
  EXPECT_EQ(shape_of(F::nv24, 640, 480), (Shape{1440, 640}));
}

TEST(ImageShape, is_inverted_by_image_extent_for_every_format_and_odd_sizes) {
  for (const FormatInfo& f : all_formats()) {
    for (std::size_t width = 1; width < 8; ++width) {
      for (std::size_t height = 1; height < 40; ++height) {
        const auto extent = image_extent(f.format, shape_of(f.format, width, height));
        ASSERT_TRUE(extent) << f.name << " " << width << "x" << height << ": "
                            << extent.error().message();
        EXPECT_EQ(extent->width, width);
        EXPECT_EQ(extent->height, height);
      }
    }
  }
}

TEST(ImageExtent, refuses_shapes_that_no_image_has) {
  EXPECT_FALSE(image_extent(F::nv12, Shape{4, 8}));  // rows = 1 mod 3
  EXPECT_FALSE(image_extent(F::nv16, Shape{5, 8}));  // odd
  EXPECT_FALSE(image_extent(F::nv24, Shape{4, 8}));  // not a multiple of 3
  EXPECT_FALSE(image_extent(F::rgb, Shape{4, 8, 4}));
  EXPECT_FALSE(image_extent(F::rgb, Shape{4, 8}));
  EXPECT_FALSE(image_extent(F::planar_rgb, Shape{4, 8, 8}));
  EXPECT_FALSE(image_extent(F::grey, Shape{0, 8, 1}));
  EXPECT_TRUE(image_extent(F::rgb, Shape{1, 4, 8, 3})) << "a batch of one is an image";
}

TEST(PlaneGeometry, nv12_with_odd_sizes) {
  const auto luma = *plane_geometry(F::nv12, DType::u8, 319, 179, 320, 0);
  EXPECT_EQ(luma.row_bytes, 319U);
  EXPECT_EQ(luma.rows, 179U);
  const auto chroma = *plane_geometry(F::nv12, DType::u8, 319, 179, 320, 1);
  EXPECT_EQ(chroma.row_bytes, 320U);
  EXPECT_EQ(chroma.rows, 90U);
  EXPECT_EQ(chroma.stride_bytes, 320U);
  EXPECT_EQ(chroma.offset_bytes, 179U * 320U);
}

TEST(PlaneGeometry, nv24_chroma_rows_take_two_strides) {
  const auto chroma = *plane_geometry(F::nv24, DType::u8, 100, 50, 128, 1);
  EXPECT_EQ(chroma.row_bytes, 200U);
  EXPECT_EQ(chroma.stride_bytes, 256U);
  EXPECT_EQ(chroma.rows, 50U);
  EXPECT_EQ(*image_bytes(F::nv24, DType::u8, 100, 50, 128), 128U * 150U);
}

TEST(PlaneGeometry, i420_planes_follow_one_another) {
  const auto cb = *plane_geometry(F::i420, DType::u8, 5, 3, 64, 1);
  const auto cr = *plane_geometry(F::i420, DType::u8, 5, 3, 64, 2);
  EXPECT_EQ(cb.row_bytes, 3U);
  EXPECT_EQ(cb.stride_bytes, 32U);
  EXPECT_EQ(cb.offset_bytes, 3U * 64U);
  EXPECT_EQ(cr.offset_bytes, 3U * 64U + 2U * 32U);
  EXPECT_EQ(*image_bytes(F::i420, DType::u8, 5, 3, 64), 64U * 5U);
}

TEST(PlaneGeometry, every_plane_of_every_format_lies_inside_the_image) {
  for (const auto& [f, dtype, width, height] : test::product(
           all_formats(), {DType::u8, DType::u16, DType::f32}, {1U, 2U, 7U, 64U}, {1U, 2U, 5U})) {
    const std::size_t total = *image_bytes(f.format, dtype, width, height, 0);
    std::size_t end = 0;
    for (std::size_t plane = 0; plane < f.planes; ++plane) {
      const auto g = *plane_geometry(f.format, dtype, width, height, 0, plane);
      EXPECT_GE(g.offset_bytes, end) << f.name << " planes must not overlap";
      end = g.offset_bytes + (g.rows - 1) * g.stride_bytes + g.row_bytes;
      EXPECT_LE(end, total) << f.name << " " << width << "x" << height;
    }
  }
}

TEST(PlaneGeometry, refuses_what_cannot_be) {
  EXPECT_FAILS(plane_geometry(F::rgb, DType::u8, 0, 4, 0, 0), Errc::invalid_argument);
  EXPECT_FAILS(plane_geometry(F::rgb, DType::u8, 4, 0, 0, 0), Errc::invalid_argument);
  EXPECT_FAILS(plane_geometry(F::rgb, DType::u8, 4, 4, 11, 0), Errc::invalid_argument);
  EXPECT_FAILS(plane_geometry(F::rgb, DType::u8, 4, 4, 0, 1), Errc::invalid_argument);
  EXPECT_FAILS(plane_geometry(F::nv12, DType::u8, 5, 4, 5, 0), Errc::invalid_argument);
  EXPECT_FAILS(plane_geometry(F::i420, DType::u8, 4, 4, 65, 0), Errc::invalid_argument);
  constexpr std::size_t maximum = std::numeric_limits<std::size_t>::max();
  EXPECT_FAILS(plane_geometry(F::rgba, DType::f32, maximum / 8, 4, 0, 0), Errc::invalid_argument);
  EXPECT_FAILS(plane_geometry(F::grey, DType::u8, maximum / 2, 4, 0, 0), Errc::invalid_argument);
}

TEST(TightStride, rounds_odd_widths_where_a_pair_shares_chroma) {
  EXPECT_EQ(*tight_stride(F::nv12, DType::u8, 5), 6U);
  EXPECT_EQ(*tight_stride(F::yuyv, DType::u8, 5), 12U);
  EXPECT_EQ(*tight_stride(F::rgb, DType::u8, 5), 15U);
  EXPECT_EQ(*tight_stride(F::planar_rgb, DType::f32, 5), 20U);
}

TEST(Half, reads_normal_subnormal_infinite_and_nan) {
  EXPECT_EQ(to_float(Half{0x3C00}), 1.0F);
  EXPECT_EQ(to_float(Half{0xC000}), -2.0F);
  EXPECT_EQ(to_float(Half{0x0001}), 0x1p-24F);
  EXPECT_EQ(to_float(Half{0x03FF}), 0x1p-14F - 0x1p-24F);
  EXPECT_EQ(to_float(Half{0x7BFF}), 65504.0F);
  EXPECT_TRUE(std::signbit(to_float(Half{0x8000})));
  EXPECT_EQ(to_float(Half{0xFC00}), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(to_float(Half{0x7C01})));
}

TEST(BFloat16, is_the_upper_half_of_a_float) {
  EXPECT_EQ(to_float(BFloat16{0x3F80}), 1.0F);
  EXPECT_EQ(to_float(BFloat16{0xC040}), -3.0F);
  EXPECT_TRUE(std::isnan(to_float(BFloat16{0x7FC0})));
}

}  // namespace
}  // namespace halyard
