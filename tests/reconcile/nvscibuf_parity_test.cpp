// SPDX-License-Identifier: Apache-2.0
// Where NvSciBuf reconciles and where it fails, by its public documentation, key by key: two lists
// with equal values, with different ones, and with a value that one or both leave out. Ours gives
// the same, except where a row says what it gives more.
#include "reconcile/negotiate.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace halyard::test;  // NOLINT: its helpers are what tests are written in

struct Row {
  const char* name;
  std::string a, b;      ///< keys of two parties, as JSON
  std::string conflict;  ///< the key that they disagree about; empty: there is a buffer
  /// What is computed then, and its value as JSON; may be empty; "views".
  std::string output = {}, value = {};
  std::string more = {};  ///< what ours gives beyond theirs
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

const std::string tensor = R"("t.dtype": "u8", "t.shape": [1, 4, 32, 64])";
const std::string image_keys = R"("i.format": "rgba", "i.w": 64, "i.h": 32)";
const std::string array = R"("array.stride": 12, "array.cap": 100)";
const std::string pyramid = image_keys + R"(, "pyr.levels": 3, "pyr.scale": 0.5)";

const Row rows[] = {
    // General
    {"types_tensor_and_image", tensor + R"(, "t.layout": ["NHWC"])", image_keys, "", "t.layout",
     R"("NHWC")"},
    {"types_tensor_and_array", tensor, array, "g.kind"},
    {"types_image_and_array", image_keys, array, "g.kind"},
    {"types_of_one_list", tensor, "", "", "t.size", "8192"},
    {"cpu_access_of_the_peer_that_asks", tensor + R"(, "g.cpu": "read")", "", "", "views",
     R"({"a": {"cpu": "read", "perm": "ro"}, "b": {"cpu": "none", "perm": "ro"}})"},
    {"cpu_access_of_both", tensor + R"(, "g.cpu": "read")", R"("g.cpu": "readwrite")", "", "views",
     R"({"a": {"cpu": "read", "perm": "ro"}, "b": {"cpu": "readwrite", "perm": "ro"}})"},
    {"perm_read_and_read_write", tensor + R"(, "g.perm": "read")", R"("g.perm": "read_write")", "",
     "views", R"({"a": {"cpu": "none", "perm": "ro"}, "b": {"cpu": "none", "perm": "rw"}})"},
    {"perm_read_and_read", tensor + R"(, "g.perm": "read")", R"("g.perm": "read")", "", "views",
     R"({"a": {"cpu": "none", "perm": "ro"}, "b": {"cpu": "none", "perm": "ro"}})"},
    {"perm_that_nobody_says_is_read", tensor, "", "", "views",
     R"({"a": {"cpu": "none", "perm": "ro"}, "b": {"cpu": "none", "perm": "ro"}})"},
    {"cpu_cache_of_one", tensor + R"(, "g.policy": "cached")", R"("g.policy": "uncached")", "",
     "g.policy", R"("cached")"},
    {"cpu_cache_that_one_forbids", tensor + R"(, "g.policy": "cached")",
     R"("g.policy": {"value": "uncached", "strict": true})", "g.policy", "", "",
     "theirs cannot forbid it"},
    {"sw_coherency_of_engines_beside_the_cpu", tensor + R"(, "g.cpu": "read")",
     R"("g.domains": ["CpuSync"], "g.heaps": ["dmabuf.system"], "g.attach": "dma")", "",
     "g.needs_sync", "true"},
    {"sw_coherency_without_the_cpu", tensor,
     R"("g.domains": ["CpuSync"], "g.heaps": ["dmabuf.system"], "g.policy": "unmapped")", "",
     "g.needs_sync", "false"},
    // Raw
    {"raw_size_equal", R"("r.size": 4096)", R"("r.size": 4096)", "", "g.size", "4096"},
    {"raw_size_differs", R"("r.size": 4096)", R"("r.size": 8192)", "r.size"},
    {"raw_align_is_the_largest", R"("r.size": 4096, "g.base_align": 128)", R"("g.base_align": 512)",
     "", "g.base_align", "512"},
    {"raw_align_no_power_of_two", R"("r.size": 4096, "g.base_align": 128)",
     R"("g.base_align": 192)", "", "g.base_align", "384", "theirs takes powers of two alone"},
    {"raw_beside_a_tensor", R"("r.size": 8192)", tensor, "", "g.size", "8192",
     "theirs has no raw buffers beside tensors"},
    {"raw_beside_an_image", R"("r.size": 16384)", image_keys, "", "g.size", "16384",
     "theirs has no raw buffers beside images"},
    {"raw_too_small_for_a_tensor", R"("r.size": 8191)", tensor, "r.size"},
    // Image
    {"image_vpr_of_none", image_keys + R"(, "g.protected": false)", R"("g.protected": false)", "",
     "g.heap", R"("heap")"},
    {"image_vpr_of_one", image_keys + R"(, "g.protected": true)", R"("g.protected": false)", "",
     "g.heap", R"("dmabuf.protected")"},
    {"image_vpr_of_one_alone", image_keys, R"("g.protected": true)", "", "g.heap",
     R"("dmabuf.protected")"},
    {"image_vpr_of_both", image_keys + R"(, "g.protected": true)", R"("g.protected": true)", "",
     "g.heap", R"("dmabuf.protected")"},
    {"image_vpr_and_the_cpu", image_keys + R"(, "g.protected": true)", R"("g.cpu": "read")",
     "g.protected"},
    {"image_layout_equal", image_keys, R"("i.format": "rgba@0x0")", "", "i.format", R"("rgba")"},
    {"image_layout_differs", image_keys, R"("i.format": "rgba@0x0100000000000001")", "i.format"},
    {"image_format_differs", image_keys, R"("i.format": "bgra")", "i.format"},
    {"image_format_of_one", image_keys, R"("i.w": 64)", "", "i.w", "64"},
    {"image_format_alternatives", R"("i.format": ["nv12", "rgba"], "i.w": 64, "i.h": 32)",
     R"("i.format": ["bgra", "rgba"])", "", "i.format", R"("rgba")", "theirs has no alternatives"},
    {"image_width_equal", image_keys, R"("i.w": 64)", "", "i.w", "64"},
    {"image_width_differs", image_keys, R"("i.w": 65)", "i.w"},
    {"image_height_differs", image_keys, R"("i.h": 33)", "i.h"},
    {"image_color_equal", image_keys + R"(, "i.color": "bt709")", R"("i.color": "bt709")", ""},
    {"image_color_differs", image_keys + R"(, "i.color": "bt709")", R"("i.color": "bt601")",
     "i.color"},
    {"image_color_of_one", image_keys + R"(, "i.color": "bt709")", "", ""},
    {"image_scan_equal", image_keys + R"(, "i.scan": "interlaced")", R"("i.scan": "interlaced")",
     ""},
    {"image_scan_differs", image_keys + R"(, "i.scan": "interlaced")", R"("i.scan": "progressive")",
     "i.scan"},
    {"image_plane_align", R"("i.format": "nv12", "i.w": 64, "i.h": 32, "i.plane_align": 64)",
     R"("i.plane_align": 4096)", "", "i.offset", "[0, 4096]"},
    {"image_pitch_of_the_strictest_engine", image_keys + R"(, "i.pitch_align": 64)",
     R"("i.pitch_align": 512)", "", "i.pitch", "[512]"},
    {"image_rows_of_two_fields", R"("i.format": "grey", "i.w": 64, "i.h": 30, "i.h_mult": 4,
       "i.scan": "interlaced")",
     "", "", "i.plane_size", "[2048]"},
    // Tensor
    {"tensor_type_equal", tensor, R"("t.dtype": "u8")", "", "t.dtype", R"("u8")"},
    {"tensor_type_differs", tensor, R"("t.dtype": "i8")", "t.dtype"},
    {"tensor_extents_equal", tensor, R"("t.shape": [1, 4, 32, 64])", "", "t.shape",
     "[1, 4, 32, 64]"},
    {"tensor_extents_differ", tensor, R"("t.shape": [1, 4, 32, 65])", "t.shape[W]"},
    {"tensor_dims_equal", R"("t.dtype": "u8", "t.shape": [4, 32, 64])", R"("t.shape": [4, 32, 64])",
     "", "t.shape", "[4, 32, 64]"},
    {"tensor_dims_of_one", R"("t.dtype": "u8", "t.shape": [32, 64])", "", "", "t.shape",
     "[32, 64]"},
    {"tensor_dims_differ_in_extents_too", tensor, R"("t.shape": [2, 1, 32, 32, 64])", "t.shape[C]"},
    {"tensor_dims_differ", tensor, R"("t.shape": [32, 64])", "", "t.shape", "[1, 4, 32, 64]",
     "theirs wants as many of all; here who says fewer says the last ones"},
    {"tensor_elements_of_64_bits", R"("t.dtype": "u64", "t.shape": [1, 1, 2, 4])",
     R"("t.dtype": "u64")", "", "t.strides", "[64, 64, 32, 8]", "theirs ends at 32 bits"},
    {"tensor_elements_of_64_bits_differ", R"("t.dtype": "f64", "t.shape": [1, 1, 2, 4])",
     R"("t.dtype": "i64")", "t.dtype"},
    {"tensor_of_the_first_plane", R"("i.format": "nv12", "i.w": 64, "i.h": 32)",
     R"("t.dtype": "u8", "t.shape": [1, 1, 32, 64])", "", "t.strides", "[2048, 64, 1, 1]",
     "theirs has no tensors in images of several planes"},
    {"tensor_of_the_second_plane", R"("i.format": "nv12", "i.w": 64, "i.h": 32)",
     R"("t.dtype": "u8", "t.shape": [1, 2, 16, 32])", "", "t.offset", "2048",
     "theirs has no tensors in images of several planes"},
    {"tensor_of_three_byte_pixels", R"("i.format": "bgr", "i.w": 641, "i.h": 4,
       "t.px_integral": true)",
     R"("i.pitch_align": 64)", "", "i.pitch", "[2112]",
     "theirs takes powers of two alone, which split pixels"},
    {"tensor_alignment_is_the_largest", tensor + R"(, "t.row_align": 16)", R"("t.row_align": 128)",
     "", "t.strides", "[16384, 4096, 128, 1]"},
    {"tensor_alignment_no_power_of_two", tensor + R"(, "t.row_align": 48)", R"("t.row_align": 32)",
     "", "t.strides", "[12288, 3072, 96, 1]", "theirs takes powers of two alone"},
    {"tensor_beside_an_image_of_other_extents", tensor + R"(, "t.layout": ["NHWC"])",
     R"("i.format": "rgba", "i.w": 64, "i.h": 30)", "t.shape[H]"},
    {"tensor_beside_an_image_of_other_channels",
     R"("t.dtype": "u8", "t.shape": [1, 3, 32, 64], "t.layout": ["NHWC"])", image_keys,
     "t.shape[C]"},
    {"tensor_base_align", tensor + R"(, "g.base_align": 256)", R"("g.base_align": 64)", "",
     "g.base_align", "256"},
    // Array and pyramid
    {"array_equal", array, array, "", "g.size", "1200"},
    {"array_stride_differs", array, R"("array.stride": 16)", "array.stride"},
    {"array_capacity_differs", array, R"("array.cap": 99)", "array.cap"},
    {"pyramid_equal", pyramid, pyramid, "", "i.pitch", "[256, 128, 64]"},
    {"pyramid_levels_differ", pyramid, R"("pyr.levels": 4)", "pyr.levels"},
    {"pyramid_scale_differs", pyramid, R"("pyr.scale": 0.25)", "pyr.scale"},
};

class NvSciBufParity : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Keys, NvSciBufParity, ::testing::ValuesIn(rows),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(NvSciBufParity, is_held) {
  const Row& row = GetParam();
  const std::string a = R"({"name": "a", "keys": {)" + row.a + "}}";
  const std::string b = R"({"name": "b", "keys": {)" + row.b + "}}";
  const json result = negotiate("[" + a + ", " + b + "]");
  EXPECT_EQ(result, negotiate("[" + b + ", " + a + "]")) << "the order does not matter";
  if (!row.conflict.empty()) {
    ASSERT_FALSE(result["ok"]) << result.dump(1);
    std::set<std::string> keys;
    for (const json& each : result["conflicts"])
      keys.insert(each["key"].get<std::string>());
    EXPECT_EQ(keys.count(row.conflict), 1U) << result.dump(1);
    return;
  }
  ASSERT_TRUE(result["ok"]) << result.dump(1);
  if (row.output.empty()) return;
  EXPECT_EQ(row.output == "views" ? result["views"] : output(result, row.output),
            json::parse(row.value));
}

TEST(NvSciBufRules, what_is_mandatory_and_missing_is_named) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("t.shape": [1, 4, 32, 64])", "t.dtype"}, {R"("t.dtype": "u8")", "t.shape"},
      {R"("i.format": "rgba", "i.h": 32)", "i.w"}, {R"("i.format": "rgba", "i.w": 64)", "i.h"},
      {R"("array.stride": 12)", "array.cap"},      {R"("g.cpu": "read")", "what the buffer holds"}};
  for (const auto& [keys, missing] : cases)
    EXPECT_FAILS(
        reconcile_engines(parties_of(R"([{"name": "a", "keys": {)" + std::string(keys) + "}}]")),
        missing);
}

TEST(NvSciBufRules, each_peer_sees_its_own_access) {
  const json result = negotiate(R"([
    {"name": "a", "keys": {)" + tensor +
                                R"(, "g.cpu": "read", "g.perm": "read_write"}},
    {"name": "b", "keys": {}}])");
  EXPECT_EQ(result["views"]["a"], json::parse(R"({"cpu": "read", "perm": "rw"})"));
  EXPECT_EQ(result["views"]["b"], json::parse(R"({"cpu": "none", "perm": "ro"})"));
}

TEST(NvSciBufRules, values_that_no_list_may_have_are_refused_when_they_are_set) {
  AttributeList list("a");
  for (const auto& [key, value] :
       {std::pair("array.stride", "0"), std::pair("pyr.levels", "0"), std::pair("pyr.levels", "11"),
        std::pair("pyr.scale", "0"), std::pair("pyr.scale", "1.5"), std::pair("r.size", "0"),
        std::pair("t.shape", "[]"), std::pair("t.shape", "[1,1,1,1,1,1,1,1,1]"),
        std::pair("t.shape", "[0]"), std::pair("t.dtype", "\"u7\"")}) {
    EXPECT_FAILS(list.set_text(key, value), Errc::invalid_argument, key) << key << " " << value;
  }
}

}  // namespace
}  // namespace halyard
