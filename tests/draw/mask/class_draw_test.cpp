// SPDX-License-Identifier: Apache-2.0
// Class maps on images, and the arithmetic of blending for all weights.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "draw/mask/mask_blend.h"
#include "draw/mask_images.h"

namespace halyard::test {
namespace {

using draw::Ink;

constexpr Color class_palette[] = {{255, 0, 0, 255}, {0, 255, 40, 180}, {10, 20, 255, 77}};

// Regions of a few pixels with some lone ones; ids up to `maximum`.
template <class Id>
std::vector<Id> random_ids(Size size, unsigned seed, unsigned maximum) {
  std::mt19937 random(seed);
  std::vector<Id> out(static_cast<std::size_t>(size.width * size.height));
  unsigned run = 0, id = 0;
  for (Id& value : out) {
    if (run == 0) {
      run = random() % 4 == 0 ? 1 + static_cast<unsigned>(random() % 40) : 1;
      id = static_cast<unsigned>(random() % (maximum + 1));
    }
    --run;
    value = static_cast<Id>(id);
  }
  return out;
}

template <class Id>
Tensor map_of(Size size, const std::vector<Id>& ids) {
  Tensor out = *Tensor::create(
      *dtype_of<Id>, {static_cast<std::size_t>(size.height), static_cast<std::size_t>(size.width)},
      Memory::mem);
  std::memcpy(out.map(Access::write)->writable(), ids.data(), ids.size() * sizeof(Id));
  return out;
}

template <class Id>
void check_maps(unsigned maximum) {
  constexpr int ignored = 1;
  unsigned seed = 1;
  for (const Size size : {Size{64, 32}, {37, 29}, {1, 7}, {130, 3}}) {
    for (const PixelFormat format : formats) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(size.width));
      const auto ids = random_ids<Id>(size, ++seed, maximum);
      const auto id = [&](std::size_t x, std::size_t y) {
        return ids[y * static_cast<std::size_t>(size.width) + x];
      };
      Tensor image = noise_image(size, format, seed, 4);
      Plain want(image);
      want.blend_each(
          [&](std::size_t x, std::size_t y) {
            const double alpha = 0.7F * static_cast<double>(class_palette[id(x, y) % 3].a);
            return id(x, y) == ignored ? 0U : static_cast<unsigned>(std::lround(alpha));
          },
          [&](std::size_t x, std::size_t y) { return class_palette[id(x, y) % 3]; });
      MaskPainter painter;
      ASSERT_TRUE(
          painter.draw(image, map_of(size, ids),
                       {.opacity = 0.7F, .palette = class_palette, .ignored_label = ignored}));
      EXPECT_EQ(differences(planes_of(image), want.planes()), 0U);
    }
  }
}

TEST(ClassDraw, equals_plain_blending_in_every_byte_of_every_format) {
  check_maps<std::uint8_t>(255);
  check_maps<std::uint16_t>(2000);
  check_maps<std::uint8_t>(3);
}

TEST(ClassDraw, blends_each_pixel_once_where_rows_follow_each_other_without_a_gap) {
  const Size size{5, 4};
  for (const PixelFormat format : {PixelFormat::rgb, PixelFormat::grey}) {
    const std::size_t pixel_bytes = info(format).channels;
    std::vector<std::uint8_t> bytes(20 * pixel_bytes, 100);
    const Tensor::PlaneSource rows{*wrap_memory(bytes.data(), bytes.size(), {}), 0,
                                   5 * pixel_bytes};
    Tensor image = *Tensor::wrap_image({&rows, 1}, 5, 4, format, DType::u8);
    const std::vector<std::uint8_t> ids(20, 1);
    MaskPainter painter;
    ASSERT_TRUE(painter.draw(image, map_of(size, ids), {.palette = class_palette}));
    EXPECT_NE(bytes[0], 100);
    for (std::size_t i = pixel_bytes; i < bytes.size(); ++i)
      EXPECT_EQ(bytes[i], bytes[i % pixel_bytes]) << i;
  }
}

TEST(ClassDraw, refuses_maps_that_do_not_fit) {
  Tensor image = noise_image({12, 10}, PixelFormat::planar_rgb, 1);
  const Planes before = planes_of(image);
  MaskPainter painter;
  const auto code = [&](const Tensor& map, const MaskDrawOptions& options) {
    const Status status = painter.draw(image, map, options);
    EXPECT_FALSE(status);
    return status ? Errc::os : status.error().code;
  };
  const auto tensor = [](DType dtype, std::initializer_list<std::size_t> shape) {
    return *Tensor::create(dtype, shape, Memory::mem);
  };
  EXPECT_EQ(code(tensor(DType::u8, {12, 10}), {.clear = true}), Errc::invalid_argument);
  EXPECT_EQ(code(tensor(DType::u8, {10, 12, 2}), {.clear = true}), Errc::invalid_argument);
  EXPECT_EQ(code(tensor(DType::u8, {120}), {.clear = true}), Errc::invalid_argument);
  EXPECT_EQ(code(tensor(DType::i32, {10, 12}), {.clear = true}), Errc::unsupported);
  EXPECT_EQ(code(tensor(DType::u8, {10, 12}), {.content = RegionF(0, 0, 1, 1), .clear = true}),
            Errc::invalid_argument);
  const Tensor own = *image.reshape({3, 10, 12})->batch(0);
  EXPECT_EQ(code(own, {.clear = true}), Errc::invalid_argument);
  EXPECT_EQ(differences(planes_of(image), before), 0U);
}

// ---- arithmetic ----

TEST(Blend, rounds_to_the_nearest_for_every_weight_and_value) {
  std::vector<std::uint8_t> on(256, 255), pixels(256);
  for (unsigned color = 0; color < 256; color += 15) {
    for (unsigned alpha = 0; alpha < 256; ++alpha) {
      for (unsigned p = 0; p < 256; ++p)
        pixels[p] = static_cast<std::uint8_t>(p);
      const auto byte = static_cast<std::uint8_t>(color);
      draw::blend_plane({on.data(), 256, 256, 1}, {pixels.data(), 256},
                        {{byte, 0, 0, 0}, static_cast<std::uint8_t>(alpha)}, 0);
      for (unsigned p = 0; p < 256; ++p)
        ASSERT_EQ(pixels[p], (2 * (color * alpha + p * (255 - alpha)) + 255) / 510);
    }
  }
}

TEST(Blend, chroma_is_the_mean_of_its_four_pixels) {
  std::vector<std::uint8_t> chroma(512);
  for (unsigned n = 0; n <= 4; ++n) {
    std::vector<std::uint8_t> rows[2] = {std::vector<std::uint8_t>(512),
                                         std::vector<std::uint8_t>(512)};
    for (unsigned i = 0; i < n; ++i) {
      for (std::size_t x = i % 2; x < 512; x += 2)
        rows[i / 2][x] = 255;
    }
    for (unsigned alpha = 0; alpha < 256; ++alpha) {
      for (std::size_t p = 0; p < 512; ++p)
        chroma[p] = static_cast<std::uint8_t>(p / 2);
      draw::blend_chroma(rows[0].data(), rows[1].data(), 256, chroma.data(),
                         {{0, 201, 255, 0}, static_cast<std::uint8_t>(alpha)});
      for (unsigned p = 0; p < 512; ++p) {
        const unsigned color = p % 2 == 0 ? 201 : 255;
        ASSERT_EQ(chroma[p], (color * alpha * n + p / 2 * (1020 - alpha * n) + 510) / 1020);
      }
    }
  }
}

TEST(Blend, touches_nothing_beside_rows_of_any_width) {
  std::mt19937 random(5);
  const Ink ink{{200, 30, 90, 1}, 99};
  for (std::size_t width = 1; width <= 150; ++width) {
    for (const std::size_t size : {1U, 3U, 4U}) {
      constexpr std::size_t height = 3, edge = 70;
      const std::size_t stride = width * size + edge;
      std::vector<std::uint8_t> mask(height * width), pixels((height + 2) * stride);
      for (std::uint8_t& m : mask)
        m = random() % 3 == 0 ? 0 : 255;
      for (std::uint8_t& p : pixels)
        p = static_cast<std::uint8_t>(random());
      std::vector<std::uint8_t> want = pixels;
      for (std::size_t i = 0; i < mask.size(); ++i) {
        std::uint8_t* to = &want[(1 + i / width) * stride + i % width * size];
        for (std::size_t k = 0; mask[i] != 0 && k < std::min<std::size_t>(size, 3); ++k)
          to[k] = static_cast<std::uint8_t>((2 * (ink.bytes[k] * 99 + to[k] * 156) + 255) / 510);
      }
      const draw::MaskRows rows{mask.data(), width, width, height};
      const draw::PixelRows to{pixels.data() + stride, static_cast<std::ptrdiff_t>(stride)};
      if (size == 1) blend_plane(rows, to, ink, 0);
      if (size == 3) blend_packed3(rows, to, ink);
      if (size == 4) blend_packed4(rows, to, ink);
      ASSERT_EQ(pixels, want) << width << " x " << size;
    }
  }
}

}  // namespace
}  // namespace halyard::test
