// SPDX-License-Identifier: Apache-2.0
// Every operation of a canvas and every shape, in every format, against blending pixel by pixel.
#include "draw/canvas.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "draw/boxes.h"
#include "draw/mask/scaled_mask.h"
#include "draw/mask_images.h"

namespace halyard::draw {
namespace {

using test::differences;
using test::formats;
using test::noise_image;
using test::Plain;
using test::planes_of;

constexpr Color color{210, 40, 120, 255};
constexpr Size sizes[] = {{64, 48}, {37, 29}, {1, 7}, {50, 3}, {2, 2}};

using Draw = std::function<void(const Canvas&, const Ink&)>;

// Coverage that `draw` gives to each pixel: white ink on a black image of one channel.
std::vector<std::uint8_t> coverage_of(Size size, const Draw& draw) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(size.width * size.height));
  const Canvas canvas(PixelFormat::grey, size, {}, {PixelRows{out.data(), size.width}});
  draw(canvas, canvas.ink({255, 255, 255}));
  return out;
}

// Draws on noise of every format, and expects the coverage to be blended exactly.
void expect_exact(const Draw& draw, unsigned alpha = 255) {
  unsigned seed = 1;
  for (const Size size : sizes) {
    const auto coverage = coverage_of(size, draw);
    for (const PixelFormat format : formats) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(size.width));
      const Tensor image = noise_image(size, format, ++seed, 5);
      Plain want(image);
      want.blend_each(
          [&](std::size_t x, std::size_t y) {
            const auto width = static_cast<std::size_t>(size.width);
            return static_cast<unsigned>(std::lround(coverage[y * width + x] * alpha / 255.0));
          },
          [](std::size_t, std::size_t) { return color; });
      {
        const TensorMap map = *image.map(Access::read_write);
        const Canvas canvas(image, map);
        draw(canvas, canvas.ink(color, alpha));
      }
      EXPECT_EQ(differences(planes_of(image), want.planes()), 0U);
    }
  }
}

TEST(Canvas, fills_rectangles_with_every_alignment) {
  for (const Rect& rect : {Rect{4, 2, 20, 10},
                           {3, 2, 20, 11},
                           {4, 3, 21, 10},
                           {-5, -5, 7, 1},
                           {30, 20, 90, 90},
                           {0, 0, 1, 1},
                           {1, 1, 2, 2},
                           {8, 8, 8, 12}})
    for (const unsigned alpha : {255U, 100U, 1U, 0U})
      expect_exact([&](const Canvas& canvas, const Ink& ink) { canvas.fill(rect, ink); }, alpha);
}

TEST(Canvas, fills_rows_that_are_longer_than_a_run_of_ones) {
  const Tensor image = noise_image({2500, 2}, PixelFormat::rgb, 3);
  Plain want(image);
  want.blend([](std::size_t x, std::size_t) { return x >= 7 && x < 2491; }, color, 90);
  {
    const TensorMap map = *image.map(Access::read_write);
    const Canvas canvas(image, map);
    canvas.fill({7, 0, 2491, 2}, canvas.ink(color, 90));
  }
  EXPECT_EQ(differences(planes_of(image), want.planes()), 0U);
}

TEST(Canvas, blends_rectangles_that_share_blocks_as_one_operation) {
  const Rect rects[] = {{3, 3, 21, 4}, {3, 4, 4, 9}, {20, 4, 21, 9}, {3, 9, 21, 10}};
  for (const unsigned alpha : {255U, 60U})
    expect_exact([&](const Canvas& canvas, const Ink& ink) { canvas.fill(rects, ink); }, alpha);
}

TEST(Canvas, blends_coverage_at_every_place) {
  std::mt19937 random(9);
  std::vector<std::uint8_t> bytes(12 * 9);
  for (std::uint8_t& byte : bytes)
    byte = random() % 3 == 0 ? 0 : static_cast<std::uint8_t>(random());
  const Coverage upright{bytes.data(), 12, 9, 12};
  const Coverage mirrored{bytes.data() + 8 * 12, 12, 9, -12};
  for (const auto& [x, y] : {std::pair{4, 4}, {5, 4}, {4, 5}, {-3, -2}, {60, 44}, {30, 25}})
    for (const Coverage& coverage : {upright, mirrored})
      expect_exact([&](const Canvas& canvas, const Ink& ink) {
        canvas.blend_coverage(x, y, coverage, ink);
      });
}

TEST(Canvas, weight_is_the_product_of_coverage_and_alpha) {
  const std::uint8_t half[] = {128, 128, 128, 128, 128, 128, 128, 128, 128};
  expect_exact(
      [&](const Canvas& canvas, const Ink& ink) {
        canvas.blend_coverage(3, 3, {half, 3, 3, 3}, ink);
      },
      77);
}

TEST(Canvas, changes_nothing_outside_its_clip) {
  const Rect clip{5, 3, 19, 12};
  for (const PixelFormat format :
       {PixelFormat::rgb, PixelFormat::bgra, PixelFormat::planar_rgb, PixelFormat::grey}) {
    const Tensor image = noise_image({32, 20}, format, 5);
    Plain want(image);
    want.blend(
        [&](std::size_t px, std::size_t py) {
          const auto x = static_cast<int>(px), y = static_cast<int>(py);
          return x >= clip.x0 && x < clip.x1 && y >= clip.y0 && y < clip.y1;
        },
        color, 255);
    {
      const TensorMap map = *image.map(Access::read_write);
      const Canvas canvas(image, map);
      canvas.clipped(clip).clipped({-9, -9, 99, 99}).fill(canvas.bounds(), canvas.ink(color));
    }
    EXPECT_EQ(differences(planes_of(image), want.planes()), 0U);
  }
}

// Sides and corners of a shape share no block, so that each chroma sample is blended once.
TEST(Canvas, draws_boxes_and_tags_exactly_at_even_and_odd_places) {
  CornerCache corners;
  for (int place = 0; place < 16; ++place) {
    const Rect box{2 + place % 2, 2 + place / 2 % 2, 30 + place / 4 % 2, 23 + place / 8 % 2};
    for (const auto& [line, radius] : {std::pair{2, 4}, {3, 6}, {1, 3}, {3, 0}, {2, 5}}) {
      SCOPED_TRACE(std::to_string(place) + ", line " + std::to_string(line));
      expect_exact([&, line = line, radius = radius](const Canvas& canvas, const Ink& ink) {
        stroke_box(canvas, box, line, radius, ink, corners);
      });
    }
    for (const bool round_bottom : {true, false})
      expect_exact([&](const Canvas& canvas, const Ink& ink) {
        fill_round(canvas, box, 5, round_bottom, ink, corners);
      });
  }
}

TEST(Canvas, clears_and_copies_rows_of_all_planes) {
  for (const Size size : sizes) {
    for (const PixelFormat format : formats) {
      const Tensor from = noise_image(size, format, 8, 3), image = noise_image(size, format, 9, 6);
      const test::Planes before = planes_of(image);
      const TensorMap source = *from.map(Access::read);
      {
        const TensorMap map = *image.map(Access::read_write);
        const Canvas canvas(image, map);
        canvas.start_rows(&source, 0, std::min(2, canvas.height()));
        canvas.start_rows(&source, std::min(2, canvas.height()), canvas.height());
      }
      EXPECT_EQ(differences(planes_of(image), planes_of(from)), 0U);
      EXPECT_NE(before, planes_of(from));
      {
        const TensorMap map = *image.map(Access::read_write);
        const Canvas canvas(image, map);
        canvas.start_rows(nullptr, 0, canvas.height());
      }
      const bool is_nv12 = format == PixelFormat::nv12;
      for (std::size_t i = 0; const auto& plane : planes_of(image)) {
        const int want = !is_nv12 ? 0 : i++ == 0 ? 16 : 128;
        EXPECT_EQ(std::count(plane.begin(), plane.end(), want), std::ssize(plane));
      }
    }
  }
}

// ---- scaled masks ----

// The mask's value at a pixel's centre, sampled bilinearly and clamped to the borders' centres.
double sample(const ByteMask& mask, const Box& box, int px, int py) {
  const auto along = [](double at, double begin, double end, std::size_t samples) {
    const double v = (at + 0.5 - begin) / (end - begin) * static_cast<double>(samples) - 0.5;
    return std::clamp(v, 0.0, static_cast<double>(samples - 1));
  };
  const double x = along(px, box.x1, box.x2, mask.width);
  const double y = along(py, box.y1, box.y2, mask.height);
  const auto left = static_cast<std::size_t>(x), top = static_cast<std::size_t>(y);
  const std::size_t right = std::min(left + 1, mask.width - 1);
  const std::size_t bottom = std::min(top + 1, mask.height - 1);
  const double u = x - static_cast<double>(left), v = y - static_cast<double>(top);
  const auto at = [&](std::size_t i, std::size_t j) { return mask.data[j * mask.width + i]; };
  return (at(left, top) * (1 - u) + at(right, top) * u) * (1 - v) +
         (at(left, bottom) * (1 - u) + at(right, bottom) * u) * v;
}

TEST(ScaledMask, sets_pixels_whose_sample_is_at_least_half) {
  std::mt19937 random(4);
  ScaledMask scaled;
  unsigned seed = 0;
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 1}, {7, 5}, {40, 90}, {3, 64}}) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(width * height));
    for (std::uint8_t& byte : bytes)
      byte = random() % 2 == 0 ? 255 : static_cast<std::uint8_t>(random());
    const ByteMask mask{bytes.data(), static_cast<std::size_t>(width),
                        static_cast<std::size_t>(height)};
    for (const Box& box : {Box{3, 5, 40, 150},
                           {-20.5F, -9.25F, 90.75F, 61.5F},
                           {10.4F, 9, 10.6F, 9.4F},
                           {1, 2, 6, 5},
                           {55.5F, 70.25F, 300, 200}}) {
      for (const PixelFormat format : {PixelFormat::rgb, PixelFormat::nv12, PixelFormat::rgba}) {
        const Tensor image = noise_image({61, 149}, format, ++seed);
        Plain want(image);
        int close = 0;  // samples so near to the threshold that float may decide otherwise
        want.blend(
            [&](std::size_t px, std::size_t py) {
              const auto x = static_cast<int>(px), y = static_cast<int>(py);
              const float u = static_cast<float>(x) + 0.5F, v = static_cast<float>(y) + 0.5F;
              if (u < box.x1 || u >= box.x2 || v < box.y1 || v >= box.y2) return false;
              const double value = sample(mask, box, x, y);
              if (std::abs(value - 127.5) < 0.01) ++close;
              return value >= 127.5;
            },
            color, 130);
        {
          const TensorMap map = *image.map(Access::read_write);
          const Canvas canvas(image, map);
          scaled.blend(mask, box, canvas, canvas.ink(color, 130));
        }
        EXPECT_LE(differences(planes_of(image), want.planes()),
                  static_cast<std::size_t>(8 * close));
      }
    }
  }
}

TEST(ScaledMask, draws_nothing_for_boxes_that_are_empty_or_not_finite) {
  const std::uint8_t byte = 255;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor image = noise_image({16, 16}, PixelFormat::nv12, 2);
  const test::Planes before = planes_of(image);
  const TensorMap map = *image.map(Access::read_write);
  const Canvas canvas(image, map);
  ScaledMask scaled;
  for (const Box& box : {Box{nan, 0, 9, 9}, {5, 5, 5, 9}, {9, 0, 3, 9}, {-9, -9, -1, -1}})
    scaled.blend({&byte, 1, 1}, box, canvas, canvas.ink(color));
  scaled.blend({&byte, 0, 1}, {0, 0, 9, 9}, canvas, canvas.ink(color));
  EXPECT_EQ(differences(planes_of(image), before), 0U);
}

}  // namespace
}  // namespace halyard::draw
