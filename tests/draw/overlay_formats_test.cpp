// SPDX-License-Identifier: Apache-2.0
// One scene drawn by Overlay on images of every format.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "draw/mask_images.h"
#include "draw/pixels.h"
#include "halyard/draw.h"

namespace halyard {
namespace {

using test::Pixels;
using test::plain_image;

class OverlayFormats : public testing::Test {
 protected:
  void SetUp() override {
    auto probe = Overlay::create();
    if (!probe) GTEST_SKIP() << probe.error().message();
  }
  static Overlay thick_overlay() {
    return *Overlay::create({.labels = {"boat", "buoy"}, .line_px = 3, .text_px = 12});
  }
};

// Boxes, tags, coasting tracks, and trails of two earlier frames.
void draw_scene(Overlay& overlay, Tensor& image) {
  std::vector<Track> tracks{{1, {11, 31, 90, 81}, 0.9F, 0, 0, 1, {}, {}},
                            {2, {50, 40, 141, 95}, 0.4F, 1, -1, 1, {}, {}}};
  for (int i = 0; i < 3; ++i) {
    for (Track& track : tracks)
      track.box.x2 += 9;
    Tensor earlier = plain_image(160, 100);
    ASSERT_TRUE(overlay.draw(i < 2 ? earlier : image, tracks));
  }
  ASSERT_TRUE(overlay.text(image, 5, 3, "harbour", {20, 90, 200, 160}));
}

TEST_F(OverlayFormats, every_format_of_channels_shows_the_same_colors) {
  Tensor rgb = plain_image(160, 100);
  auto first = thick_overlay();
  draw_scene(first, rgb);
  const Pixels want(rgb);
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::rgba, PixelFormat::bgra,
                                   PixelFormat::planar_rgb, PixelFormat::planar_rgba}) {
    SCOPED_TRACE(to_string(format));
    Tensor image = plain_image(160, 100, format);
    auto other = thick_overlay();
    draw_scene(other, image);
    const auto planes = test::planes_of(image);
    const bool is_planar = info(format).kind == FormatKind::planar;
    const bool is_swapped = format == PixelFormat::bgr || format == PixelFormat::bgra;
    const std::size_t channels = info(format).channels;
    for (std::size_t i = 0; i < std::size_t{160} * 100; ++i) {
      const auto byte = [&](std::size_t c) {
        return is_planar ? planes[c][i] : planes[0][i * channels + c];
      };
      const Color got{byte(is_swapped ? 2 : 0), byte(1), byte(is_swapped ? 0 : 2)};
      ASSERT_EQ(got, want(static_cast<int>(i % 160), static_cast<int>(i / 160)));
      if (channels == 4) {
        ASSERT_EQ(byte(3), test::background);
      }
    }
  }
}

// The image drawn as RGB and then converted by the formulas of colorimetry.h.
TEST_F(OverlayFormats, nv12_and_grey_show_what_a_converted_image_shows) {
  Tensor rgb = plain_image(160, 100);
  Tensor nv12 = plain_image(160, 100, PixelFormat::nv12);
  Tensor grey = plain_image(160, 100, PixelFormat::grey);
  const RgbToYuv m = rgb_to_yuv(ColorEncoding::bt601, ColorRange::full);
  nv12.set_colorimetry({{}, {}, ColorEncoding::bt601, ColorRange::full});
  {
    const auto map = *nv12.map(Access::read_write);
    const MappedPlane& chroma = map.plane(1);
    std::memset(chroma.writable, 128, chroma.rows * chroma.stride_bytes);
  }
  for (Tensor* image : {&rgb, &nv12, &grey}) {
    auto each = thick_overlay();
    draw_scene(each, *image);
  }
  const Pixels want(rgb);
  const auto yuv = test::planes_of(nv12), luma = test::planes_of(grey);
  double error = 0;
  for (int y = 0; y < 100; y += 2)
    for (int x = 0; x < 160; x += 2) {
      double u = 0, v = 0;
      for (int k = 0; k < 4; ++k) {
        const int px = x + k % 2, py = y + k / 2;
        const Color c = want(px, py);
        const double l = m.kr * c.r + m.kg * c.g + m.kb * c.b;
        const auto at = static_cast<std::size_t>(py * 160 + px);
        ASSERT_NEAR(yuv[0][at], l, 1.6);
        ASSERT_NEAR(luma[0][at], l, 1.6);
        u += (128 + m.u_scale * (c.b - l)) / 4;
        v += (128 + m.v_scale * (c.r - l)) / 4;
      }
      const auto at = static_cast<std::size_t>(y / 2 * 160 + x);
      error += std::abs(yuv[1][at] - u) + std::abs(yuv[1][at + 1] - v);
    }
  EXPECT_LT(error / (80 * 50 * 2), 0.5);  // blocks at edges of overlapping shapes differ
}

}  // namespace
}  // namespace halyard
