// SPDX-License-Identifier: Apache-2.0
// What the built-in engines say, and how engines are asked again.
#include <map>

#include "halyard/attribute_blob.h"
#include "reconcile/agreed.h"
#include "reconcile/negotiate.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace halyard::test;  // NOLINT: its helpers are what tests are written in

AttributeList filled_by(std::string_view name, const BufferRequest& request,
                        std::string_view settings = {}) {
  AttributeList list("party");
  must(value_of(make_buffer_engine(name, settings))->fill(request, list));
  return list;
}

std::uint64_t said(const AttributeList& list, Key key, std::size_t index = 0) {
  const auto value = list.get(key, index);
  EXPECT_TRUE(value) << to_string(key);
  return value ? value->low : 0;
}

BufferRequest tensor_of(DType dtype, std::vector<std::size_t> shape) {
  BufferRequest request;
  request.dtype = dtype;
  request.shape = std::move(shape);
  return request;
}

BufferRequest image_of(PixelFormat format) {
  BufferRequest request;
  request.format = format;
  request.width = request.height = 64;
  return request;
}

TEST(Engines, cpu_takes_everything) {
  const AttributeList list = filled_by("cpu", {});
  ASSERT_EQ(list.attributes().size(), 1U);
  EXPECT_EQ(to_string(Key::domains, *list.get(Key::domains)), "{hwcoherent, cpusync, uncached}");
  ASSERT_EQ(list.alternatives().size(), 1U);
  EXPECT_EQ(list.alternatives()[0].tag, LayoutTag::any());
}

TEST(Engines, vectors_read_past_the_end) {
  for (const auto& [name, vector] :
       {std::pair("cpu.simd16", 16U), std::pair("cpu.simd32", 32U), std::pair("cpu.simd64", 64U)}) {
    const AttributeList list = filled_by(name, {});
    EXPECT_EQ(said(list, Key::row_align), vector);
    EXPECT_EQ(said(list, Key::tail_slack), vector);
    EXPECT_EQ(said(list, Key::base_align), 64U);
  }
}

TEST(Engines, dla_takes_blocks_pixels_and_planes) {
  AttributeList list = filled_by("dla", tensor_of(DType::i8, {1, 3, 8, 8}));
  EXPECT_EQ(said(list, Key::base_align), 512U);
  EXPECT_EQ(said(list, Key::max_axis, 0), 8192U);
  EXPECT_EQ(said(list, Key::max_axis, 3), 65536U);
  ASSERT_EQ(list.alternatives().size(), 3U);
  EXPECT_EQ(to_string(list.alternatives()[0].tag), "NCxHWx32");
  EXPECT_EQ(list.alternatives()[1].attributes[0].value.low, 4U) << "four channels are stored";
  list = filled_by("dla", tensor_of(DType::f16, {1, 64, 8, 8}));
  EXPECT_EQ(to_string(list.alternatives()[0].tag), "NCxHWx16");
  EXPECT_EQ(list.alternatives().size(), 2U) << "64 channels are no pixels";
  EXPECT_EQ(said(list, Key::pad_fill), 1U);
  list = filled_by("dla", tensor_of(DType::f32, {1, 64, 8, 8}));
  EXPECT_EQ(said(list, Key::dtype), static_cast<std::uint64_t>(DType::i8));
}

TEST(Engines, g2d_wants_other_pitches_for_other_formats) {
  EXPECT_EQ(said(filled_by("nxp.g2d", image_of(PixelFormat::rgba)), Key::pitch_align), 16U);
  EXPECT_EQ(said(filled_by("nxp.g2d", image_of(PixelFormat::nv12)), Key::pitch_align), 8U);
  EXPECT_EQ(said(filled_by("nxp.g2d", image_of(PixelFormat::nv12)), Key::plane_align), 64U);
  EXPECT_EQ(said(filled_by("nxp.g2d", image_of(PixelFormat::i420)), Key::pitch_align), 32U);
  const json r = negotiate(R"([{"name": "app", "keys": {"i.format": "rgba", "i.w": 3, "i.h": 64}},
                               {"name": "g2d", "engine": "nxp.g2d"}])");
  EXPECT_EQ(conflict_at(r)["key"], "i.w") << "at least 4";
}

TEST(Engines, cpu_does_not_share_memory_that_no_cpu_reaches) {
  const json r = negotiate(R"([{"name": "app", "engine": "cpu", "keys": {"r.size": 4096}},
                               {"name": "panel", "keys": {"g.domains": "nocpu"}}])");
  EXPECT_TRUE(disagree(r, {.key = "g.domains", .parties = {"app", "panel"}}));
}

TEST(Engines, g2d_wants_of_each_format_what_it_wants_of_it_alone) {
  const auto rows_of = [](const std::string& formats) {
    const json r =
        negotiate(R"([{"name": "app", "keys": {"i.format": )" + formats +
                  R"(, "i.w": 1366, "i.h": 768}}, {"name": "g2d", "engine": "nxp.g2d"}])");
    return std::pair(output(r, "i.pitch"), output(r, "i.offset"));
  };
  const auto alone = rows_of(R"("i420")");
  EXPECT_EQ(alone.first, json::array({1376, 704, 704}));
  EXPECT_EQ(rows_of(R"(["i420", "rgba"])"), alone);
  EXPECT_EQ(rows_of(R"(["rgba", "nv12"])"), rows_of(R"("nv12")"));
  EXPECT_EQ(rows_of(R"(["rgb", "rgba"])"), rows_of(R"("rgb")"));
  const json r = negotiate(R"([{"name": "g2d", "engine": "nxp.g2d"},
    {"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 4, 64, 64], "t.layout": "NHWC",
      "i.w": 64, "i.h": 64, "i.format": ["rgba", "nv12"]}}])");
  EXPECT_EQ(output(r, "t.layout"), "NHWC") << "it leaves tensors to others";
}

TEST(Engines, g2d_takes_more_formats_than_a_list_has_alternatives) {
  BufferRequest request;
  for (std::uint64_t modifier = 1; modifier < 90; ++modifier)
    request.images.push_back(LayoutTag::image(PixelFormat::rgba, modifier));
  request.images.push_back(LayoutTag::image(PixelFormat::i420));
  const AttributeList list = filled_by("nxp.g2d", request);
  ASSERT_EQ(list.alternatives().size(), 64U);
  EXPECT_EQ(list.alternatives().front().tag, LayoutTag::image(PixelFormat::i420));
  EXPECT_EQ(list.alternatives().back().tag, LayoutTag::any());
}

TEST(Engines, g2d_reaches_as_far_as_its_setting_says) {
  const BufferRequest image = image_of(PixelFormat::rgba);
  EXPECT_EQ(said(filled_by("nxp.g2d", image), Key::addr_bits), 32U);
  EXPECT_EQ(said(filled_by("nxp.g2d", image, R"({"addr_bits": 34})"), Key::addr_bits), 34U);
}

TEST(Engines, egl_knows_drivers_by_name) {
  const BufferRequest image = image_of(PixelFormat::rgba);
  const auto pitch = [&](std::string_view settings) {
    return said(filled_by("egl.dmabuf", image, settings), Key::pitch_align);
  };
  EXPECT_EQ(pitch(""), 64U);
  EXPECT_EQ(pitch(R"({"driver": "unknown"})"), 64U);
  EXPECT_EQ(pitch(R"({"driver": "mali-v7"})"), 64U);
  EXPECT_EQ(pitch(R"({"driver": "nvidia"})"), 256U);
  EXPECT_EQ(pitch(R"({"driver": "nvidia", "pitch_align": 128})"), 128U);
  const auto other = make_buffer_engine("egl.dmabuf", R"({"driver": "voodoo"})");
  ASSERT_FALSE(other);
  for (const char* const part : {"voodoo", "mali-v7", "nvidia", "unknown"})
    EXPECT_FAILS(other, part);
  const auto number = make_buffer_engine("egl.dmabuf", R"({"driver": 7})");
  EXPECT_FAILS(number, "text");
}

TEST(Engines, each_has_a_name_among_the_values_of_its_key) {
  const auto none = make_buffer_engine("none");
  ASSERT_FALSE(none);
  const std::string text = none.error().message();
  std::string names = text.substr(text.find("known: ") + 7) + ",";
  int count = 0;
  for (; names.find(',') != std::string::npos; ++count) {
    const std::string name = names.substr(0, names.find(','));
    names.erase(0, std::min(names.size(), name.size() + 2));
    AttributeList list("party");
    ASSERT_TRUE(list.set_text("g.engines", '"' + name + '"')) << name;
    EXPECT_EQ(to_string(Key::engines, *list.get(Key::engines)), "{" + name + "}");
  }
  EXPECT_EQ(count, 10);
}

TEST(Engines, who_uses_the_buffer_can_be_asked) {
  AttributeList app("app"), blitter("blitter"), late("late");
  ASSERT_TRUE(app.set_image(64, 64));
  ASSERT_TRUE(app.accept(LayoutTag::image(PixelFormat::rgba)));
  app.set_engine("my.own");
  const EngineParty parties[] = {{app, nullptr},
                                 {blitter, *make_buffer_engine("nxp.g2d")},
                                 {late, *make_buffer_engine("peer.proxy")}};
  const auto result = value_of(reconcile_engines(parties));
  const auto check = [](const Reconciled& buffer) {
    ASSERT_TRUE(buffer.value(Key::engines));
    EXPECT_EQ(to_string(Key::engines, *buffer.value(Key::engines)), "{nxp.g2d, peer.proxy, other}");
    const auto said = buffer.explain(Key::engines);
    ASSERT_EQ(said.size(), 3U);
    EXPECT_EQ(said[0].party + said[0].value + said[0].engine, "app{other}my.own");
    EXPECT_EQ(said[1].party + said[1].value, "blitter{nxp.g2d}");
    EXPECT_EQ(said[2].party + said[2].engine, "latepeer.proxy") << "though it says nothing else";
    EXPECT_EQ(json::parse(buffer.to_json())["explain"]["g.engines"].size(), 3U);
  };
  check(result);
  const auto blob = value_of(encode_result(result, "app"));
  const auto again = value_of(decode_result(blob));
  check(again);
}

// Readers that do not know the key take results as before: their digests have nothing of it.
TEST(Engines, who_uses_the_buffer_makes_it_no_other) {
  AttributeList app("app");
  ASSERT_TRUE(app.set(Key::raw_size, 4096));
  const std::vector<AttributeList> lists = {app};
  AttributeList said("app");
  ASSERT_TRUE(said.set_text("g.engines", R"(["dla", "other"])"));
  const std::vector<AttributeList> more = {app, said};
  const auto one = reconcile(lists), other = reconcile(more);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->digest(), other->digest());
  const auto again =
      value_of(decode_result(encode_result(*other, "app").value_or(std::vector<std::byte>())));
  EXPECT_EQ(again.value(Key::engines), other->value(Key::engines));
}

TEST(Engines, settings_replace_numbers_of_the_table) {
  const BufferRequest image = image_of(PixelFormat::rgba);
  EXPECT_EQ(said(filled_by("egl.dmabuf", image), Key::pitch_align, 2), 64U);
  EXPECT_EQ(said(filled_by("egl.dmabuf", image, R"({"pitch_align": 256})"), Key::pitch_align),
            256U);
  EXPECT_FAILS(make_buffer_engine("egl", ""), "egl.dmabuf") << "names those that there are";
  EXPECT_FAILS(make_buffer_engine("egl.dmabuf", R"({"pitch": 1})"), "\"pitch\"");
  EXPECT_FAILS(make_buffer_engine("egl.dmabuf", R"({"pitch_align": -1})"), "-1");
  EXPECT_FAILS(make_buffer_engine("egl.dmabuf", "[1]"), "object");
  EXPECT_FAILS(make_buffer_engine("dla", R"({"atom": 1})"), "atom");
  EXPECT_FAILS(make_buffer_engine("cpu", R"({"a": 1})"), "setting");
}

/// A driver that answers wishes for pitches by a table.
std::shared_ptr<Asked> driver_of(const std::map<std::uint64_t, std::uint64_t>& answers) {
  return asked([answers](const Reconciled& draft, AttributeList& list) {
    const auto pitch = draft.planes()[0].stride_bytes;
    const auto found = answers.find(pitch);
    return answer(list, Key::pitch_exact, found == answers.end() ? pitch : found->second);
  });
}

TEST(Engines, answers_of_drivers_are_taken_where_all_can) {
  const auto driver = driver_of({{1984, 2048}});
  const auto result = value_of(reconcile_engines(with("camera", driver)));
  EXPECT_EQ(result.planes()[0].stride_bytes, 2048U);
  EXPECT_EQ(driver->count, 2);
}

TEST(Engines, answers_that_do_not_fit_are_conflicts) {
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(with("camera", driver_of({{1984, 1928}})), {}, &conflict));
  ASSERT_FALSE(conflict.items.empty());
  EXPECT_EQ(conflict.items[0].key, "i.pitch_exact[0]");
  EXPECT_EQ(conflict.items[0].parties[0].source, "answer");
}

TEST(Engines, refused_formats_are_not_tried_again) {
  const auto driver = asked([](const Reconciled& draft, AttributeList& list) {
    if (draft.image_tag().format == PixelFormat::grey) return refuse(draft, list);
    return answer(list, Key::pitch_exact, draft.planes()[0].stride_bytes);
  });
  const auto result = value_of(reconcile_engines(with("camera", driver)));
  EXPECT_EQ(result.image_tag().format, PixelFormat::nv12);
}

TEST(Engines, rounds_end) {
  const auto driver =
      driver_of({{1984, 2048}, {2048, 2112}, {2112, 2176}, {2176, 2240}, {2240, 2304}});
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(with("camera", driver), {}, &conflict));
  EXPECT_EQ(conflict.items[0].key, "g.engines");
  EXPECT_EQ(conflict.items[0].parties[0].party, "camera");
  EXPECT_EQ(driver->count, 8) << "four times for each of two formats";
}

TEST(Engines, a_camera_that_is_not_there) {
  const json r = negotiate(R"([{"name": "app", "keys": {"i.format": "nv12", "i.w": 64, "i.h": 64}},
    {"name": "cam", "engine": "v4l2.capture", "settings": {"device": "/dev/no-such-video"}}])");
  EXPECT_EQ(conflict_at(r)["key"], "g.engines");
  EXPECT_NE(r.dump().find("/dev/no-such-video"), std::string::npos) << r.dump(1);
}

}  // namespace
}  // namespace halyard
