// SPDX-License-Identifier: Apache-2.0
// What holds for every tracker.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "support/result.h"
#include "track/kinds.h"
#include "track/scenes.h"
#include "track/updates.h"

namespace halyard::test {
namespace {

TEST_P(EveryTracker, follows_a_still_object_under_one_id) {
  Tracker tracker = make_tracker(GetParam());
  EXPECT_TRUE(tracker.tracks().empty());
  for (std::uint32_t i = 1; i <= 10; ++i) {
    const auto tracks = update(tracker, {found(usual, 0.9F, 3)}, i * frame);
    ASSERT_EQ(tracks.size(), 1U);
    EXPECT_EQ(tracks[0].id, 1U);
    EXPECT_EQ(tracks[0].updates, i);
    EXPECT_EQ(tracks[0].detection, 0);
    EXPECT_EQ(tracks[0].label, 3);
    EXPECT_EQ(tracks[0].state, TrackState::tracked);
    EXPECT_EQ(tracks[0].created, frame);
    EXPECT_EQ(tracks[0].last_seen, i * frame);
    EXPECT_NEAR(tracks[0].box.x1, usual.x1, 1e-5F);
    EXPECT_NEAR(tracks[0].box.y2, usual.y2, 1e-5F);
  }
}

TEST_P(EveryTracker, coasts_and_then_removes_a_track_that_is_not_seen) {
  Tracker tracker = make_tracker(GetParam(), [](auto& options) { options.max_coast = 1000ns; });
  update(tracker, {found(usual)}, 1000ns);
  EXPECT_EQ(tracker.tracks()[0].last_box, usual);
  const auto coasting = update(tracker, {}, 2000ns);
  ASSERT_EQ(coasting.size(), 1U);
  EXPECT_EQ(coasting[0].state, TrackState::lost);
  EXPECT_EQ(coasting[0].detection, -1);
  EXPECT_EQ(coasting[0].last_box, usual);
  EXPECT_TRUE(tracker.removed().empty());
  EXPECT_TRUE(update(tracker, {}, 2001ns).empty());
  ASSERT_EQ(tracker.removed().size(), 1U);
  EXPECT_EQ(tracker.removed()[0].id, 1U);
  EXPECT_EQ(tracker.removed()[0].state, TrackState::removed);
  update(tracker, {}, 2002ns);
  EXPECT_TRUE(tracker.removed().empty());
}

TEST_P(EveryTracker, predicts_by_the_clock_and_not_by_the_frame) {
  for (const int step : {1, 3}) {
    Tracker tracker = make_tracker(GetParam(), [](auto& options) { options.max_coast = 10s; });
    const auto at = [](int i) {
      const float x = 2.0F * static_cast<float>(i);
      return Box{100 + x, 100, 160 + x, 220};
    };
    for (int i = 0; i <= 240; i += step)
      update(tracker, {found(at(i))}, i * frame);
    const auto tracks = update(tracker, {}, 255 * frame);
    ASSERT_EQ(tracks.size(), 1U);
    EXPECT_NEAR(tracks[0].box.x1, at(255).x1, 1.0F) << step;
  }
}

TEST_P(EveryTracker, keeps_classes_apart_only_when_told) {
  for (const bool is_aware : {false, true}) {
    Tracker tracker =
        make_tracker(GetParam(), [&](auto& options) { options.is_class_aware = is_aware; });
    update(tracker, {found(usual, 0.9F, 1)}, 0ns);
    const auto tracks = update(tracker, {found(usual, 0.9F, 2)}, frame);
    ASSERT_EQ(tracks.size(), is_aware ? 2U : 1U);
    EXPECT_EQ(tracks[0].label, is_aware ? 1 : 2);
    EXPECT_EQ(tracks[0].detection, is_aware ? -1 : 0);
  }
}

TEST_P(EveryTracker, two_classes_in_one_place_stay_themselves_when_told) {
  Tracker tracker = make_tracker(GetParam(), [](auto& options) { options.is_class_aware = true; });
  for (int i = 0; i < 6; ++i) {
    // The order of the detections changes from frame to frame, and so do the scores.
    std::vector<Detection> both{found(usual, 0.9F, 1), found(usual, 0.8F, 2)};
    if (i % 2 != 0) std::swap(both[0], both[1]);
    const auto tracks = update(tracker, both, i * frame);
    EXPECT_EQ(each(tracks, &Track::label), (std::vector{1, 2}));
  }
}

TEST_P(EveryTracker, ignores_what_is_no_detection) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Tracker tracker = make_tracker(GetParam());
  update(tracker, {found(usual)}, 0ns);
  const std::vector<Detection> bad{found({nan, 0.2F, 0.4F, 0.4F}),
                                   found({0.2F, nan, 0.4F, 0.4F}),
                                   found({0.2F, 0.2F, infinity, 0.4F}),
                                   found({-infinity, 0.2F, 0.4F, 0.4F}),
                                   found({0.3F, 0.2F, 0.3F, 0.4F}),
                                   found({0.4F, 0.4F, 0.2F, 0.2F}),
                                   found({0, 0, 2e9F, 1}),
                                   found({0, 0, 1e-10F, 1e-10F}),
                                   found(usual, nan),
                                   found(usual, infinity),
                                   found(usual, -0.5F),
                                   found(usual, 0.8F)};
  const auto tracks = update(tracker, bad, frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].detection, 11);

  // The smallest side that is one.
  Tracker small = make_tracker(GetParam());
  EXPECT_EQ(update(small, {found({0, 0, 1e-9F, 1e-9F})}, 0ns).size(), 1U);
}

TEST_P(EveryTracker, refuses_time_that_runs_backwards_and_survives_it) {
  Tracker tracker = make_tracker(GetParam());
  update(tracker, {found(usual)}, 1000ns);
  const auto back = tracker.update({}, 999ns);
  EXPECT_FAILS(back, Errc::invalid_argument, "999 ns after 1000 ns");
  EXPECT_EQ(update(tracker, {found(usual)}, 1000ns)[0].updates, 2U);  // no time at all may pass
}

TEST_P(EveryTracker, survives_the_ends_of_time) {
  Tracker tracker =
      make_tracker(GetParam(), [](auto& options) { options.max_coast = nanoseconds::max(); });
  update(tracker, {found(usual)}, nanoseconds::min());
  EXPECT_EQ(update(tracker, {found(usual)}, nanoseconds::min() + 1ns).size(), 1U);
  EXPECT_TRUE(update(tracker, {}, nanoseconds::max()).empty());  // longer than any coast
  EXPECT_EQ(update(tracker, {found(usual)}, nanoseconds::max()).size(), 1U);
}

TEST_P(EveryTracker, survives_objects_from_tiny_to_huge_and_gaps_of_any_length) {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> unit(0, 1);
  Tracker tracker = make_tracker(GetParam(), [](auto& options) {
    options.max_coast = nanoseconds::max();
    options.frame_interval = 1ns;
  });
  nanoseconds when{0};
  std::vector<Track> tracks;
  for (int i = 0; i < 300; ++i) {
    std::vector<Detection> detections;
    for (int k = 0; k < 20; ++k) {
      const float scale = std::pow(10.0F, 17.9F * unit(random) - 8.9F);
      const float x = (unit(random) - 0.5F) * std::min(1.8e9F, 10 * scale);
      const float w = scale * std::pow(10.0F, -unit(random));
      detections.push_back(found({x, -scale / 2, x + w, scale / 2}, unit(random)));
    }
    when += nanoseconds(static_cast<std::int64_t>(std::pow(10.0, 16.0 * unit(random))));
    ASSERT_TRUE(tracker.update(detections, when, tracks));
    for (const Track& track : tracks) {
      EXPECT_FALSE(std::isnan(track.box.x1) || std::isnan(track.box.y1) ||
                   std::isnan(track.box.x2) || std::isnan(track.box.y2));
      EXPECT_LE(track.box.x1, track.box.x2);
      EXPECT_LE(track.box.y1, track.box.y2);
    }
  }
}

TEST_P(EveryTracker, gives_the_same_twice_by_id_and_each_detection_once) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> unit(0, 1);
  Tracker a = make_tracker(GetParam());
  Tracker b = make_tracker(GetParam());
  std::uint64_t newest = 0;
  std::vector<Track> second;
  for (int i = 0; i < 50; ++i) {
    std::vector<Detection> detections;
    for (int k = 0; k < 40; ++k) {
      const float x = unit(random);
      const float y = unit(random);
      detections.push_back(found({x, y, x + 0.2F, y + 0.2F}, unit(random)));
    }
    const auto first = update(a, detections, i * frame);
    ASSERT_TRUE(b.update(detections, i * frame, second));
    ASSERT_EQ(first.size(), second.size());
    std::set<std::int32_t> taken;
    for (std::size_t k = 0; k < first.size(); ++k) {
      EXPECT_EQ(first[k].id, second[k].id);
      EXPECT_EQ(first[k].box, second[k].box);
      EXPECT_EQ(first[k].state, second[k].state);
      EXPECT_TRUE(k == 0 || first[k].id > first[k - 1].id);
      EXPECT_TRUE(first[k].detection < 0 || taken.insert(first[k].detection).second);
      EXPECT_EQ(first[k].detection < 0, first[k].state == TrackState::lost);
      EXPECT_TRUE(first[k].updates > 1 || first[k].id > newest || first[k].detection < 0);
      newest = std::max(newest, first[k].id);
    }
  }
  EXPECT_GT(newest, 40U);
}

TEST_P(EveryTracker, keeps_to_the_most_tracks_it_may_have_and_takes_the_best_scores) {
  Tracker tracker = make_tracker(GetParam(), [](auto& options) { options.max_tracks = 3; });
  std::vector<Detection> many;
  for (int i = 0; i < 10; ++i) {
    const float x = 100.0F * static_cast<float>(i);
    many.push_back(found({x, 0, x + 50, 50}, 0.8F + 0.01F * static_cast<float>((i * 7) % 10)));
  }
  for (int i = 0; i < 3; ++i) {
    const auto tracks = update(tracker, many, i * frame);
    EXPECT_EQ(tracker.left_out(), 7U);
    // Scores 0.87, 0.88 and 0.89.
    EXPECT_EQ(each(tracks, &Track::detection), (std::vector{1, 4, 7}));
  }
}

TEST_P(EveryTracker, takes_the_first_of_equal_scores_beyond_the_most_tracks) {
  Tracker tracker = make_tracker(GetParam(), [](auto& options) { options.max_tracks = 3; });
  std::vector<Detection> many;
  for (int i = 0; i < 10; ++i) {
    const float x = 100.0F * static_cast<float>(i);
    many.push_back(found({x, 0, x + 50, 50}, i == 6 ? 0.95F : 0.9F));
  }
  EXPECT_EQ(each(update(tracker, many, 0ns), &Track::detection), (std::vector{0, 1, 6}));
}

TEST_P(EveryTracker, counts_what_it_leaves_out_when_as_many_live_as_may) {
  Tracker tracker = make_tracker(GetParam(), [](auto& options) {
    options.max_tracks = 2;
    options.max_coast = 1h;
  });
  EXPECT_EQ(tracker.left_out(), 0U);
  update(tracker, {found({0, 0, 50, 50}), found({200, 0, 250, 50})}, 0ns);
  EXPECT_EQ(tracker.left_out(), 0U);
  update(tracker, {found({0, 0, 50, 50}), found({200, 0, 250, 50})}, 1 * frame);
  // Both live on, and there is room for no other.
  update(tracker, {found({400, 0, 450, 50}), found({600, 0, 650, 50})}, 2 * frame);
  EXPECT_EQ(tracker.left_out(), 2U);
  update(tracker, {}, 3 * frame);
  EXPECT_EQ(tracker.left_out(), 0U);
}

TEST_P(EveryTracker, takes_a_million_detections) {
  Tracker tracker = make_tracker(GetParam());
  std::vector<Detection> all(1'000'000, found(usual));
  for (std::size_t i = 0; i < all.size(); i += 2) {
    const float x = static_cast<float>(i % 1000);
    all[i].box = {x, 0, x + 0.5F, 1};
    all[i].score = 0.75F;
  }
  all[77] = found({5, 5, 6, 6}, 0.95F);
  const auto tracks = update(tracker, all, 0ns);
  EXPECT_EQ(tracks.size(), 1000U);
  EXPECT_TRUE(std::any_of(tracks.begin(), tracks.end(),
                          [](const Track& track) { return track.detection == 77; }));
}

TEST_P(EveryTracker, survives_a_frame_in_which_everything_overlaps) {
  Tracker tracker = make_tracker(GetParam(), [](auto& options) { options.max_tracks = 150; });
  const std::vector<Detection> heap(400, found(usual));
  for (int i = 0; i < 4; ++i)
    EXPECT_LE(update(tracker, heap, i * frame).size(), 150U);
}

template <class Create, class Options>
void expect_refused(Create create, const Options& options, const char* name) {
  const auto tracker = create(options);
  EXPECT_FAILS(tracker, Errc::invalid_argument) << name;
  EXPECT_EQ(tracker.error().message().find(name), 0U) << tracker.error().message();
}

constexpr auto hal = [](const ByteTrackOptions& o) { return ByteTrack::create(o); };
constexpr auto paper = [](const ByteTrackPaperOptions& o) { return ByteTrack::paper(o); };
constexpr auto oc_sort = [](const OcSortOptions& o) { return OcSort::create(o); };
constexpr auto sort = [](const SortOptions& o) { return Sort::create(o); };

TEST_P(EveryTracker, refuses_shared_options_outside_their_range) {
  const auto refused = [&](auto change, const char* name) {
    const auto with = [&](auto options) {
      change(options);
      return options;
    };
    if (GetParam() == Kind::hal) expect_refused(hal, with(ByteTrackOptions{}), name);
    if (GetParam() == Kind::paper) expect_refused(paper, with(ByteTrackPaperOptions{}), name);
    if (GetParam() == Kind::oc_sort) expect_refused(oc_sort, with(OcSortOptions{}), name);
    if (GetParam() == Kind::sort) expect_refused(sort, with(SortOptions{}), name);
  };
  refused([](auto& o) { o.max_coast = -1ns; }, "max_coast");
  refused([](auto& o) { o.frame_interval = 0ns; }, "frame_interval");
  refused([](auto& o) { o.max_tracks = 0; }, "max_tracks");
  refused([](auto& o) { o.max_tracks = 65537; }, "max_tracks");
}

INSTANTIATE_TEST_SUITE_P(All, EveryTracker, ::testing::ValuesIn(all_kinds), kind_name);

TEST(Tracker, refuses_own_options_outside_their_range) {
  for (const float bad : {-0.1F, 1.1F, std::numeric_limits<float>::quiet_NaN()}) {
    expect_refused(hal, ByteTrackOptions{.high_score = bad}, "high_score");
    expect_refused(hal, ByteTrackOptions{.min_iou = bad}, "min_iou");
    expect_refused(hal, ByteTrackOptions{.update_gain = bad}, "update_gain");
    expect_refused(paper, ByteTrackPaperOptions{.high_score = bad}, "high_score");
    expect_refused(paper, ByteTrackPaperOptions{.low_score = bad}, "low_score");
    expect_refused(paper, ByteTrackPaperOptions{.start_score = bad}, "start_score");
    expect_refused(paper, ByteTrackPaperOptions{.first_limit = bad}, "first_limit");
    expect_refused(paper, ByteTrackPaperOptions{.second_limit = bad}, "second_limit");
    expect_refused(paper, ByteTrackPaperOptions{.tentative_limit = bad}, "tentative_limit");
    expect_refused(oc_sort, OcSortOptions{.high_score = bad}, "high_score");
    expect_refused(oc_sort, OcSortOptions{.min_iou = bad}, "min_iou");
    expect_refused(oc_sort, OcSortOptions{.inertia = bad}, "inertia");
    expect_refused(sort, SortOptions{.min_score = bad}, "min_score");
    expect_refused(sort, SortOptions{.min_iou = bad}, "min_iou");
  }
  expect_refused(hal, ByteTrackOptions{.update_gain = 0}, "update_gain");
  for (const float bad :
       {-1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    expect_refused(hal, ByteTrackOptions{.max_distance = bad}, "max_distance");
  expect_refused(paper, ByteTrackPaperOptions{.first_limit = 0}, "first_limit");
  expect_refused(oc_sort, OcSortOptions{.direction_frames = 0}, "direction_frames");
  expect_refused(oc_sort, OcSortOptions{.direction_frames = 8}, "direction_frames");
  expect_refused(oc_sort, OcSortOptions{.min_hits = 1'000'001}, "min_hits");
  expect_refused(sort, SortOptions{.min_hits = 1'000'001}, "min_hits");
}

TEST(Tracker, continues_a_track_of_exactly_the_least_iou) {
  const Box whole{0, 0, 2, 1};
  const Box half{0, 0, 1, 1};
  for (const float minimum : {0.5F, std::nextafter(0.5F, 1.0F)}) {
    Tracker trackers[] = {*ByteTrack::create({.min_iou = minimum}),
                          *OcSort::create({.min_iou = minimum}),
                          *Sort::create({.min_iou = minimum})};
    for (Tracker& tracker : trackers) {
      update(tracker, {found(whole)}, 0ns);
      EXPECT_EQ(update(tracker, {found(half)}, frame).size(), minimum > 0.5F ? 2U : 1U)
          << &tracker - trackers;
    }
  }
}

TEST(Tracker, lists_the_seen_first) {
  ByteTrack tracker = *ByteTrack::create();
  const auto at = [](float x) { return found({x, 0, x + 10, 10}); };
  update(tracker, {at(0), at(100), at(200), at(300)}, 0ns);
  auto tracks = update(tracker, {at(300), at(100)}, frame);
  EXPECT_EQ(seen_first(tracks), 2U);
  std::vector<std::uint64_t> ids;
  for (const Track& track : tracks)
    ids.push_back(track.id);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{2, 4, 1, 3}));
  EXPECT_EQ(tracks[0].detection, 1);
  EXPECT_EQ(tracks[1].detection, 0);
  EXPECT_EQ(seen_first({}), 0U);
}

}  // namespace
}  // namespace halyard::test
