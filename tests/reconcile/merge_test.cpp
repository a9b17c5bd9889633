// SPDX-License-Identifier: Apache-2.0
// What several parties' values become, and who is named where they become nothing.
#include "reconcile/agreed.h"
#include "reconcile/negotiate.h"

namespace halyard {
namespace {

using namespace halyard::test;  // NOLINT: its helpers are what tests are written in
using Names = std::set<std::string>;

const std::string raw = R"({"name": "app", "keys": {"r.size": 4096}})";
std::string with_raw(const std::string& others) {
  return "[" + raw + ", " + others + "]";
}

TEST(Merge, buffers_that_are_held_add_up) {
  const std::string parties = R"({"name": "dec", "keys": {"g.camp": 2}},
    {"name": "gpu", "keys": {"g.camp": 1, "g.slack": 1, "g.shared_slack": 1}},
    {"name": "view", "keys": {"g.camp": 1, "g.shared_slack": 2)";
  EXPECT_EQ(output(negotiate(with_raw(parties + "}}")), "g.count"), 7);
  const json few = negotiate(with_raw(parties + R"(, "g.count_max": 6}})"));
  EXPECT_TRUE(disagree(
      few,
      {.key = "g.count_max", .parties = {"dec", "gpu", "view"}, .computed = "needs 7, at most 6"}));
  EXPECT_EQ(output(negotiate(with_raw(parties + R"(, "g.count_max": 8}})")), "g.count"), 7);
}

TEST(Merge, the_same_list_twice_is_one) {
  const std::string gpu = R"({"name": "gpu", "keys": {"g.camp": 3, "i.pitch_align": 64}})";
  EXPECT_EQ(negotiate(with_raw(gpu)), negotiate(with_raw(gpu + ", " + gpu)));
  const json both = negotiate(with_raw(gpu + R"(, {"name": "gpu", "keys": {"g.camp": 2}})"));
  EXPECT_EQ(output(both, "g.count"), 3) << "a party's largest counts";
}

TEST(Merge, memory_that_all_reach) {
  json r =
      negotiate(with_raw(R"({"name": "a", "keys": {"g.heaps": ["dmabuf.cma", "dmabuf.system"]}},
    {"name": "b", "keys": {"g.heaps": "dmabuf.cma"}}, {"name": "c", "keys": {}})"));
  EXPECT_EQ(output(r, "g.heap"), "dmabuf.cma");
  r = negotiate(with_raw(R"({"name": "a", "keys": {"g.heaps": ["heap", "memfd"]}},
    {"name": "b", "keys": {"g.heaps": ["memfd", "udmabuf"]}},
    {"name": "c", "keys": {"g.heaps": ["heap", "udmabuf"]}})"));
  EXPECT_EQ(opponents(r), (Names{"a", "b", "c"}));
  r = negotiate(R"([{"name": "app", "keys": {"t.dtype": "i8", "t.shape": [1, 1, 8, 8]}},
    {"name": "gl", "engine": "gl.pbo"}, {"name": "net", "engine": "dla"}])");
  EXPECT_TRUE(disagree(r, {.key = "g.heaps", .parties = {"gl", "net"}}));
}

TEST(Merge, memory_for_other_processes_and_contiguous_memory) {
  json r = negotiate(with_raw(R"({"name": "peer", "keys": {"g.export": true}})"));
  EXPECT_EQ(output(r, "g.heap"), "memfd");
  r = negotiate(with_raw(R"({"name": "peer", "keys": {"g.export": true}},
                            {"name": "gl", "keys": {"g.heaps": ["heap", "pbo"]}})"));
  EXPECT_EQ(opponents(r), (Names{"gl", "peer"}));
  r = negotiate(with_raw(R"({"name": "g2d", "keys": {"g.contig": true}},
                            {"name": "shm", "keys": {"g.heaps": "memfd"}})"));
  EXPECT_EQ(opponents(r), (Names{"g2d", "shm"}));
}

TEST(Merge, the_strongest_policy_unless_one_is_strict) {
  const std::string cached = R"({"name": "a", "keys": {"g.policy": "cached", "g.cpu": "read"}},)";
  json r = negotiate(R"([{"name": "app", "keys": {"t.dtype": "i8", "t.shape": [1, 1, 8, 8]}},
    {"name": "net", "engine": "dla"},)" +
                     cached + R"({"name": "b", "keys": {"g.policy": "uncached"}}])");
  EXPECT_TRUE(gives(r, R"({"g.policy": "cached", "g.needs_sync": true})"));
  r = negotiate(with_raw(cached + R"({"name": "b", "keys": {"g.policy":
    {"value": "uncached", "strict": true}}})"));
  EXPECT_TRUE(disagree(r, {.key = "g.policy", .parties = {"a", "b"}}));
  r = negotiate(with_raw(R"({"name": "b", "keys": {"g.policy": "uncached", "g.cpu": "read"}})"));
  EXPECT_EQ(output(r, "g.policy"), "cached") << "no memory here is uncached";
  EXPECT_EQ(output(r, "g.policy_emulated"), true);
}

TEST(Merge, views_are_each_party_s_own) {
  const json r = negotiate(R"([{"name": "a", "keys": {"r.size": 64, "g.cpu": "readwrite",
    "g.perm": "rw"}}, {"name": "b", "keys": {}}])");
  EXPECT_EQ(r["views"]["a"], (json{{"cpu", "readwrite"}, {"perm", "rw"}}));
  EXPECT_EQ(r["views"]["b"], (json{{"cpu", "none"}, {"perm", "ro"}}));
}

TEST(Merge, unknown_colours_join_with_those_that_are_known) {
  const auto with = [](const char* a, const char* b, const char* c) {
    std::vector<AttributeList> lists{AttributeList("a"), AttributeList("b"), AttributeList("c")};
    EXPECT_TRUE(lists[0].set_image(64, 32));
    EXPECT_TRUE(lists[0].accept(LayoutTag::image(PixelFormat::nv12)));
    const char* const said[] = {a, b, c};
    for (std::size_t k = 0; k < lists.size(); ++k)
      EXPECT_TRUE(lists[k].set_text("i.color", '"' + std::string(said[k]) + '"'));
    return reconcile(lists);
  };
  for (const auto& result :
       {with("unknown", "bt709", "DontCare"), with("bt709", "unknown", "bt709"),
        with("DontCare", "DontCare", "bt709")}) {
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->value(Key::color)->low, 2U);
    for (const Statement& each : result->explain(Key::color))
      EXPECT_EQ(each.value, "bt709") << "who does not care does not make it so";
  }
  const auto unknown = value_of(with("unknown", "unknown", "unknown"));
  EXPECT_EQ(unknown.value(Key::color)->low, 0U);
  EXPECT_EQ(unknown.explain(Key::color).size(), 3U);
  EXPECT_FALSE(with("bt601", "unknown", "bt709"));
}

TEST(Merge, all_independent_conflicts_are_named) {
  const json r = negotiate(R"([{"name": "app", "keys": {"i.format": "nv12", "i.w": 1920,
    "i.h": 1080}}, {"name": "cam", "keys": {"i.w": {"max": 1280}, "i.h": {"max": 720}}}])");
  ASSERT_EQ(r["conflicts"].size(), 2U) << r.dump(1);
  EXPECT_EQ(conflict_at(r, 0)["key"], "i.w");
  EXPECT_EQ(conflict_at(r, 1)["key"], "i.h");
}

TEST(Merge, layouts_that_all_accept_and_cost_least) {
  const std::string app = R"({"name": "app", "keys": {"t.dtype": "i8", "t.shape": [1, 4, 8, 8]}},)";
  const std::string cpu = R"({"name": "cpu", "alternatives": [{"tag": "NCHW"}, {"tag": "NHWC"}]})";
  const std::string any = R"({"name": "cpu", "alternatives": [{"tag": "*"}]})";
  const std::string cam = R"(, {"name": "cam", "alternatives": [{"tag": "NHWC"}]})";
  const std::string dla = R"(, {"name": "dla", "alternatives": [{"tag": "NCxHWx32", "cost": 0},
    {"tag": "NHWC", "cost": 2, "keys": {"t.cpad": 4}}]})";
  EXPECT_EQ(output(negotiate("[" + app + cpu + cam + dla + "]"), "t.layout"), "NHWC");
  EXPECT_EQ(output(negotiate("[" + app + cpu + cam + dla + "]"), "t.strides")[2], 4);
  EXPECT_EQ(output(negotiate("[" + app + cpu + dla + "]"), "t.layout"), "NHWC");
  EXPECT_EQ(output(negotiate("[" + app + any + dla + "]"), "t.layout"), "NCxHWx32");
  const json r =
      negotiate("[" + app + R"({"name": "p", "keys": {"t.layout": "NCHW"}})" + cam + dla + "]");
  EXPECT_EQ(conflict_at(r)["key"], "t.layout");
  EXPECT_EQ(opponents(r).size(), 2U) << r.dump(1);
}

TEST(Merge, padding_that_somebody_reads) {
  const auto with = [](const char* dtype, const char* cam) {
    return negotiate(R"([{"name": "app", "keys": {"t.shape": [1, 3, 8, 10], "t.dtype": ")" +
                     std::string(dtype) + R"("}}, {"name": "net", "engine": "dla"},
      {"name": "cam", "keys": )" +
                     cam + "}]");
  };
  json r = with("f16", R"({"g.pad_clobber": true})");
  EXPECT_TRUE(disagree(r, {.key = "g.pad_fill", .parties = {"cam", "net"}}));
  EXPECT_TRUE(with("i8", R"({"g.pad_clobber": true})")["ok"]);
  EXPECT_TRUE(with("f16", R"({"g.pad_fill": "zero"})")["ok"]);
  r = negotiate(with_raw(R"({"name": "a", "keys": {"g.pad_fill": "zero"}},
                            {"name": "b", "keys": {"g.pad_fill": {"value": 128}}})"));
  EXPECT_EQ(opponents(r), (Names{"a", "b"}));
}

TEST(Merge, protected_content_is_not_for_the_cpu) {
  const json r = negotiate(with_raw(R"({"name": "drm", "keys": {"g.protected": true}},
                                       {"name": "view", "keys": {"g.cpu": "read"}})"));
  EXPECT_EQ(opponents(r), (Names{"drm", "view"}));
}

TEST(Merge, optional_parties_are_left_out) {
  const std::string parties = R"([{"name": "app", "keys": {"i.format": "nv12", "i.w": 1920,
    "i.h": 1080}}, {"name": "cam", "keys": {"i.pitch_exact": 1920}},
    {"name": "preview", "optional": true, "keys": {"i.pitch_align": 256}}])";
  EXPECT_FALSE(negotiate(parties)["ok"]);
  const json r = negotiate(parties, {.allow_drop = true});
  EXPECT_EQ(output(r, "i.pitch"), json({1920, 1920}));
  ASSERT_EQ(r["dropped"].size(), 1U);
  EXPECT_EQ(r["dropped"][0]["party"], "preview");
  EXPECT_EQ(r["dropped"][0]["conflicts"][0]["key"], "i.pitch_exact[0]");
  const json two = negotiate(R"([{"name": "app", "keys": {"r.size": 64, "g.size_max": 64}},
    {"name": "a", "optional": 5, "keys": {"g.heaps": "memfd"}},
    {"name": "b", "optional": 1, "keys": {"g.heaps": "heap"}}])",
                             {.allow_drop = true});
  EXPECT_EQ(two["dropped"][0]["party"], "b") << "the lower priority";
}

TEST(Merge, an_engine_that_keeps_one_address) {
  const std::string pinned = R"({"name": "npu", "keys": {"g.addr_pinned": true)";
  const std::string cam = R"(}}, {"name": "cam", "keys": {"g.camp": 4}})";
  const json r = negotiate(with_raw(pinned + cam));
  EXPECT_TRUE(disagree(r, {.key = "g.addr_pinned", .parties = {"cam", "npu"}}));
  EXPECT_TRUE(negotiate(with_raw(pinned + R"(, "g.count_max": 4)" + cam))["ok"]);
}

TEST(Merge, memory_whose_address_alone_is_taken) {
  const std::string parties = R"([{"name": "app", "keys": {"i.format": "rgba", "i.w": 64, "i.h": 64,
    "g.cpu": "read"}}, {"name": "g2d", "keys": {"g.attach": "phys", "g.heaps": )";
  json r = negotiate(parties + R"(["dmabuf.cma"]}}])");
  EXPECT_EQ(output(r, "g.anchor"), "held");
  r = negotiate(parties + R"(["dmabuf.cma", "dmabuf.uncached"]}}])", {.can_anchor = false});
  EXPECT_TRUE(gives(r, R"({"g.heap": "dmabuf.uncached", "g.anchor": "none"})"));
  r = negotiate(parties + R"(["dmabuf.cma"]}}])", {.can_anchor = false});
  EXPECT_TRUE(disagree(r, {.key = "g.attach", .parties = {"app", "g2d"}}));
}

TEST(Merge, what_is_missing_is_no_conflict) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "at least one list"},
      {R"([{"name": "a"}])", "what the buffer holds"},
      {R"([{"name": "a", "keys": {"t.shape": [1]}}])", "t.dtype"},
      {R"([{"name": "a", "keys": {"i.w": 1, "i.h": 1}}])", "i.format"},
      {R"([{"name": "a", "keys": {"i.w": [1, 9], "i.h": 1, "i.format": "rgb"}}])", "open"}};
  for (const auto& [parties, missing] : cases)
    EXPECT_NE(negotiate(parties).value("error", "none").find(missing), std::string::npos)
        << parties;
}

TEST(Merge, text_of_a_conflict) {
  const auto parties = parties_of(R"([
    {"name": "app", "keys": {"i.format": "nv12", "i.w": 1926, "i.h": 1080}},
    {"name": "camera", "engine": "v4l2.capture", "pid": 812, "settings": {"bytesperline": 1928}},
    {"name": "gpu", "engine": "egl.dmabuf", "pid": 640}])");
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(parties, {}, &conflict));
  EXPECT_EQ(conflict.to_text(), R"(reconcile: 1 conflict
 [1] i.pitch_exact[0]  (an exact stride must be a multiple of every alignment), layout nv12
     camera (v4l2.capture)  pid 812  i.pitch_exact[0] = 1928 B  (settings)
     gpu (egl.dmabuf)       pid 640  i.pitch_align[0] = 64 B  (table)
     1928 mod 64 = 8; nearest legal: 1984
     hint: let the producer use a stride of 1984 bytes and crop, or copy for a party)");
}

TEST(Merge, a_result_knows_where_its_values_were_said) {
  AttributeList app("app"), npu("npu"), dsp("dsp");
  ASSERT_TRUE(app.set_dtype(DType::u8));
  ASSERT_TRUE(app.set_shape({1, 1, 8, 100}));
  ASSERT_TRUE(npu.set(Key::row_align, {64, 64}, 0, "data sheet"));
  ASSERT_TRUE(dsp.set(Key::row_align, {16, 16}, 0, "table"));
  const auto result = value_of(reconcile(std::vector<AttributeList>{dsp, app, npu}));
  const auto said = result.explain(Key::row_align);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].party, "npu");
  EXPECT_EQ(said[0].source, "data sheet");
  ASSERT_EQ(result.explain(Key::dtype).size(), 1U);
  EXPECT_EQ(result.explain(Key::dtype)[0].source.find("merge_test.cpp:"), 0U);
}

TEST(Merge, unmapped_gives_way_to_whom_uses_the_cpu_unless_it_is_strict) {
  const auto with = [](const std::string& policy) {
    return negotiate(R"([{"name": "npu", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 8, 8],
      "g.policy": )" +
                     policy + R"(}}, {"name": "app", "keys": {"g.cpu": "read"}}])");
  };
  EXPECT_EQ(output(with(R"("unmapped")"), "g.policy"), "cached");
  const json result = with(R"({"value": "unmapped", "strict": true})");
  EXPECT_TRUE(disagree(result, {.key = "g.policy", .parties = {"app", "npu"}}));
}

TEST(Merge, what_is_required_lies_in_what_is_allowed) {
  const auto with = [](const std::string& parties) {
    return negotiate(R"([{"name": "app", "keys": {"g.cpu": "read"},
      "alternatives": [{"tag": "RGBA", "keys": {}}]}, )" +
                     parties + "]");
  };
  const std::string decoder =
      R"({"name": "decoder", "keys": {"i.w_required": [640, 1280], "i.h_required": 480}})";
  const std::string encoder = R"({"name": "encoder", "keys": {"i.w_required": 1920}})";
  json r = with(decoder + "," + encoder);
  EXPECT_EQ(output(r, "i.pitch"), json({7680})) << "room for the largest";
  EXPECT_EQ(output(r, "g.size"), 7680 * 480);
  r = with(decoder + "," + encoder + R"(, {"name": "gpu", "keys": {"i.w": [64, 4096]}})");
  EXPECT_EQ(output(r, "i.pitch"), json({7680}));
  r = with(decoder + "," + encoder + R"(, {"name": "gpu", "keys": {"i.w": [64, 1280]}})");
  EXPECT_TRUE(disagree(r, {.key = "i.w_required",
                           .parties = {"encoder", "gpu"},
                           .computed = "required 1920, allowed <= 1280",
                           .nearest = json({1280})}));
  r = with(decoder + R"(, {"name": "gpu", "keys": {"i.w": [800, 4096]}})");
  EXPECT_EQ(conflict_at(r)["computed"], "required 640, allowed >= 800");
  r = with(decoder + R"(, {"name": "camera", "keys": {"i.w": 1920}})");
  EXPECT_EQ(output(r, "i.pitch"), json({7680})) << "smaller ones fit in what is said";
  r = negotiate(R"([{"name": "a", "keys": {"t.dtype": "u8", "t.shape_required": [1, 3, 480, 640]}},
    {"name": "b", "keys": {"t.shape_required": [1, 3, 240, 800]}}])");
  EXPECT_EQ(output(r, "t.strides"), (json{3 * 480 * 800, 480 * 800, 800, 1}));
}

TEST(Merge, a_party_that_contradicts_itself_is_no_conflict) {
  const auto message = [](const std::string& keys) {
    return negotiate(with_raw(R"({"name": "a", "keys": {)" + keys + "}}"))["error"]
        .get<std::string>();
  };
  EXPECT_NE(message(R"("g.size_min": 100, "g.size_max": 50)")
                .find(R"("a": g.size_min = 100 B, g.size_max = 50 B)"),
            std::string::npos);
  for (const char* keys :
       {R"("g.count_min": 3, "g.count_max": 2)", R"("t.row_min": 65, "t.row_max": 64)",
        R"("t.row_exact": 65, "t.row_max": 64)", R"("t.row_exact": 63, "t.row_min": 64)",
        R"("i.pitch_exact": 65, "i.pitch_max": 64)", R"("r.size": 65, "g.size_max": 64)",
        R"("g.cpu": "read", "g.protected": true)",
        R"("g.cpu": "read", "g.policy": {"value": "unmapped", "strict": true})",
        R"("i.w": [1, 100], "i.w_required": 101)", R"("t.max_axis": 7, "t.shape": [1, 1, 8, 8])"})
    EXPECT_NE(message(keys).find("contradicts itself"), std::string::npos) << keys;
}

TEST(Merge, memory_for_devices_and_for_whom_it_is_not_cached) {
  json r =
      negotiate(with_raw(R"({"name": "a", "keys": {"g.protected": true, "g.attach": "dma"}})"));
  EXPECT_EQ(output(r, "g.heaps"), json({"dmabuf.protected"}));
  const std::string both = R"("g.heaps": ["dmabuf.system", "dmabuf.uncached"], "g.cpu": "read")";
  r = negotiate(with_raw(R"({"name": "a", "keys": {"g.policy": "uncached", )" + both + "}}"));
  EXPECT_EQ(output(r, "g.heaps"), (json{"dmabuf.uncached", "dmabuf.system"}));
  EXPECT_TRUE(gives(r, R"({"g.policy": "uncached", "g.policy_emulated": false})"));
  r = negotiate(with_raw(R"({"name": "a", "keys": {"g.domains": "uncached", )" + both + "}}"));
  EXPECT_EQ(output(r, "g.heaps"), json({"dmabuf.uncached"}));
}

}  // namespace
}  // namespace halyard
