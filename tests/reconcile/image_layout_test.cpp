// SPDX-License-Identifier: Apache-2.0
// Pitches, offsets and sizes of images, computed by hand.
#include "reconcile/negotiate.h"

namespace halyard {
namespace {

using namespace halyard::test;  // NOLINT: its helpers are what tests are written in

std::string image(const char* format, int width, int height, const std::string& keys = "") {
  return R"({"name": "app", "keys": {"i.format": ")" + std::string(format) + R"(", "i.w": )" +
         std::to_string(width) + R"(, "i.h": )" + std::to_string(height) +
         (keys.empty() ? "" : ", " + keys) + "}}";
}

TEST(ImageLayout, an_exact_pitch_must_suit_all) {
  const std::string cam = image("NV12", 1920, 1080) +
                          R"(, {"name": "cam", "keys": {"i.pitch_exact": 1920}},
                               {"name": "dla", "keys": {"t.row_align": 64}})";
  json r = negotiate("[" + cam + "]");
  EXPECT_EQ(output(r, "i.pitch"), json({1920, 1920}));
  r = negotiate("[" + cam + R"(, {"name": "egl", "keys": {"i.pitch_align": 256}}])");
  EXPECT_TRUE(
      disagree(r, {.key = "i.pitch_exact[0]", .parties = {"cam", "egl"}, .nearest = json({2048})}));
  r = negotiate("[" + image("grey", 1928, 8) + R"(, {"name": "cam", "keys":
    {"i.pitch_exact": 1928}}, {"name": "dla", "keys": {"i.pitch_align": 64}}])");
  EXPECT_TRUE(disagree(r, {.computed = "1928 mod 64 = 8", .nearest = json({1984})}));
}

TEST(ImageLayout, planes_follow_one_another) {
  const json g2d =
      negotiate("[" + image("NV12", 1920, 1080) + R"(, {"name": "g2d", "engine": "nxp.g2d"}])");
  EXPECT_TRUE(gives(g2d, R"({"i.offset": [0, 2073600], "g.size": 3110400})"));
  const json rows = negotiate("[" + image("NV12", 1920, 1080) +
                              R"(, {"name": "g2d", "engine": "nxp.g2d",
                                    "settings": {"rows_mult": 16}}])");
  EXPECT_TRUE(gives(rows, R"({"i.plane_size": [2088960, 1044480], "g.size": 3133440})"));
}

TEST(ImageLayout, chroma_follows_luma) {
  json r = negotiate("[" + image("I420", 1366, 768, R"("i.chroma_derived": true)") +
                     R"(, {"name": "gpu", "keys": {"i.pitch_align[0]": 32}}])");
  EXPECT_TRUE(gives(r, R"({"i.pitch": [1376, 688, 688], "g.size": 1585152})"));
  r = negotiate("[" + image("I420", 1366, 768, R"("i.chroma_derived": true)") +
                R"(, {"name": "gpu", "keys": {"i.pitch_align": 32}}])");
  EXPECT_TRUE(gives(r, R"({"i.pitch": [1408, 704, 704], "g.size": 1622016})"));
}

TEST(ImageLayout, image_and_tensor_share_a_buffer) {
  const auto with = [](int width, int height, const std::string& align, const char* layout) {
    return negotiate("[" + image("RGBA", width, height) +
                     R"(, {"name": "net", "keys": {"t.dtype": "u8", "t.layout": ")" + layout +
                     R"(", "t.row_align": )" + align + R"(, "t.shape": [1, 4, )" +
                     std::to_string(height) + ", " + std::to_string(width) + "]}}]");
  };
  json r = with(1920, 1080, "64", "NHWC");
  EXPECT_TRUE(gives(r, R"({"i.pitch": [7680], "t.strides": [8294400, 7680, 4, 1]})"));
  EXPECT_EQ(output(r, "g.size"), 8294400);
  r = with(1000, 600, "256", "NHWC");
  EXPECT_TRUE(gives(r, R"({"i.pitch": [4096], "g.size": 2457600})"));
  EXPECT_EQ(output(r, "t.strides"), json({2457600, 4096, 4, 1})) << "(0,3,599,999) at 2457503";
  r = with(1920, 1080, "64", "NCHW");
  EXPECT_TRUE(
      disagree(r, {.key = "t.layout", .parties = {"app", "net"}, .computed = "rgba is NHWC"}));
}

TEST(ImageLayout, planar_images_are_planes_of_a_tensor) {
  const json r = negotiate("[" + image("planar_rgb", 640, 480) +
                           R"(, {"name": "net", "keys": {"t.dtype": "u8", "t.layout": "NCHW",
                                 "t.row_align": 128, "t.shape": [1, 3, 480, 640]}}])");
  EXPECT_EQ(output(r, "t.strides"), json({921600, 307200, 640, 1}));
}

TEST(ImageLayout, a_plane_may_be_the_tensor) {
  const json r = negotiate("[" + image("NV12", 640, 480) +
                           R"(, {"name": "net", "keys": {"t.dtype": "u8", "t.layout": "NHWC",
                                 "t.shape": [1, 2, 240, 320]}}])");
  EXPECT_EQ(output(r, "t.offset"), 307200) << "of chroma";
  EXPECT_EQ(output(r, "t.strides"), json({153600, 640, 2, 1}));
}

TEST(ImageLayout, extents_that_nobody_says_are_the_image_s) {
  const json packed = negotiate("[" + image("RGBA", 64, 48) +
                                R"(, {"name": "net", "keys": {"t.dtype": "u8", "t.layout": "NHWC",
                                      "t.shape": [48, 64]}}])");
  EXPECT_TRUE(gives(packed, R"({"t.shape": [1, 48, 64, 4], "t.strides": [12288, 256, 4, 1]})"));
  const json planar = negotiate("[" + image("planar_rgb", 64, 48) +
                                R"(, {"name": "net", "keys": {"t.dtype": "u8", "t.layout": "NCHW",
                                      "t.shape": [48, 64]}}])");
  EXPECT_TRUE(gives(planar, R"({"t.shape": [3, 48, 64], "t.strides": [3072, 64, 1]})"));
}

TEST(ImageLayout, the_extent_that_is_wrong_is_the_one_that_is_named) {
  const json r = negotiate("[" + image("RGBA", 64, 48) +
                           R"(, {"name": "net", "keys": {"t.dtype": "u8", "t.layout": "NHWC",
                                 "t.shape": [1, 3, 48, 64]}}])");
  EXPECT_TRUE(disagree(r, {.key = "t.shape[C]", .computed = "3 is not 4"}));
  EXPECT_EQ(conflict_at(r)["parties"].size(), 2U) << r.dump(1);
}

TEST(ImageLayout, shapes_that_no_plane_has) {
  const json r = negotiate("[" + image("RGBA", 64, 48) +
                           R"(, {"name": "net", "keys": {"t.dtype": "u8", "t.layout": "NHWC",
                                 "t.shape": [1, 4, 48, 65]}}])");
  EXPECT_EQ(conflict_at(r)["key"], "t.shape[W]") << r.dump(1);
  EXPECT_EQ(opponents(r), (std::set<std::string>{"app", "net"}));
}

TEST(ImageLayout, widest_pitch) {
  json r = negotiate("[" + image("bgra", 1366, 8) +
                     R"(, {"name": "display", "keys": {"i.pitch_max": 5500}},
                          {"name": "gpu", "keys": {"i.pitch_align": 64}}])");
  EXPECT_TRUE(disagree(r, {.parties = {"app", "display", "gpu"}, .nearest = json({5504})}));
  r = negotiate("[" + image("bgra", 1366, 8) +
                R"(, {"name": "gpu", "keys": {"i.pitch_align": 256}}])");
  EXPECT_EQ(output(r, "i.pitch"), json({5632}));
  r = negotiate("[" + image("grey", 480, 8) + R"(, {"name": "mali", "keys": {"i.pitch_align": 64}},
    {"name": "cam", "keys": {"i.pitch_exact": 480}}])");
  EXPECT_EQ(conflict_at(r)["computed"], "480 mod 64 = 32");
  r = negotiate("[" + image("grey", 480, 8) +
                R"(, {"name": "mali", "keys": {"i.pitch_align": 64}}])");
  EXPECT_EQ(output(r, "i.pitch"), json({512}));
}

TEST(ImageLayout, fields_are_stored_apart) {
  const json r =
      negotiate("[" + image("grey", 1920, 1080, R"("i.scan": "interlaced", "i.h_mult": 16)") + "]");
  EXPECT_TRUE(gives(r, R"({"i.rows": [544], "i.plane_size": [2088960]})"));
}

TEST(ImageLayout, levels_of_a_pyramid) {
  const json r = negotiate("[" +
                           image("grey", 640, 480,
                                 R"("pyr.levels": 4, "pyr.scale": 0.5,
                                          "i.pitch_align": 256, "i.plane_align": 4096)") +
                           "]");
  EXPECT_EQ(output(r, "i.pitch"), json({768, 512, 256, 256}));
  EXPECT_TRUE(gives(r, R"({"i.offset": [0, 368640, 491520, 524288], "g.size": 540672})"));
}

TEST(ImageLayout, who_made_the_pitch_what_it_is) {
  const std::string parties = "[" + image("rgba", 1284, 720) +
                              R"(, {"name": "a", "keys": {"i.pitch_align": 1}},
                                   {"name": "b", "keys": {"i.pitch_align": 16}},
                                   {"name": "c", "keys": {"i.pitch_align": 32}},
                                   {"name": "d", "keys": {"i.pitch_align": 64}})";
  json r = negotiate(parties + "]");
  EXPECT_TRUE(gives(r, R"({"i.pitch": [5184], "g.size": 3732480})"));
  r = negotiate(parties + R"(, {"name": "e", "keys": {"i.pitch_align": 256}}])");
  EXPECT_TRUE(gives(r, R"({"i.pitch": [5376], "g.size": 3870720})"));
  EXPECT_EQ(r["explain"]["i.pitch_align[0]"], json({"e"}));
}

// A tensor that is a plane of the image begins where tensors may.
TEST(ImageLayout, puts_the_plane_of_a_tensor_at_a_multiple_of_its_offset_alignment) {
  const json result = negotiate(R"([{"name": "app", "keys": {"i.w": 64, "i.h": 46,
    "t.dtype": "u8", "t.shape": [1, 2, 23, 32], "t.offset_align": 256},
    "alternatives": [{"tag": "nv12"}]}])");
  EXPECT_EQ(output(result, "t.offset"), 3072) << "64 x 46 = 2944 is none";
}

}  // namespace
}  // namespace halyard
