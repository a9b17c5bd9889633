// SPDX-License-Identifier: Apache-2.0
// Rounds of questions: what engines answer, for which layout it holds, and who is left out.
#include <algorithm>

#include "reconcile/agreed.h"
#include "reconcile/negotiate.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace halyard::test;  // NOLINT: its helpers are what tests are written in

const ReconcileOptions allow_drop{.allow_drop = true};

TEST(EngineRounds, engines_of_parties_that_were_left_out_are_not_asked) {
  const auto preview = asked(refuse);
  preview->pitch_align = 256;
  auto parties = with("preview", preview, 0);
  parties.push_back({list_of("camera", R"({"i.pitch_exact": 1984})"), nullptr});
  const auto result = value_of(reconcile_engines(parties, allow_drop));
  ASSERT_EQ(result.dropped().size(), 1U);
  EXPECT_EQ(result.dropped()[0].party, "preview");
  EXPECT_EQ(preview->count, 0);
  EXPECT_EQ(result.planes()[0].stride_bytes, 1984U);
}

TEST(EngineRounds, optional_parties_whose_engines_refuse_everything_are_left_out) {
  const auto viewer = asked(refuse_format(PixelFormat::grey));
  const auto preview = asked(refuse_format(PixelFormat::nv12));
  preview->pitch_align = 4096;
  const auto parties = with("preview", preview, 1, with("viewer", viewer, 2));
  const auto result = value_of(reconcile_engines(parties, allow_drop));
  EXPECT_EQ(result.image_tag().format, PixelFormat::nv12);
  EXPECT_EQ(result.planes()[0].stride_bytes, 1984U) << "who is left out asks for nothing";
  ASSERT_EQ(result.dropped().size(), 1U);
  const DroppedParty& dropped = result.dropped()[0];
  EXPECT_EQ(dropped.party, "preview") << "of the lowest priority";
  ASSERT_EQ(dropped.conflict.items.size(), 2U);
  EXPECT_EQ(dropped.conflict.items[1].key, "g.engines");
  EXPECT_EQ(dropped.conflict.items[1].tag, "nv12");
  ASSERT_EQ(dropped.conflict.items[1].parties.size(), 1U);
  EXPECT_EQ(dropped.conflict.items[1].parties[0].party, "preview");
  EXPECT_NE(dropped.conflict.items[1].parties[0].source.find("not offered"), std::string::npos);
  EXPECT_EQ(preview->count, 2);
  EXPECT_FALSE(reconcile_engines(parties)) << "nobody may be left out";
}

TEST(EngineRounds, needed_parties_are_not_left_out) {
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(with("camera", asked(refuse)), allow_drop, &conflict));
  ASSERT_EQ(conflict.items.size(), 1U);
  EXPECT_EQ(conflict.items[0].parties[0].party, "camera");
  EXPECT_TRUE(conflict.items[0].tag.empty()) << "whatever the layout";
}

TEST(EngineRounds, answers_that_do_not_fit_leave_the_next_layout) {
  const auto camera = asked([](const Reconciled& draft, AttributeList& list) {
    const bool is_grey = draft.image_tag().format == PixelFormat::grey;
    return is_grey ? answer(list, Key::pitch_exact, 1928) : Status();
  });
  const auto result = value_of(reconcile_engines(with("camera", camera)));
  EXPECT_EQ(result.image_tag().format, PixelFormat::nv12);
  EXPECT_EQ(result.planes()[0].stride_bytes, 1984U);
  EXPECT_FALSE(result.value(Key::pitch_exact)) << "that was said of the other layout";
}

TEST(EngineRounds, answers_do_not_outlive_a_layout_that_is_refused) {
  const auto app = parties_of(R"([{"name": "app", "keys": {"i.w": 1926, "i.h": 8}, "alternatives":
    [{"tag": "grey"}, {"tag": "nv12", "cost": 1, "keys": {"i.pitch_max": 2000}}]}])");
  int round = 0;
  const auto camera = asked([&](const Reconciled& draft, AttributeList& list) {
    if (draft.image_tag().format == PixelFormat::nv12) return Status();
    return ++round == 1 ? answer(list, Key::pitch_exact, 2048) : refuse(draft, list);
  });
  const auto result = value_of(reconcile_engines(with("camera", camera, {}, app)));
  EXPECT_EQ(result.image_tag().format, PixelFormat::nv12);
  EXPECT_FALSE(result.value(Key::pitch_exact));
  EXPECT_EQ(round, 2);
}

TEST(EngineRounds, answers_hold_for_orders_of_axes_too) {
  const auto app =
      parties_of(R"([{"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 3, 8, 10]},
    "alternatives": [{"tag": "NCHW"}, {"tag": "NHWC", "cost": 1}]}])");
  const auto network = asked([](const Reconciled& draft, AttributeList& list) {
    const bool is_planes = draft.tensor_tag().order == AxisOrder::nchw;
    return answer(list, Key::row_exact, is_planes ? 9 : 32);
  });
  const auto result = value_of(reconcile_engines(with("network", network, {}, app)));
  EXPECT_EQ(result.tensor_tag().order, AxisOrder::nhwc);
  EXPECT_EQ(result.value(Key::row_exact)->low, 32U);
  const auto said = result.explain(Key::row_exact);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].source, "answer");
}

TEST(EngineRounds, an_answer_that_accepts_other_layouts_is_a_refusal) {
  const auto camera = asked([](const Reconciled&, AttributeList& list) {
    return list.accept(LayoutTag::image(PixelFormat::nv12));
  });
  const auto result = value_of(reconcile_engines(with("camera", camera)));
  EXPECT_EQ(result.image_tag().format, PixelFormat::nv12);
}

TEST(EngineRounds, refusals_are_told_beside_what_else_fails) {
  const auto camera = asked([](const Reconciled& draft, AttributeList& list) {
    const bool is_grey = draft.image_tag().format == PixelFormat::grey;
    return is_grey ? refuse(draft, list) : answer(list, Key::pitch_exact, 1928);
  });
  auto parties = with("camera", camera);
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(parties, {}, &conflict));
  ASSERT_EQ(conflict.items.size(), 2U);
  EXPECT_EQ(conflict.items[0].key, "i.pitch_exact[0]");
  EXPECT_EQ(conflict.items[0].parties[0].source, "answer");
  EXPECT_EQ(conflict.items[1].key, "g.engines");
  EXPECT_EQ(conflict.items[1].tag, "grey");
  EXPECT_EQ(conflict.items[1].parties[0].party, "camera");
  Conflict other;
  std::ranges::reverse(parties);
  ASSERT_FALSE(reconcile_engines(parties, {}, &other));
  EXPECT_EQ(other.to_json(), conflict.to_json());
}

TEST(EngineRounds, engines_that_are_never_content_are_named_with_what_they_ask) {
  const auto restless = asked([](const Reconciled& draft, AttributeList& list) {
    return answer(list, Key::pitch_exact, draft.planes()[0].stride_bytes + 64);
  });
  const auto content =
      asked([](const Reconciled&, AttributeList& list) { return answer(list, Key::size_min, 64); });
  Conflict conflict;
  const auto parties = with("display", content, {}, with("camera", restless));
  ASSERT_FALSE(reconcile_engines(parties, {}, &conflict));
  EXPECT_EQ(restless->count, 8) << "four rounds for each of two layouts";
  ASSERT_EQ(conflict.items.size(), 1U);
  const ConflictItem& item = conflict.items[0];
  EXPECT_EQ(item.key, "g.engines");
  EXPECT_NE(item.rule.find("four rounds"), std::string::npos) << item.rule;
  ASSERT_EQ(item.parties.size(), 1U);
  EXPECT_EQ(item.parties[0].party, "camera");
  EXPECT_EQ(item.parties[0].engine, "asked");
  EXPECT_EQ(item.parties[0].key, "i.pitch_exact[0]");
  EXPECT_EQ(item.parties[0].value, "2240 B");
}

TEST(EngineRounds, engines_that_are_not_content_with_one_layout_may_be_with_the_next) {
  const auto camera = asked([](const Reconciled& draft, AttributeList& list) {
    if (draft.image_tag().format == PixelFormat::nv12) return Status();
    return answer(list, Key::pitch_exact, draft.planes()[0].stride_bytes + 64);
  });
  const auto result = reconcile_engines(with("camera", camera));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->image_tag().format, PixelFormat::nv12);
  EXPECT_EQ(camera->count, 5);
}

TEST(EngineRounds, engines_that_take_their_answer_back_are_named) {
  int round = 0;
  const auto camera = asked([&](const Reconciled&, AttributeList& list) {
    return ++round % 2 == 1 ? answer(list, Key::size_min, 64) : Status();
  });
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(with("camera", camera), {}, &conflict));
  ASSERT_EQ(conflict.items.size(), 1U);
  EXPECT_EQ(conflict.items[0].parties[0].party, "camera");
  EXPECT_EQ(conflict.items[0].parties[0].value, "takes back what it asked for");
}

TEST(EngineRounds, end_however_many_layouts_there_are) {
  std::vector<EngineParty> parties;
  for (std::uint64_t k = 0; k < 2; ++k) {
    AttributeList list("party " + std::to_string(k));
    ASSERT_TRUE(list.set_image(64, 64));
    for (std::uint64_t modifier = 0; modifier < 63; ++modifier)
      ASSERT_TRUE(list.accept(LayoutTag::image(PixelFormat::grey, 63 * k + modifier)));
    ASSERT_TRUE(list.accept(LayoutTag::any()));
    parties.push_back({std::move(list), nullptr});
  }
  std::uint64_t round = 0;
  const auto camera = asked(
      [&](const Reconciled&, AttributeList& list) { return answer(list, Key::size_min, ++round); });
  Conflict conflict;
  ASSERT_FALSE(reconcile_engines(with("camera", camera, {}, parties), {}, &conflict));
  EXPECT_EQ(camera->count, 256);
  ASSERT_FALSE(conflict.items.empty());
  EXPECT_EQ(conflict.items[0].parties[0].party, "camera");
}

/// Keeps what it was told of the buffer.
class Listener final : public BufferEngine {
 public:
  std::string_view name() const noexcept override { return "listener"; }
  Status fill(const BufferRequest& request, AttributeList&) const override {
    width = request.width;
    height = request.height;
    return {};
  }
  mutable std::size_t width = 0, height = 0;
};

TEST(EngineRounds, engines_are_told_what_is_required) {
  const auto listener = std::make_shared<Listener>();
  const EngineParty parties[] = {{list_of("app", R"({"i.format": "rgba", "i.h": 480})"), nullptr},
                                 {list_of("decoder", R"({"i.w_required": [640, 1280]})"), nullptr},
                                 {AttributeList("gpu"), listener}};
  const auto result = value_of(reconcile_engines(parties));
  EXPECT_EQ(result.width(), 1280U);
  EXPECT_EQ(listener->width, 1280U);
  EXPECT_EQ(listener->height, 480U);
}

/// Does not know what it needs.
class Silent final : public BufferEngine {
 public:
  std::string_view name() const noexcept override { return "silent"; }
  Status fill(const BufferRequest&, AttributeList&) const override {
    return make_error(Errc::device, "driver: is not there");
  }
};

TEST(EngineRounds, optional_parties_whose_engine_says_nothing_are_left_out) {
  auto display = list_of("display", R"({"i.pitch_align": 4096})");
  display.set_optional();
  const EngineParty parties[] = {
      {list_of("app", R"({"i.format": "rgba", "i.w": 64, "i.h": 48})"), nullptr},
      {display, std::make_shared<Silent>()}};
  const auto result = value_of(reconcile_engines(parties, allow_drop));
  EXPECT_EQ(result.planes()[0].stride_bytes, 256U) << "what it says itself does not count either";
  ASSERT_EQ(result.dropped().size(), 1U);
  EXPECT_EQ(result.dropped()[0].party, "display");
  ASSERT_EQ(result.dropped()[0].conflict.items.size(), 1U);
  const ConflictItem& item = result.dropped()[0].conflict.items[0];
  EXPECT_EQ(item.key, "g.engines");
  EXPECT_EQ(item.parties.at(0).engine, "silent");
  EXPECT_EQ(item.parties[0].source, "driver: is not there");

  EXPECT_FAILS(reconcile_engines(parties), Errc::device, "party \"display\", engine silent");
}

}  // namespace
}  // namespace halyard
