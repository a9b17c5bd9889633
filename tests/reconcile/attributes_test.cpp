// SPDX-License-Identifier: Apache-2.0
// Lists by themselves: what they take, what they refuse, and how values read.
#include "halyard/attributes.h"

#include <fstream>
#include <tuple>

#include "reconcile/negotiate.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard {
namespace {

using test::must;

TEST(Attributes, table_has_every_key_once) {
  std::set<std::string_view> names;
  for (const KeyInfo& info : key_infos()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(key_info(info.key), &info);
    EXPECT_EQ(key_info(info.name), &info);
    const bool is_critical = (static_cast<unsigned>(info.key) & 0x8000U) != 0;
    EXPECT_EQ(is_critical, info.key != Key::engines) << "to be understood: " << info.name;
    EXPECT_FALSE(info.text.empty() || info.fallback.empty() || info.set_by.empty()) << info.name;
  }
  EXPECT_EQ(key_info(static_cast<Key>(0x8119)), nullptr);
  EXPECT_EQ(key_info(static_cast<Key>(0x8F01)), nullptr);
  EXPECT_EQ(key_info(static_cast<Key>(0)), nullptr);
}

TEST(Attributes, page_has_the_table) {
  std::ifstream page(HALYARD_SOURCE_DIR "/docs/negotiation.md");
  std::string line, rows, expected;
  while (std::getline(page, line) && line != "<!-- keys: begin -->")
    continue;
  std::getline(page, line);
  std::getline(page, line);
  while (std::getline(page, line) && line != "<!-- keys: end -->")
    rows += line + "\n";
  constexpr std::string_view types[] = {"flag",   "number", "range", "fraction",
                                        "choice", "set",    "layout"};
  for (const KeyInfo& info : key_infos())
    for (const std::string_view cell :
         {std::string_view("| `"), info.name, std::string_view("` | "),
          types[static_cast<std::size_t>(info.type)], std::string_view(" | "), to_string(info.rule),
          std::string_view(" | "), info.unit, std::string_view(" | "), info.set_by,
          std::string_view(" | "), info.fallback, std::string_view(" | "), info.text,
          std::string_view(" |\n")})
      expected += cell;
  EXPECT_EQ(rows, expected);
}

TEST(Attributes, keys_are_set_once) {
  AttributeList list("camera");
  ASSERT_TRUE(list.set(Key::row_align, 64));
  const Status again = list.set(Key::row_align, 32);
  for (const char* const part : {"camera", "t.row_align", "64 B", "32 B"})
    EXPECT_FAILS(again, Errc::exists, part);
  EXPECT_EQ(list.get(Key::row_align)->low, 64U);
  EXPECT_NE(list.attributes()[0].source.find("attributes_test.cpp:"), std::string::npos);
}

TEST(Attributes, values_out_of_range_are_refused) {
  const std::pair<Key, std::uint64_t> wrong[] = {{Key::row_align, 0},
                                                 {Key::row_align, (1ULL << 31) + 1},
                                                 {Key::addr_bits, 65},
                                                 {Key::addr_bits, 0},
                                                 {Key::size_min, 1ULL << 63},
                                                 {Key::pyramid_levels, 11},
                                                 {Key::contig, 2},
                                                 {Key::dtype, 13},
                                                 {Key::heaps, 0},
                                                 {Key::heaps, 1ULL << 20},
                                                 {Key::policy, 4},
                                                 {Key::width, 0},
                                                 {Key::width, 1ULL << 32},
                                                 {Key::pyramid_scale, 0},
                                                 {Key::layout, 1},
                                                 {Key::kind, 64},
                                                 {Key::camp, 1ULL << 32},
                                                 {Key::attach, 0},
                                                 {static_cast<Key>(7), 1},
                                                 {Key::count_max, 0},
                                                 {Key::raw_size, 0}};
  for (const auto& [key, value] : wrong) {
    AttributeList list("p");
    const Status status = list.set(key, value);
    EXPECT_FAILS(status, "party \"p\"") << to_string(key) << " = " << value;
    EXPECT_TRUE(list.attributes().empty());
  }
  AttributeList list("p");
  EXPECT_FALSE(list.set(Key::pitch_align, {64, 0}, 3, {})) << "planes 0 to 2";
  EXPECT_FALSE(list.set(Key::width, {9, 3}, 0, {})) << "ends before it begins";
  EXPECT_FALSE(list.set_shape({}));
  EXPECT_FALSE(list.set_shape({1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_FALSE(list.set(Key::pad_fill, {3, 256}, 0, {}));
}

TEST(Attributes, texts_are_read_by_the_key_s_type) {
  AttributeList list("p");
  const auto reads = [&](const char* key, const char* json, const char* back) {
    AttributeList one("p");
    must(one.set_text(key, json));
    const KeyInfo* const info = key_info(std::string_view(key));
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(to_string(info->key, *one.get(info->key)), back);
  };
  reads("t.row_align", "64", "64 B");
  reads("g.contig", "true", "true");
  reads("t.dtype", "\"float32\"", "f32");
  reads("g.heaps", R"(["memfd", "dmabuf.*"])",
        "{memfd, dmabuf.system, dmabuf.cma, dmabuf.uncached}");
  reads("g.policy", R"({"value": "Uncached", "strict": true})", "uncached strict");
  reads("g.policy", "\"Auto\"", "auto");
  reads("g.cpu", "\"ReadWrite\"", "readwrite");
  reads("i.w", "[4, 1280]", "4..1280 px");
  reads("i.w", R"({"max": 1280})", "1..1280 px");
  reads("pyr.scale", "0.5", "0.5");
  reads("g.pad_fill", R"({"value": 128})", "128");
  reads("g.pad_fill", R"({"value": 0})", "zero");
  reads("g.pad_fill", "\"NotNaN\"", "notnan");
  ASSERT_TRUE(list.set_text("t.shape", "[1, 3, 480, 640]"));
  EXPECT_EQ(list.get(Key::shape, 0)->low, 640U);
  EXPECT_EQ(list.get(Key::shape, 3)->low, 1U);
  ASSERT_TRUE(list.set_text("i.pitch_align[1]", "32"));
  EXPECT_FALSE(list.get(Key::pitch_align, 0));
  EXPECT_EQ(list.get(Key::pitch_align, 1)->low, 32U);
  ASSERT_TRUE(list.set_text("i.format", R"(["NV12", "rgba@0x0100000000000001"])"));
  EXPECT_EQ(to_string(list.alternatives()[1].tag), "rgba@0x0100000000000001");
}

TEST(Attributes, names_of_values_are_those_of_the_design_too) {
  const std::tuple<const char*, const char*, const char*> names[] = {
      {"g.kind", "Raw", "{raw}"},
      {"g.kind", "Pyramid", "{pyramid}"},
      {"g.cpu", "None", "none"},
      {"g.cpu", "Read", "read"},
      {"g.cpu", "ReadWrite", "readwrite"},
      {"g.policy", "Auto", "auto"},
      {"g.policy", "Unmapped", "unmapped"},
      {"g.policy", "Uncached", "uncached"},
      {"g.policy", "Cached", "cached"},
      {"g.domains", "HwCoherent", "{hwcoherent}"},
      {"g.domains", "CpuSync", "{cpusync}"},
      {"g.domains", "Uncached", "{uncached}"},
      {"g.domains", "NoCpu", "{nocpu}"},
      {"g.perm", "RO", "ro"},
      {"g.perm", "RW", "rw"},
      {"g.attach", "DmaAttach", "dma"},
      {"g.attach", "PhysOnly", "phys"},
      {"g.attach", "CpuOnly", "cpu"},
      {"g.pad_fill", "Any", "any"},
      {"g.pad_fill", "NotNaN", "notnan"},
      {"g.pad_fill", "Zero", "zero"},
      {"i.color", "DontCare", "unknown"},
      {"i.color", "BT.601", "bt601"},
      {"i.color", "BT.709", "bt709"},
      {"i.color", "BT.2020", "bt2020"},
      {"i.scan", "Progressive", "progressive"},
      {"i.scan", "Interlaced", "interlaced"},
  };
  for (const auto& [key, name, printed] : names) {
    AttributeList list("p");
    must(list.set_text(key, '"' + std::string(name) + '"'));
    const Attribute& one = list.attributes()[0];
    EXPECT_EQ(to_string(one.key, one.value), printed) << key << " " << name;
  }
}

TEST(Attributes, texts_that_are_wrong) {
  const auto wrong = [](const char* key, const char* json, Errc code) {
    AttributeList list("p");
    const Status status = list.set_text(key, json);
    EXPECT_FAILS(status, code, "p") << key << " " << json;
  };
  wrong("t.rows", "1", Errc::not_found);
  wrong("t.row_align", "{", Errc::malformed);
  for (const auto& [key, json] : {std::pair("t.row_align", "-1"),
                                  {"t.row_align", "1.5"},
                                  {"t.row_align", "\"64\""},
                                  {"t.row_align", "99999999999999999999"},
                                  {"g.contig", "1"},
                                  {"g.heaps", "\"ram\""},
                                  {"g.heaps", "[]"},
                                  {"t.dtype", "\"q4\""},
                                  {"t.shape", "[]"},
                                  {"t.shape", "[1,2,3,4,5,6,7,8,9]"},
                                  {"t.shape", "[0]"},
                                  {"t.layout", "\"NV12\""},
                                  {"i.format", "\"NCHW\""},
                                  {"t.layout", "\"NCxHWx1025\""},
                                  {"i.pitch_align[9]", "1"},
                                  {"i.pitch_align[3]", "1"}})
    wrong(key, json, Errc::invalid_argument);
}

TEST(Attributes, layouts_by_name) {
  for (const char* const name :
       {"NCHW", "NHWC", "NCxHWx32", "nv12", "*", "rgba@0x00ffffffffffffff"}) {
    const auto tag = layout_tag_from_string(name);
    ASSERT_TRUE(tag) << name;
    EXPECT_EQ(to_string(*tag), name);
  }
  for (const char* const name : {"", "NCHW ", "NCxHWx", "NCxHWx0", "nv12@", "nv12@12", "rgbx7"})
    EXPECT_FALSE(layout_tag_from_string(name)) << name;
}

TEST(Attributes, alternatives_are_checked) {
  AttributeList list("p");
  ASSERT_TRUE(list.accept(LayoutTag::tensor(AxisOrder::nchw)));
  EXPECT_FAILS(list.accept(LayoutTag::tensor(AxisOrder::nchw)), Errc::exists);
  EXPECT_FALSE(list.accept(LayoutTag::tensor(AxisOrder::nchw, 4))) << "x is for blocks";
  EXPECT_FALSE(list.accept(LayoutTag::any(), 0, list)) << "no alternatives in alternatives";
  for (std::uint32_t x = 1; x < 64; ++x)
    ASSERT_TRUE(list.accept(LayoutTag::tensor(AxisOrder::nc_hwx, x)));
  EXPECT_FAILS(list.accept(LayoutTag::any()), Errc::exhausted);
}

TEST(Attributes, parties_are_limited) {
  std::vector<AttributeList> lists;
  for (int k = 0; k < 64; ++k) {
    lists.emplace_back("p" + std::to_string(k));
    ASSERT_TRUE(lists.back().set(Key::raw_size, 4096));
  }
  EXPECT_TRUE(reconcile(lists));
  lists.emplace_back("one more");
  EXPECT_FAILS(reconcile(lists), Errc::exhausted);
  lists.assign(1, AttributeList(""));
  EXPECT_FAILS(reconcile(lists), Errc::invalid_argument);
  lists.assign(1, AttributeList("a\nb"));
  EXPECT_FAILS(reconcile(lists), Errc::invalid_argument);
  const AttributeList* const none[] = {nullptr};
  EXPECT_FAILS(reconcile(none), Errc::invalid_argument);
}

TEST(PartyFiles, are_refused_by_what_is_wrong) {
  const auto wrong = [](const char* text, Errc code, const char* part) {
    EXPECT_FAILS(parties_from_json(text), code, part) << text;
  };
  wrong("{", Errc::malformed, "JSON");
  wrong("[]", Errc::malformed, "object");
  wrong("{}", Errc::malformed, "parties");
  wrong(R"({"parties": 1})", Errc::malformed, "parties");
  wrong(R"({"parties": [1]})", Errc::malformed, "party 0");
  wrong(R"({"parties": [{}]})", Errc::malformed, "name");
  wrong(R"({"parties": [{"name": "a", "key": {}}]})", Errc::malformed, "\"key\"");
  wrong(R"({"parties": [{"name": "a", "keys": []}]})", Errc::malformed, "keys");
  wrong(R"({"parties": [{"name": "a", "keys": {"t.x": 1}}]})", Errc::not_found, "t.x");
  wrong(R"({"parties": [{"name": "a", "engine": "npu"}]})", Errc::not_found, "npu");
  wrong(R"({"parties": [{"name": "a", "engine": 1}]})", Errc::malformed, "engine");
  wrong(R"({"parties": [{"name": "a", "optional": "x"}]})", Errc::malformed, "optional");
  wrong(R"({"parties": [{"name": "a", "alternatives": [{}]}]})", Errc::malformed, "tag");
  wrong(R"({"parties": [{"name": "a", "alternatives": [{"tag": "X"}]}]})", Errc::invalid_argument,
        "X");
  wrong(R"({"parties": [{"name": "a", "keys": {"g.camp": 1, "g.camp": 2}}]})", Errc::exists,
        "g.camp");
}

}  // namespace
}  // namespace halyard
