// SPDX-License-Identifier: Apache-2.0
// Colour constants against the published figures.
#include "halyard/colorimetry.h"

#include <gtest/gtest.h>

#include "support/product.h"

namespace halyard {
namespace {

TEST(Colorimetry, unknown_axes_follow_the_height) {
  const Colorimetry hd = resolve({}, 720);
  EXPECT_EQ(hd.encoding, ColorEncoding::bt709);
  EXPECT_EQ(hd.range, ColorRange::limited);
  EXPECT_EQ(resolve({}, 719).encoding, ColorEncoding::bt601);
  EXPECT_EQ(resolve({}, 719).space, ColorSpace::smpte170m);
  EXPECT_EQ(resolve({}, 0).encoding, ColorEncoding::bt709);
  EXPECT_EQ(resolve(Colorimetry::jpeg(), 2000), Colorimetry::jpeg());
}

TEST(YuvToRgb, limited_range_coefficients) {
  const YuvToRgb c601 = yuv_to_rgb(ColorEncoding::bt601, ColorRange::limited);
  EXPECT_NEAR(c601.rv, 1.596, 5e-4);
  EXPECT_NEAR(c601.bu, 2.017, 5e-4);
  EXPECT_NEAR(c601.gu, 0.391, 1e-3);
  EXPECT_NEAR(c601.gv, 0.813, 5e-4);
  const YuvToRgb c709 = yuv_to_rgb(ColorEncoding::bt709, ColorRange::limited);
  EXPECT_NEAR(c709.rv, 1.793, 5e-4);
  EXPECT_NEAR(c709.bu, 2.113, 1e-3);
  EXPECT_NEAR(c709.gu, 0.213, 5e-4);
  EXPECT_NEAR(c709.gv, 0.533, 5e-4);
  const YuvToRgb full = yuv_to_rgb(ColorEncoding::bt601, ColorRange::full);
  EXPECT_NEAR(full.rv, 1.402, 1e-9);
  EXPECT_NEAR(full.bu, 1.772, 1e-9);
  EXPECT_EQ(full.y_scale, 1);
}

TEST(RgbToYuv, inverts_yuv_to_rgb_for_every_matrix_and_range) {
  for (const auto& [encoding, range] :
       test::product({ColorEncoding::bt601, ColorEncoding::bt709, ColorEncoding::bt2020},
                     {ColorRange::full, ColorRange::limited})) {
    const YuvToRgb to = yuv_to_rgb(encoding, range);
    const RgbToYuv from = rgb_to_yuv(encoding, range);
    const double y = 100, u = 90, v = 160;
    const double l = to.y_scale * (y - to.y_offset);
    const double r = l + to.rv * (v - 128);
    const double g = l - to.gu * (u - 128) - to.gv * (v - 128);
    const double b = l + to.bu * (u - 128);
    const double luma = from.kr * r + from.kg * g + from.kb * b;
    EXPECT_NEAR(from.y_offset + from.y_scale * luma, y, 1e-9);
    EXPECT_NEAR(128 + from.u_scale * (b - luma), u, 1e-9);
    EXPECT_NEAR(128 + from.v_scale * (r - luma), v, 1e-9);
  }
}

}  // namespace
}  // namespace halyard
