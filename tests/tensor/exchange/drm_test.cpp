// SPDX-License-Identifier: Apache-2.0
// Names in DRM, V4L2 and EGL: both ways, and against the kernel's headers where they are installed.
#include "halyard/drm.h"

#include <gtest/gtest.h>

#include <set>

#include "support/product.h"

#if __has_include(<drm/drm_fourcc.h>)
#include <drm/drm_fourcc.h>
#elif __has_include(<libdrm/drm_fourcc.h>)
#include <libdrm/drm_fourcc.h>
#endif
#if __has_include(<linux/videodev2.h>)
#include <linux/videodev2.h>
#endif

namespace halyard {
namespace {

using F = PixelFormat;
using T = DType;

constexpr std::array all_dtypes = {T::u8,  T::i8,  T::u16, T::i16, T::u32,  T::i32,    T::u64,
                                   T::i64, T::f16, T::f32, T::f64, T::bf16, T::boolean};

std::uint32_t code(const char (&text)[5]) {
  return static_cast<std::uint32_t>(text[0]) | static_cast<std::uint32_t>(text[1]) << 8 |
         static_cast<std::uint32_t>(text[2]) << 16 | static_cast<std::uint32_t>(text[3]) << 24;
}

std::vector<PixelLayout> all_layouts() {
  std::vector<PixelLayout> layouts;
  for (const auto& [f, dtype] : test::product(all_formats(), all_dtypes))
    layouts.push_back({f.format, dtype});
  return layouts;
}

std::string name_of(PixelLayout layout) {
  return std::string(to_string(layout.format)) + " " + std::string(to_string(layout.dtype));
}

TEST(DrmFourcc, names_words_where_the_library_names_bytes) {
  EXPECT_EQ(drm_fourcc({F::rgb}), code("BG24"));
  EXPECT_EQ(drm_fourcc({F::bgr}), code("RG24"));
  EXPECT_EQ(drm_fourcc({F::rgba}), code("AB24"));
  EXPECT_EQ(drm_fourcc({F::bgra}), code("AR24"));
  EXPECT_EQ(drm_fourcc({F::grey, T::u16}), code("R16 "));
  EXPECT_EQ(drm_fourcc({F::rgba, T::f16}), code("AB4H"));
  EXPECT_EQ(drm_fourcc({F::nv12}), code("NV12"));
  EXPECT_EQ(drm_fourcc({F::i420}), code("YU12"));
}

TEST(DrmFourcc, comes_back_as_the_layout_it_was_made_from_and_is_unique) {
  std::set<std::uint32_t> seen;
  for (const PixelLayout layout : all_layouts()) {
    const auto fourcc = drm_fourcc(layout);
    if (!fourcc) continue;
    EXPECT_TRUE(seen.insert(*fourcc).second) << name_of(layout);
    EXPECT_EQ(layout_from_drm(*fourcc), layout) << name_of(layout);
  }
  EXPECT_EQ(seen.size(), 22U);
}

TEST(DrmFourcc, is_absent_where_drm_has_no_such_format) {
  for (const F format :
       {F::planar_rgb, F::planar_rgba, F::bayer_rggb, F::bayer_bggr, F::bayer_grbg, F::bayer_gbrg})
    EXPECT_FALSE(drm_fourcc({format})) << to_string(format);
  EXPECT_FALSE(drm_fourcc({F::rgba, T::f32}));
  EXPECT_FALSE(drm_fourcc({F::nv12, T::u16}));
  EXPECT_FALSE(drm_fourcc({F::rgb, T::i8}));
}

TEST(DrmFourcc, takes_codes_without_alpha_in_but_never_gives_them_out) {
  EXPECT_EQ(layout_from_drm(code("XR24")), (PixelLayout{F::bgra}));
  EXPECT_EQ(layout_from_drm(code("XB24")), (PixelLayout{F::rgba}));
  EXPECT_EQ(layout_from_drm(code("XB4H")), (PixelLayout{F::rgba, T::f16}));
  EXPECT_EQ(layout_from_v4l2(code("XR24")), (PixelLayout{F::bgra}));
  EXPECT_EQ(layout_from_v4l2(code("XB24")), (PixelLayout{F::rgba}));
  EXPECT_FALSE(layout_from_v4l2(code("XB4H")));
}

TEST(DrmFourcc, unknown_codes_are_no_layout) {
  for (const std::uint32_t fourcc : {0U, 1U, code("RA24"), code("NV42"), code("YV12"), code("RG16"),
                                     code("BG24") | 1U << 31, 0xFFFFFFFFU})
    EXPECT_FALSE(layout_from_drm(fourcc)) << fourcc_to_string(fourcc);
}

TEST(V4l2PixelFormat, comes_back_as_the_layout_it_was_made_from_and_is_unique) {
  std::set<std::uint32_t> seen;
  for (const PixelLayout layout : all_layouts()) {
    for (std::size_t planes = 0; planes <= 4; ++planes) {
      const auto fourcc = v4l2_pixel_format(layout, planes);
      if (!fourcc) continue;
      EXPECT_TRUE(planes == 1 || planes == info(layout.format).planes) << name_of(layout);
      EXPECT_TRUE(seen.insert(*fourcc).second) << name_of(layout) << " " << planes;
      EXPECT_EQ(layout_from_v4l2(*fourcc), layout) << name_of(layout);
    }
  }
  EXPECT_EQ(seen.size(), 29U);
}

TEST(V4l2PixelFormat, tells_contiguous_from_separate_planes) {
  EXPECT_EQ(v4l2_pixel_format({F::nv12}), code("NV12"));
  EXPECT_EQ(v4l2_pixel_format({F::nv12}, 2), code("NM12"));
  EXPECT_EQ(v4l2_pixel_format({F::i420}, 3), code("YM12"));
  EXPECT_FALSE(v4l2_pixel_format({F::i420}, 2));
  EXPECT_FALSE(v4l2_pixel_format({F::nv24}, 2)) << "V4L2 has no multi-planar NV24";
  EXPECT_FALSE(v4l2_pixel_format({F::rgb}, 3));
  EXPECT_FALSE(v4l2_pixel_format({F::rgb}, 0));
}

TEST(V4l2PixelFormat, ambiguous_and_unknown_codes_are_no_layout) {
  for (const std::uint32_t fourcc : {0U, code("RGB4"), code("BGR4"), code("MJPG"), code("RG10"),
                                     code("NM61"), code("R8  "), 0xFFFFFFFFU})
    EXPECT_FALSE(layout_from_v4l2(fourcc)) << fourcc_to_string(fourcc);
}

TEST(V4l2PixelFormat, agrees_with_the_names_of_the_format_table) {
  // The table says "RGB " and "RGBA" and "BGRA" as the C interface does; Y800 is GREY's other name.
  for (const FormatInfo& f : all_formats()) {
    const bool own_name = f.format == F::rgb || f.has_alpha || f.format == F::grey;
    if (own_name || f.fourcc.empty()) continue;
    EXPECT_EQ(fourcc_to_string(v4l2_pixel_format({f.format}).value_or(0)), f.fourcc);
  }
}

TEST(FourccToString, shows_letters_or_the_number) {
  EXPECT_EQ(fourcc_to_string(code("NV12")), "NV12");
  EXPECT_EQ(fourcc_to_string(code("R8  ")), "R8  ");
  EXPECT_EQ(fourcc_to_string(0), "0x00000000");
  EXPECT_EQ(fourcc_to_string(code("NV12") | 1U << 31), "0xb231564e");
}

TEST(Modifier, is_linear_only_when_rows_and_columns_mean_addresses) {
  EXPECT_TRUE(is_linear(drm_modifier_linear));
  EXPECT_TRUE(is_linear(drm_modifier_invalid));
  EXPECT_FALSE(is_linear(0x0100000000000001ULL));
  EXPECT_FALSE(is_linear(1));
}

TEST(Modifier, is_shown_with_its_vendor) {
  EXPECT_EQ(modifier_to_string(drm_modifier_linear), "linear");
  EXPECT_EQ(modifier_to_string(drm_modifier_invalid), "invalid");
  EXPECT_EQ(modifier_to_string(0x0800000000000001ULL), "arm 0x0800000000000001");
  EXPECT_EQ(modifier_to_string(0x0100000000000002ULL), "intel 0x0100000000000002");
  EXPECT_EQ(modifier_to_string(0x0C00000000000001ULL), "apple 0x0c00000000000001");
  EXPECT_EQ(modifier_to_string(0x0D00000000000001ULL), "unknown 0x0d00000000000001");
  EXPECT_EQ(modifier_to_string(5), "none 0x0000000000000005");
}

TEST(Compression, follows_from_the_modifier) {
  EXPECT_EQ(compression_of(drm_modifier_linear), Compression::none);
  EXPECT_EQ(compression_of(drm_modifier_invalid), Compression::none);
  EXPECT_EQ(compression_of(0x0800000000000001ULL), Compression::afbc);
  EXPECT_EQ(compression_of(0x0810000000000001ULL), Compression::none) << "arm 16x16 tiles";
  EXPECT_EQ(compression_of(0x0820000000000001ULL), Compression::any) << "arm AFRC";
  EXPECT_EQ(compression_of(0x0500000000000001ULL), Compression::ubwc);
  EXPECT_EQ(compression_of(0x0500000000000003ULL), Compression::none) << "qcom tiles";
  EXPECT_EQ(compression_of(0x0200000000002001ULL), Compression::dcc);
  EXPECT_EQ(compression_of(0x0200000000000001ULL), Compression::none) << "amd tiles";
  EXPECT_EQ(compression_of(0x0100000000000001ULL), Compression::none) << "intel X tiles";
  EXPECT_EQ(compression_of(0x0100000000000009ULL), Compression::none) << "intel 4 tiles";
  EXPECT_EQ(compression_of(0x0100000000000006ULL), Compression::any) << "intel CCS";
  EXPECT_EQ(compression_of(0x0300000000000010ULL), Compression::none) << "nvidia block linear";
  EXPECT_EQ(compression_of(0x0300000000800010ULL), Compression::any);
  EXPECT_EQ(compression_of(0x0600000000000001ULL), Compression::none) << "vivante tiles";
  EXPECT_EQ(compression_of(0x0610000000000001ULL), Compression::any) << "vivante DEC400";
  EXPECT_EQ(compression_of(0x0A00000000000001ULL), Compression::any) << "amlogic FBC";
  EXPECT_EQ(compression_of(0x0B00000000000001ULL), Compression::none) << "mediatek tiles";
  EXPECT_EQ(compression_of(0x0B00000000000101ULL), Compression::any);
  EXPECT_EQ(compression_of(0x0C00000000000001ULL), Compression::none) << "apple tiles";
  EXPECT_EQ(compression_of(0x0C00000000000002ULL), Compression::any);
  EXPECT_EQ(compression_of(0x0700000000000001ULL), Compression::none) << "broadcom tiles";
  EXPECT_EQ(compression_of(0xFF00000000000001ULL), Compression::none) << "nobody's";
}

TEST(Compression, names_come_back) {
  for (const Compression c : {Compression::none, Compression::any, Compression::ubwc,
                              Compression::afbc, Compression::pvric, Compression::dcc})
    EXPECT_EQ(compression_from_string(to_string(c)), c);
  EXPECT_FALSE(compression_from_string(""));
  EXPECT_FALSE(compression_from_string("AFBC"));
  EXPECT_FALSE(compression_from_string("unknown"));
  EXPECT_EQ(to_string(static_cast<Compression>(6)), "unknown");
}

std::vector<Colorimetry> all_colorimetries() {
  std::vector<Colorimetry> all;
  for (const auto& [space, transfer, encoding, range] :
       test::product(test::upto(5), test::upto(6), test::upto(4), test::upto(3)))
    all.push_back({static_cast<ColorSpace>(space), static_cast<ColorTransfer>(transfer),
                   static_cast<ColorEncoding>(encoding), static_cast<ColorRange>(range)});
  return all;
}

// The whole list of what V4L2 cannot say.
bool v4l2_can_say(const Colorimetry& c) {
  const bool open = c.encoding == ColorEncoding::unknown || c.range == ColorRange::unknown;
  return c.transfer != ColorTransfer::hlg && !(c.space != ColorSpace::unknown && open);
}

TEST(V4l2Colorimetry, comes_back_wherever_v4l2_can_say_it) {
  int exact = 0;
  for (const Colorimetry& c : all_colorimetries()) {
    const Colorimetry back = colorimetry_from_v4l2(v4l2_colorimetry(c));
    EXPECT_EQ(back == c, v4l2_can_say(c))
        << static_cast<int>(c.space) << static_cast<int>(c.transfer) << static_cast<int>(c.encoding)
        << static_cast<int>(c.range);
    EXPECT_EQ(back.space, c.space);
    EXPECT_TRUE(back.transfer == c.transfer || c.transfer == ColorTransfer::hlg);
    EXPECT_TRUE(back.encoding == c.encoding || c.encoding == ColorEncoding::unknown);
    EXPECT_TRUE(back.range == c.range || c.range == ColorRange::unknown);
    exact += back == c ? 1 : 0;
  }
  EXPECT_EQ(exact, 5 * 12 + 4 * 5 * 6);
}

TEST(V4l2Colorimetry, defaults_follow_from_the_colorspace) {
  struct Case {
    std::uint32_t colorspace;
    ColorSpace space;
    ColorEncoding encoding;
    ColorRange range;
  };
  using S = ColorSpace;
  using E = ColorEncoding;
  using R = ColorRange;
  for (const Case& c :
       {Case{0, S::unknown, E::unknown, R::unknown}, Case{1, S::smpte170m, E::bt601, R::limited},
        Case{2, S::unknown, E::unknown, R::limited}, Case{3, S::bt709, E::bt709, R::limited},
        Case{4, S::unknown, E::unknown, R::unknown}, Case{5, S::smpte170m, E::bt601, R::limited},
        Case{6, S::smpte170m, E::bt601, R::limited}, Case{7, S::srgb, E::bt601, R::full},
        Case{8, S::srgb, E::bt601, R::limited}, Case{9, S::unknown, E::bt601, R::limited},
        Case{10, S::bt2020, E::bt2020, R::limited}, Case{11, S::unknown, E::unknown, R::unknown},
        Case{12, S::unknown, E::bt709, R::limited}, Case{99, S::unknown, E::unknown, R::unknown}})
    EXPECT_EQ(colorimetry_from_v4l2({c.colorspace, 0, 0, 0}),
              (Colorimetry{c.space, ColorTransfer::unknown, c.encoding, c.range}))
        << c.colorspace;
}

TEST(V4l2Colorimetry, explicit_codes_win_and_foreign_ones_are_unknown) {
  EXPECT_EQ(colorimetry_from_v4l2({7, 0, 2, 2}),
            (Colorimetry{ColorSpace::srgb, ColorTransfer::unknown, ColorEncoding::bt709,
                         ColorRange::limited}));
  EXPECT_EQ(colorimetry_from_v4l2({3, 3, 3, 3}),
            (Colorimetry{ColorSpace::bt709, {}, ColorEncoding::unknown, ColorRange::unknown}));
  const auto hlg = v4l2_colorimetry({ColorSpace::bt2020, ColorTransfer::hlg, {}, {}});
  EXPECT_EQ(hlg, (V4l2Colorimetry{10, 0, 0, 0}));
}

TEST(DrmColorimetry, carries_encoding_and_range_both_ways) {
  for (const Colorimetry& c : all_colorimetries()) {
    const Colorimetry carried{{}, {}, c.encoding, c.range};
    EXPECT_EQ(colorimetry_from_drm(drm_colorimetry(c)), carried);
    EXPECT_EQ(colorimetry_from_egl(egl_colorimetry(c)), carried);
  }
  EXPECT_EQ(drm_colorimetry({{}, {}, ColorEncoding::bt2020, ColorRange::limited}),
            (DrmColorimetry{2, 0}));
  EXPECT_EQ(egl_colorimetry({{}, {}, ColorEncoding::bt601, ColorRange::full}),
            (EglColorimetry{0x327F, 0x3282}));
  EXPECT_EQ(colorimetry_from_drm({7, 7}), Colorimetry{});
  EXPECT_EQ(colorimetry_from_egl({0, 0}), Colorimetry{});
}

#ifdef DRM_FORMAT_MOD_LINEAR
TEST(DrmFourcc, agrees_with_the_kernels_header) {
  const std::pair<PixelLayout, std::uint32_t> facts[] = {
      {{F::rgb}, DRM_FORMAT_BGR888},
      {{F::bgr}, DRM_FORMAT_RGB888},
      {{F::rgba}, DRM_FORMAT_ABGR8888},
      {{F::bgra}, DRM_FORMAT_ARGB8888},
      {{F::grey}, DRM_FORMAT_R8},
      {{F::grey, T::u16}, DRM_FORMAT_R16},
      {{F::rgba, T::u16}, DRM_FORMAT_ABGR16161616},
      {{F::bgra, T::u16}, DRM_FORMAT_ARGB16161616},
      {{F::rgba, T::f16}, DRM_FORMAT_ABGR16161616F},
      {{F::bgra, T::f16}, DRM_FORMAT_ARGB16161616F},
#ifdef DRM_FORMAT_BGR161616
      {{F::rgb, T::u16}, DRM_FORMAT_BGR161616},
      {{F::bgr, T::u16}, DRM_FORMAT_RGB161616},
#endif
#ifdef DRM_FORMAT_BGR161616F
      {{F::rgb, T::f16}, DRM_FORMAT_BGR161616F},
#endif
      {{F::yuyv}, DRM_FORMAT_YUYV},
      {{F::yvyu}, DRM_FORMAT_YVYU},
      {{F::uyvy}, DRM_FORMAT_UYVY},
      {{F::vyuy}, DRM_FORMAT_VYUY},
      {{F::nv12}, DRM_FORMAT_NV12},
      {{F::nv21}, DRM_FORMAT_NV21},
      {{F::nv16}, DRM_FORMAT_NV16},
      {{F::nv24}, DRM_FORMAT_NV24},
      {{F::i420}, DRM_FORMAT_YUV420},
  };
  for (const auto& [layout, fourcc] : facts)
    EXPECT_EQ(drm_fourcc(layout), fourcc) << name_of(layout);
  EXPECT_EQ(layout_from_drm(DRM_FORMAT_XRGB8888)->format, F::bgra);
  EXPECT_EQ(layout_from_drm(DRM_FORMAT_XBGR16161616F)->format, F::rgba);
}

TEST(Modifier, agrees_with_the_kernels_header) {
  EXPECT_EQ(drm_modifier_linear, DRM_FORMAT_MOD_LINEAR);
  EXPECT_EQ(drm_modifier_invalid, DRM_FORMAT_MOD_INVALID);
  EXPECT_EQ(modifier_to_string(fourcc_mod_code(AMLOGIC, 1)), "amlogic 0x0a00000000000001");
  EXPECT_EQ(modifier_to_string(DRM_FORMAT_MOD_VIVANTE_TILED), "vivante 0x0600000000000001");
  EXPECT_EQ(compression_of(DRM_FORMAT_MOD_ARM_AFBC(AFBC_FORMAT_MOD_BLOCK_SIZE_16x16)),
            Compression::afbc);
  EXPECT_EQ(compression_of(DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED), Compression::none);
  EXPECT_EQ(compression_of(DRM_FORMAT_MOD_QCOM_COMPRESSED), Compression::ubwc);
  EXPECT_EQ(compression_of(AMD_FMT_MOD | AMD_FMT_MOD_SET(DCC, 1)), Compression::dcc);
  EXPECT_EQ(compression_of(AMD_FMT_MOD | AMD_FMT_MOD_SET(TILE, 27)), Compression::none);
  EXPECT_EQ(compression_of(I915_FORMAT_MOD_Y_TILED_CCS), Compression::any);
  EXPECT_EQ(compression_of(I915_FORMAT_MOD_4_TILED), Compression::none);
  EXPECT_EQ(compression_of(DRM_FORMAT_MOD_NVIDIA_BLOCK_LINEAR_2D(1, 1, 0, 0, 1)), Compression::any);
  EXPECT_EQ(compression_of(DRM_FORMAT_MOD_NVIDIA_BLOCK_LINEAR_2D(0, 1, 0, 0, 1)),
            Compression::none);
}
#endif

#ifdef V4L2_PIX_FMT_NV12
TEST(V4l2PixelFormat, agrees_with_the_kernels_header) {
  const std::pair<PixelLayout, std::uint32_t> contiguous[] = {
      {{F::rgb}, V4L2_PIX_FMT_RGB24},
      {{F::bgr}, V4L2_PIX_FMT_BGR24},
      {{F::rgba}, V4L2_PIX_FMT_RGBA32},
      {{F::bgra}, V4L2_PIX_FMT_ABGR32},
      {{F::grey}, V4L2_PIX_FMT_GREY},
      {{F::grey, T::u16}, V4L2_PIX_FMT_Y16},
      {{F::yuyv}, V4L2_PIX_FMT_YUYV},
      {{F::yvyu}, V4L2_PIX_FMT_YVYU},
      {{F::uyvy}, V4L2_PIX_FMT_UYVY},
      {{F::vyuy}, V4L2_PIX_FMT_VYUY},
      {{F::nv12}, V4L2_PIX_FMT_NV12},
      {{F::nv21}, V4L2_PIX_FMT_NV21},
      {{F::nv16}, V4L2_PIX_FMT_NV16},
      {{F::nv24}, V4L2_PIX_FMT_NV24},
      {{F::i420}, V4L2_PIX_FMT_YUV420},
      {{F::bayer_rggb}, V4L2_PIX_FMT_SRGGB8},
      {{F::bayer_bggr}, V4L2_PIX_FMT_SBGGR8},
      {{F::bayer_grbg}, V4L2_PIX_FMT_SGRBG8},
      {{F::bayer_gbrg}, V4L2_PIX_FMT_SGBRG8},
      {{F::bayer_rggb, T::u16}, V4L2_PIX_FMT_SRGGB16},
      {{F::bayer_bggr, T::u16}, V4L2_PIX_FMT_SBGGR16},
      {{F::bayer_grbg, T::u16}, V4L2_PIX_FMT_SGRBG16},
      {{F::bayer_gbrg, T::u16}, V4L2_PIX_FMT_SGBRG16},
#ifdef V4L2_PIX_FMT_RGB48
      {{F::rgb, T::u16}, V4L2_PIX_FMT_RGB48},
      {{F::bgr, T::u16}, V4L2_PIX_FMT_BGR48},
#endif
  };
  for (const auto& [layout, fourcc] : contiguous)
    EXPECT_EQ(v4l2_pixel_format(layout), fourcc) << name_of(layout);
  EXPECT_EQ(v4l2_pixel_format({F::nv12}, 2), V4L2_PIX_FMT_NV12M);
  EXPECT_EQ(v4l2_pixel_format({F::nv21}, 2), V4L2_PIX_FMT_NV21M);
  EXPECT_EQ(v4l2_pixel_format({F::nv16}, 2), V4L2_PIX_FMT_NV16M);
  EXPECT_EQ(v4l2_pixel_format({F::i420}, 3), V4L2_PIX_FMT_YUV420M);
  EXPECT_EQ(layout_from_v4l2(V4L2_PIX_FMT_XBGR32)->format, F::bgra);
  EXPECT_EQ(layout_from_v4l2(V4L2_PIX_FMT_RGBX32)->format, F::rgba);
}

TEST(V4l2Colorimetry, defaults_agree_with_the_kernels_header) {
  for (const std::uint32_t colorspace :
       {V4L2_COLORSPACE_SMPTE170M, V4L2_COLORSPACE_REC709, V4L2_COLORSPACE_470_SYSTEM_M,
        V4L2_COLORSPACE_470_SYSTEM_BG, V4L2_COLORSPACE_JPEG, V4L2_COLORSPACE_SRGB,
        V4L2_COLORSPACE_OPRGB, V4L2_COLORSPACE_BT2020, V4L2_COLORSPACE_DCI_P3}) {
    const std::uint32_t encoding = V4L2_MAP_YCBCR_ENC_DEFAULT(colorspace);
    const std::uint32_t range = V4L2_MAP_QUANTIZATION_DEFAULT(false, colorspace, encoding);
    EXPECT_EQ(colorimetry_from_v4l2({colorspace, 0, 0, 0}),
              colorimetry_from_v4l2({colorspace, 0, encoding, range}))
        << colorspace;
  }
  const V4l2Colorimetry hdr = v4l2_colorimetry(
      {ColorSpace::bt2020, ColorTransfer::pq, ColorEncoding::bt2020, ColorRange::limited});
  EXPECT_EQ(hdr, (V4l2Colorimetry{V4L2_COLORSPACE_BT2020, V4L2_XFER_FUNC_SMPTE2084,
                                  V4L2_YCBCR_ENC_BT2020, V4L2_QUANTIZATION_LIM_RANGE}));
}
#endif

}  // namespace
}  // namespace halyard
