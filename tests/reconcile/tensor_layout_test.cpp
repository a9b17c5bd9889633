// SPDX-License-Identifier: Apache-2.0
// Strides and sizes of tensors, computed by hand from the formulas of docs/negotiation.md.
#include "reconcile/negotiate.h"

namespace halyard {
namespace {

using namespace halyard::test;  // NOLINT: its helpers are what tests are written in
using Strides = std::vector<std::int64_t>;

std::int64_t offset(const json& result, const Strides& at) {
  const auto strides = output(result, "t.strides").get<Strides>();
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < at.size(); ++k)
    sum += strides[k] * at[k];
  return sum;
}

TEST(TensorLayout, rows_obey_all_alignments) {
  const json r = negotiate(R"([
    {"name": "app", "keys": {"t.dtype": "f16", "t.shape": [1, 3, 480, 650], "g.heaps": ["memfd"]}},
    {"name": "simd", "keys": {"t.row_align": 16}}, {"name": "dla", "keys": {"t.row_align": 64}}])");
  EXPECT_TRUE(gives(r, R"({"t.strides": [1935360, 645120, 1344, 2], "t.size": 1935360})"));
  EXPECT_EQ(output(r, "g.alloc_size"), 1937408) << "whole pages";
  EXPECT_EQ(offset(r, {0, 2, 479, 649}), 1935314);
}

TEST(TensorLayout, channels_in_blocks) {
  const char* const app = R"([{"name": "app", "keys": {"t.dtype": "i8", "t.shape": [1, 48, 10, 13],
    "t.layout": "NCxHWx32", "t.row_align": 32, "t.surf_align": 32}})";
  json r = negotiate(std::string(app) + "]");
  EXPECT_EQ(output(r, "t.strides"), json({8320, 4160, 416, 32, 1}));
  EXPECT_TRUE(gives(r, R"({"t.shape": [1, 2, 10, 13, 32], "t.size": 8320})"));
  EXPECT_EQ(offset(r, {0, 40 / 32, 3, 5, 40 % 32}), 5576);
  r = negotiate(std::string(app) + R"(, {"name": "gpu", "keys": {"t.row_align": 256}}])");
  EXPECT_EQ(output(r, "t.strides"), json({10240, 5120, 512, 32, 1}));
  EXPECT_EQ(offset(r, {0, 1, 3, 5, 8}), 6824);
  r = negotiate(R"([{"name": "app", "keys": {"t.dtype": "f16", "t.shape": [2, 20, 7, 9],
    "t.layout": "NCxHWx16", "t.row_align": 32, "t.surf_align": 32}}])");
  EXPECT_TRUE(gives(r, R"({"t.strides": [4032, 2016, 288, 32, 2], "t.size": 8064})"));
  EXPECT_EQ(offset(r, {1, 19 / 16, 6, 8, 19 % 16}), 8038);
}

TEST(TensorLayout, blocks_of_one_are_planes_and_blocks_of_all_are_pixels) {
  const auto with = [](const std::string& layout) {
    return negotiate(R"([{"name": "a", "keys": {"t.dtype": "f32", "t.shape": [2, 6, 5, 7],
      "t.row_align": 48, "t.surf_align": 96, "t.layout": ")" +
                     layout + "\"}}]");
  };
  const json planes = with("NCHW"), ones = with("NCxHWx1");
  EXPECT_EQ(output(planes, "t.size"), output(ones, "t.size"));
  EXPECT_EQ(offset(planes, {1, 4, 3, 2}), offset(ones, {1, 4, 3, 2, 0}));
  const json all = with("NCxHWx6");
  const json pixels = negotiate(R"([{"name": "a", "keys": {"t.dtype": "f32", "t.row_align": 48,
    "t.shape": [2, 6, 5, 7], "t.batch_align": 96, "t.layout": "NHWC"}}])");
  EXPECT_EQ(output(pixels, "t.size"), output(all, "t.size"));
  EXPECT_EQ(offset(pixels, {1, 3, 2, 4}), offset(all, {1, 0, 3, 2, 4}));
}

TEST(TensorLayout, three_byte_pixels_take_a_common_multiple) {
  const auto stride = [](int width) {
    return output(negotiate(R"([{"name": "app", "keys": {"i.w": )" + std::to_string(width) +
                            R"(, "i.h": 4, "i.format": "bgr", "t.px_integral": true}},
      {"name": "gpu", "keys": {"i.pitch_align": 64}}])"),
                  "i.pitch")[0];
  };
  EXPECT_EQ(stride(641), 2112) << "not 1984, which splits a pixel";
  EXPECT_EQ(stride(1000), 3072);
}

TEST(TensorLayout, channels_are_padded) {
  const auto with = [](const std::string& parties) {
    return negotiate(R"([{"name": "app", "keys": {"t.dtype": "i8", "t.shape": [1, 3, 200, 306],
      "t.layout": "NHWC"}}, )" +
                     parties + "]");
  };
  json r = with(R"({"name": "dla", "keys": {"t.cpad": 4, "t.row_align": 32}})");
  EXPECT_EQ(output(r, "t.strides"), json({249600, 1248, 4, 1}));
  r = with(R"({"name": "dla", "keys": {"t.cpad": 4, "t.row_align": 64}})");
  EXPECT_EQ(output(r, "t.size"), 256000);
  r = with(R"({"name": "dla", "keys": {"t.cpad": 4}}, {"name": "simd", "keys": {"t.cpad": 8}})");
  EXPECT_EQ(output(r, "t.strides")[2], 8) << "eight channels are stored";
  r = with(R"({"name": "cam", "keys": {"t.row_exact": 1224}},
              {"name": "dla", "keys": {"t.cpad": 4}}, {"name": "simd", "keys": {"t.cpad": 8}})");
  EXPECT_EQ(conflict_at(r)["key"], "t.row_exact");
}

TEST(TensorLayout, exact_row_stands_between_all_others) {
  const json r = negotiate(R"([
    {"name": "gpu", "keys": {"t.row_align": 40}}, {"name": "dla", "keys": {"t.row_align": 64}},
    {"name": "cpu", "keys": {"t.row_align": 4}}, {"name": "cam", "keys": {"t.row_min": 100}},
    {"name": "display", "keys": {"t.row_max": 130}},
    {"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 8, 90]}}])");
  EXPECT_EQ(r["conflicts"].size(), 1U);
  EXPECT_TRUE(disagree(r, {.parties = {"gpu", "dla", "display"}, .nearest = json({320})}));
}

TEST(TensorLayout, two_of_the_three_that_disagree_agree) {
  const auto row_with = [](const std::string& two) {
    const json r = negotiate(R"([
      {"name": "cpu", "keys": {"t.row_align": 4}}, {"name": "cam", "keys": {"t.row_min": 100}},
      {"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 8, 90]}}, )" +
                             two + "]");
    return output(r, "t.strides")[2];
  };
  const std::string gpu = R"({"name": "gpu", "keys": {"t.row_align": 40}})";
  const std::string dla = R"({"name": "dla", "keys": {"t.row_align": 64}})";
  const std::string display = R"({"name": "display", "keys": {"t.row_max": 130}})";
  EXPECT_EQ(row_with(gpu + ", " + display), 120);
  EXPECT_EQ(row_with(dla + ", " + display), 128);
  EXPECT_EQ(row_with(gpu + ", " + dla), 320) << "the least common multiple";
}

TEST(TensorLayout, legal_strides_on_both_sides_of_an_exact_one) {
  const auto nearest = [](int width, const std::string& others) {
    const json r = negotiate(R"([{"name": "cam", "keys": {"t.row_exact": 1928}},
      {"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 8, )" +
                             std::to_string(width) + "]}}, " + others + "]");
    EXPECT_EQ(conflict_at(r)["key"], "t.row_exact") << r.dump(1);
    return conflict_at(r)["nearest"];
  };
  const std::string gpu = R"({"name": "gpu", "keys": {"t.row_align": 64}})";
  EXPECT_EQ(nearest(1920, gpu), json({1920, 1984}));
  EXPECT_EQ(nearest(1921, gpu), json({1984})) << "1920 does not hold the row";
  const auto also = [&](const std::string& keys) {
    return gpu + R"(, {"name": "z", "keys": {)" + keys + "}}";
  };
  EXPECT_EQ(nearest(1920, also(R"("t.row_min": 1926)")), json({1984}));
  EXPECT_EQ(nearest(1920, also(R"("t.row_max": 1950)")), json({1920})) << "1984 is too long";
  EXPECT_EQ(nearest(1921, also(R"("t.row_max": 1950)")), json::array()) << "there is none";
  EXPECT_EQ(nearest(1000, also(R"("t.row_align": 48)")), json({1920, 2112}))
      << "legal for those too that the report need not name";
  EXPECT_EQ(nearest(90, R"({"name": "gpu", "keys": {"t.row_align": 4096}})"), json({4096}))
      << "not 0";
}

TEST(TensorLayout, limits_of_an_engine) {
  const auto with = [](const std::string& shape, const std::string& layout) {
    return negotiate(R"([{"name": "app", "keys": {"t.dtype": "i8", "t.shape": )" + shape +
                     R"(, "t.layout": ")" + layout + R"("}}, {"name": "dla", "engine": "dla"}])");
  };
  json r = with("[65536, 8192, 8192, 8192]", "NCHW");
  EXPECT_EQ(conflict_at(r)["key"], "g.size_max") << r.dump(1);
  EXPECT_TRUE(disagree(r, {.computed = "needs 36028797018963968 bytes, at most 4294967295",
                           .nearest = json({4294967295})}));
  r = negotiate(R"([{"name": "dla", "engine": "dla"}, {"name": "app", "keys": {"t.dtype": "i8",
    "t.shape": [65536, 8192, 8192, 8192]}}])");
  ASSERT_FALSE(r["conflicts"].empty()) << r.dump(1);
  for (const json& each : r["conflicts"])
    EXPECT_EQ(each["computed"], "needs 36028797018963968 bytes, at most 4294967295")
        << "that of all axes, whatever the layout";
  r = with("[1, 8192, 8192, 64]", "NCxHWx32");
  EXPECT_EQ(conflict_at(r)["key"], "g.size_max");
  r = with("[1, 8160, 8192, 64]", "NCxHWx32");
  EXPECT_EQ(output(r, "t.size"), 4278190080);
  r = with("[1, 8193, 1, 1]", "NCxHWx32");
  EXPECT_TRUE(disagree(r, {.key = "t.shape[C]", .parties = {"app", "dla"}}));
}

TEST(TensorLayout, sizes_never_wrap) {
  const json r = negotiate(R"([{"name": "app", "keys": {"t.dtype": "u8",
    "t.shape": [4294967295, 4294967295, 4294967295]}}])");
  EXPECT_EQ(opponents(r), (std::set<std::string>{"app"}));
  EXPECT_NE(conflict_at(r)["rule"].get<std::string>().find("2^63"), std::string::npos);
}

TEST(TensorLayout, engines_prefer_what_wastes_least) {
  json r = negotiate(R"([{"name": "app", "keys": {"t.dtype": "i8", "t.shape": [1, 3, 224, 224],
    "t.layout": "NCxHWx32"}}, {"name": "dla", "engine": "dla"}])");
  EXPECT_EQ(output(r, "t.strides")[2], 7168);
  EXPECT_EQ(output(r, "t.size"), 1605632);
  r = negotiate(R"([{"name": "app", "keys": {"t.dtype": "i8", "t.shape": [1, 3, 224, 224]}},
                    {"name": "dla", "engine": "dla"}])");
  EXPECT_EQ(output(r, "t.layout"), "NHWC");
  EXPECT_EQ(output(r, "t.strides")[2], 4);
}

TEST(TensorLayout, slack_is_behind_the_last_row) {
  const auto with = [](const char* heap) {
    return negotiate(R"([{"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 7, 13],
      "t.row_align": 16, "g.tail_slack": 64, "g.heaps": [")" +
                     std::string(heap) + "\"]}}]");
  };
  EXPECT_EQ(output(with("heap"), "t.size"), 112);
  EXPECT_EQ(output(with("heap"), "g.alloc_size"), 176);
  EXPECT_EQ(output(with("memfd"), "g.alloc_size"), 4096);
}

TEST(TensorLayout, strides_are_multiples_of_the_element) {
  const json r = negotiate(R"([{"name": "app", "keys": {"t.dtype": "f32",
    "t.shape": [2, 3, 5, 4], "t.row_align": 3}}])");
  EXPECT_EQ(output(r, "t.strides"), json({360, 120, 24, 4}));
  for (const auto& stride : output(r, "t.strides").get<Strides>())
    EXPECT_EQ(stride % 4, 0);
}

TEST(TensorLayout, fewer_and_more_axes) {
  json r = negotiate(R"([{"name": "a", "keys": {"t.dtype": "f32", "t.shape": [84, 8400]}}])");
  EXPECT_TRUE(gives(r, R"({"t.shape": [84, 8400], "t.strides": [33600, 4]})"));
  r = negotiate(R"([{"name": "a", "keys": {"t.dtype": "u8", "t.shape": [2, 3, 4, 5, 6, 7],
    "t.row_align": 8}}])");
  EXPECT_TRUE(gives(r, R"({"t.strides": [2880, 960, 240, 48, 8, 1], "t.size": 5760})"));
}

}  // namespace
}  // namespace halyard
