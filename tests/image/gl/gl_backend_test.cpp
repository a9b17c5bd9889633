// SPDX-License-Identifier: Apache-2.0
// The OpenGL backend against the reference, on any renderer: every format on each side, every
// element type, orientation, fit and filter; what it declines; its steady state.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include "gl/worker.h"
#include "image/gl/gl_fixture.h"
#include "support/allocations.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

constexpr F colour_formats[] = {F::yuyv, F::nv12, F::nv16,       F::rgba,        F::rgb,  F::grey,
                                F::bgra, F::vyuy, F::planar_rgb, F::planar_rgba, F::nv24, F::uyvy,
                                F::yvyu, F::nv21, F::i420,       F::bgr};

TEST_F(GlBackend, every_format_is_read_and_written_as_the_reference_says) {
  for (const F format : colour_formats) {
    SCOPED_TRACE(to_string(format));
    for (const auto& [from, to] :
         {std::pair(format, F::rgb), {F::rgba, format}, {format, format}}) {
      EXPECT_TRUE(compare(request(from, to)));
      Convert same = request(from, to, DType::u8, {34, 18}, {34, 18});
      EXPECT_TRUE(compare(same));
    }
  }
}

TEST_F(GlBackend, every_element_type_is_stored) {
  for (const auto& [to, dtype] :
       product({F::rgb, F::planar_rgb, F::bgra, F::grey},
               {DType::u8, DType::i8, DType::u16, DType::f16, DType::bf16, DType::f32})) {
    SCOPED_TRACE(testing::Message() << to_string(to) << " " << to_string(dtype));
    EXPECT_TRUE(compare(request(F::nv12, to, dtype)));
    Convert numbers = request(F::nv12, to, dtype);
    if (is_float(dtype)) {
      numbers.normalize = Normalize::mean_std({0.4F, 0.5F, 0.6F}, {0.2F, 0.3F, 0.1F});
    } else {
      ASSERT_OK(numbers.dst.set_quantization(Quantization{{0.0071F}, {5}, {}}));
    }
    EXPECT_TRUE(compare(numbers));
  }
}

TEST_F(GlBackend, halves_are_rounded_to_nearest_even_also_small_and_large_ones) {
  for (const float scale : {1e-9F, 3e-7F, 1e-5F, 0.37F, 256.9F}) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      Convert c = request(F::grey, F::grey, dtype, {32, 8}, {32, 8});
      c.normalize = Normalize{{scale, scale, scale, scale}, {0, 0, 0, 0}};
      EXPECT_TRUE(compare(c)) << scale;
    }
  }
}

TEST_F(GlBackend, sixteen_bit_sources_have_their_significant_bits) {
  for (const int bits : {8, 10, 12, 16}) {
    Convert c{.src = random_image(random_, 20, 10, F::grey, DType::u16, bits),
              .dst = zero_image(13, 17, F::rgb)};
    c.source_bits = static_cast<std::uint8_t>(bits);
    EXPECT_TRUE(compare(c)) << bits;
  }
}

TEST_F(GlBackend, every_orientation_goes_with_every_flip_and_rotation_and_fit) {
  const auto turns = {Rotation::none, Rotation::cw90, Rotation::cw180, Rotation::cw270};
  const auto flips = {Flip::none, Flip::horizontal, Flip::vertical};
  for (const Rotation rotation : turns) {
    for (const Flip flip : flips) {
      for (const Fit fit : {Fit::stretch, Fit::letterbox, Fit::cover, Fit::top_left}) {
        Convert c = request(F::nv12, F::rgb);
        c.rotation = rotation;
        c.flip = flip;
        c.fit = fit;
        c.orientation = Orientation{Flip::horizontal, Rotation::cw90};
        c.crop = RegionF(3.25, 2.5, 17.5, 30);
        c.place = Region{2, 3, 17, 21};
        EXPECT_TRUE(compare(c));
        c.crop.reset();
        c.place.reset();
        EXPECT_TRUE(compare(c));
      }
    }
  }
}

TEST_F(GlBackend, every_filter_has_the_weights_of_the_reference) {
  for (const Filter filter :
       {Filter::nearest, Filter::bilinear, Filter::bicubic, Filter::lanczos3, Filter::box}) {
    for (const bool antialias : {false, true}) {
      for (const Size target : {Size{20, 14}, {61, 43}, {38, 26}}) {
        Convert c = request(F::yuyv, F::rgba, DType::u8, {38, 26}, {target.width, target.height});
        c.filter = filter;
        c.antialias = antialias;
        EXPECT_TRUE(compare(c));
        c.chroma = Chroma::bilinear;
        EXPECT_TRUE(compare(c));
      }
    }
  }
}

TEST_F(GlBackend, colours_follow_the_images_colorimetry) {
  for (const auto& [encoding, range] :
       product({ColorEncoding::bt601, ColorEncoding::bt709, ColorEncoding::bt2020},
               {ColorRange::limited, ColorRange::full})) {
    for (const auto& [from, to] : {std::pair(F::nv12, F::rgb),
                                   {F::rgb, F::nv12},
                                   {F::nv12, F::nv24},
                                   {F::i420, F::grey},
                                   {F::grey, F::yuyv}}) {
      Convert c = request(from, to);
      c.src.set_colorimetry({.encoding = encoding, .range = range});
      c.dst.set_colorimetry({.encoding = ColorEncoding::bt601, .range = ColorRange::full});
      EXPECT_TRUE(compare(c));
    }
  }
}

TEST_F(GlBackend, alpha_and_swapped_channels_are_those_of_the_request) {
  for (const AlphaStep alpha :
       {AlphaStep::keep, AlphaStep::premultiply, AlphaStep::unpremultiply}) {
    Convert c = request(F::rgba, F::bgra);
    c.alpha = alpha;
    EXPECT_TRUE(compare(c));
    c.bgr = true;
    c.pad = {1, 2, 3, 4};
    c.fit = Fit::letterbox;
    EXPECT_TRUE(compare(c));
  }
}

TEST_F(GlBackend, odd_sizes_and_rows_of_any_pitch_leave_what_lies_beside) {
  for (const int width : {1, 2, 3, 5, 7, 13, 31, 33}) {
    for (const F to : {F::rgb, F::grey, F::nv12, F::planar_rgb}) {
      Convert c = request(F::rgb, to, DType::u8, {width, 9}, {width, 9});
      EXPECT_TRUE(compare(c)) << width;
      Convert odd{.src = random_image(random_, 9, width, F::nv12),
                  .dst = random_image(random_, width, 5, to)};
      EXPECT_TRUE(compare(odd)) << width;
    }
  }
}

TEST_F(GlBackend, serves_plain_tensors_batches_and_queues) {
  Convert c = request(F::nv12, F::rgb);
  c.dst = *Tensor::create(DType::f32, {1, 3, 20, 20});
  EXPECT_OK(processor().convert(c));
  const Tensor batch = *Tensor::create(DType::u8, {3, 16, 16, 3});
  const std::vector<Tensor> sources(3, c.src);
  EXPECT_OK(processor().convert_batch(sources, batch, {.fit = Fit::letterbox}));
  Convert late = request(F::nv12, F::rgb);
  EXPECT_OK(processor().convert_deferred(late));
  EXPECT_OK(processor().flush());
  Convert now = late;
  now.dst = zero_image(late.dst.width(), late.dst.height(), F::rgb);
  EXPECT_OK(processor().convert(now));
  const auto rows = [](const Tensor& image) {
    const auto map = *image.map(Access::read);
    std::vector<std::byte> out;
    for (std::size_t y = 0; y < map.plane(0).rows; ++y)
      out.insert(out.end(), map.plane(0).data + y * map.plane(0).stride_bytes,
                 map.plane(0).data + y * map.plane(0).stride_bytes + map.plane(0).row_bytes);
    return out;
  };
  EXPECT_EQ(rows(now.dst), rows(late.dst));
}

TEST_F(GlBackend, pixel_buffers_are_read_and_written) {
  Convert c = request(F::nv12, F::rgb);
  Convert pbo = c;
  pbo.src = *Tensor::create_image(38, 26, F::nv12, DType::u8, Memory::pbo);
  pbo.dst = *Tensor::create_image(22, 30, F::rgb, DType::u8, Memory::pbo);
  ASSERT_OK(copy(c.src, pbo.src));
  EXPECT_TRUE(compare(pbo));
}

TEST_F(GlBackend, names_what_it_does_not_serve) {
  const auto expect = [&](const Convert& c, const char* reason) {
    EXPECT_FAILS(processor().convert(c), Errc::unsupported, reason);
  };
  Convert c = request(F::rgb, F::rgb);
  c.affine = Affine{{1e-9, 0, 0, 0, 1, 0}};
  expect(c, "2^29 pixels");
  c = request(F::grey, F::rgb, DType::u8, {300, 300}, {8, 8});
  c.affine = Affine{{0.01, 0.001, 0, -0.001, 0.01, 0}};
  c.antialias = true;
  expect(c, "32768 loop iterations");
  const std::int32_t largest = any_worker()->capabilities().max_texture_size;
  expect(request(F::grey, F::grey, DType::u8, {largest + 1, 1}, {8, 1}), "largest texture");
  EXPECT_OK(processor().convert(request(F::grey, F::grey, DType::u8, {largest, 1}, {8, 1})));
}

TEST_F(GlBackend, allocates_nothing_in_the_steady_state) {
  const Convert all[] = {request(F::nv12, F::rgb), request(F::nv12, F::planar_rgb, DType::f32),
                         request(F::rgb, F::nv12)};
  EXPECT_EQ(allocations_of([&] {
              for (const Convert& c : all)
                EXPECT_TRUE(processor().convert(c));
            }),
            0U);
}

TEST_F(GlBackend, many_processors_come_and_go) {
  const Convert c = request(F::nv12, F::rgb);
  for (int i = 0; i < 100; ++i) {
    auto made = Processor::create();
    ASSERT_OK(made);
    if (i % 20 == 0) {
      EXPECT_OK(made->convert(c));
    }
  }
}

}  // namespace
}  // namespace halyard::test
#endif
