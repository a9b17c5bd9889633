// SPDX-License-Identifier: Apache-2.0
// What the built-in engines say, and how engines are asked again.
#include <map>

#include "reconcile/negotiate.h"

namespace halyard {
namespace {

using namespace testing;  // NOLINT: its helpers are what tests are written in

AttributeList filled_by(std::string_view name, const BufferRequest& request,
                        std::string_view settings = {}) {
  AttributeList list("party");
  const auto engine = make_buffer_engine(name, settings);
  EXPECT_TRUE(engine) << engine.error().message();
  if (engine) {
    EXPECT_TRUE((*engine)->fill(request, list).has_value());
  }
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
  EXPECT_TRUE(list.attributes().empty());
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

TEST(Engines, settings_replace_numbers_of_the_table) {
  const BufferRequest image = image_of(PixelFormat::rgba);
  EXPECT_EQ(said(filled_by("egl.dmabuf", image), Key::pitch_align, 2), 64U);
  EXPECT_EQ(said(filled_by("egl.dmabuf", image, R"({"pitch_align": 256})"), Key::pitch_align),
            256U);
  const auto error = [](std::string_view name, std::string_view settings) {
    const auto engine = make_buffer_engine(name, settings);
    return engine ? std::string("none") : engine.error().message();
  };
  EXPECT_NE(error("egl", "").find("egl.dmabuf"), std::string::npos) << "names those that there are";
  EXPECT_NE(error("egl.dmabuf", "{\"pitch\": 1}").find("\"pitch\""), std::string::npos);
  EXPECT_NE(error("egl.dmabuf", "{\"pitch_align\": -1}").find("-1"), std::string::npos);
  EXPECT_NE(error("egl.dmabuf", "[1]").find("object"), std::string::npos);
  EXPECT_NE(error("dla", "{\"atom\": 1}").find("atom"), std::string::npos);
  EXPECT_NE(error("cpu", "{\"a\": 1}").find("setting"), std::string::npos);
}

/// A camera's driver that answers wishes for pitches by a table, or refuses formats.
class Driver : public BufferEngine {
 public:
  std::string_view name() const noexcept override { return "driver"; }
  Status fill(const BufferRequest&, AttributeList&) const override { return {}; }
  Status refine(const Reconciled& draft, AttributeList& list) const override {
    ++asked;
    if (draft.image_tag().format == refused)
      return make_error(Errc::unsupported, "the format is not offered");
    const auto pitch = draft.planes()[0].stride_bytes;
    const auto found = answers.find(pitch);
    return list.set(Key::pitch_exact, {found == answers.end() ? pitch : found->second, 0}, 0,
                    "answer");
  }
  std::map<std::uint64_t, std::uint64_t> answers;
  std::optional<PixelFormat> refused;
  mutable int asked = 0;
};

std::vector<EngineParty> parties_with(std::shared_ptr<Driver> driver) {
  AttributeList app("app"), gpu("gpu");
  EXPECT_TRUE(app.set_image(1926, 8).has_value());
  EXPECT_TRUE(app.accept(LayoutTag::image(PixelFormat::grey)).has_value());
  EXPECT_TRUE(app.accept(LayoutTag::image(PixelFormat::nv12), 1).has_value());
  EXPECT_TRUE(gpu.set(Key::pitch_align, 64).has_value());
  return {{app, nullptr}, {gpu, nullptr}, {AttributeList("camera"), std::move(driver)}};
}

TEST(Engines, answers_of_drivers_are_taken_where_all_can) {
  auto driver = std::make_shared<Driver>();
  driver->answers = {{1984, 2048}};
  const auto result = reconcile_engines(parties_with(driver));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->planes()[0].stride_bytes, 2048U);
  EXPECT_EQ(driver->asked, 2);
}

TEST(Engines, answers_that_do_not_fit_are_conflicts) {
  auto driver = std::make_shared<Driver>();
  driver->answers = {{1984, 1928}};
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(parties_with(driver), {}, &conflict));
  ASSERT_FALSE(conflict.items.empty());
  EXPECT_EQ(conflict.items[0].key, "i.pitch_exact[0]");
  EXPECT_EQ(conflict.items[0].parties[0].source, "answer");
}

TEST(Engines, refused_formats_are_not_tried_again) {
  auto driver = std::make_shared<Driver>();
  driver->refused = PixelFormat::grey;
  const auto result = reconcile_engines(parties_with(driver));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->image_tag().format, PixelFormat::nv12);
}

TEST(Engines, rounds_end) {
  auto driver = std::make_shared<Driver>();
  driver->answers = {{1984, 2048}, {2048, 2112}, {2112, 2176}, {2176, 2240}, {2240, 2304}};
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(parties_with(driver), {}, &conflict));
  EXPECT_EQ(conflict.items[0].key, "g.engines");
  EXPECT_EQ(conflict.items[0].parties[0].party, "camera");
  EXPECT_EQ(driver->asked, 8) << "four times for each of two formats";
}

TEST(Engines, a_camera_that_is_not_there) {
  const json r = negotiate(R"([{"name": "app", "keys": {"i.format": "nv12", "i.w": 64, "i.h": 64}},
    {"name": "cam", "engine": "v4l2.capture", "settings": {"device": "/dev/no-such-video"}}])");
  EXPECT_EQ(conflict_at(r)["key"], "g.engines");
  EXPECT_NE(r.dump().find("/dev/no-such-video"), std::string::npos) << r.dump(1);
}

}  // namespace
}  // namespace halyard
