// SPDX-License-Identifier: Apache-2.0
// ByteTrack: birth, association, death, and identities on motion whose truth is known.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "halyard/track.h"

namespace halyard {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr Box usual{0.2F, 0.2F, 0.4F, 0.4F};
constexpr nanoseconds frame = 33'333'333ns;

Detection found(const Box& box, float score = 0.9F, std::int32_t label = 0) {
  return {box, score, label, -1};
}

std::vector<Track> update(ByteTrack& tracker, const std::vector<Detection>& detections,
                          nanoseconds when) {
  auto tracks = tracker.update(detections, when);
  EXPECT_TRUE(tracks) << tracks.error().message();
  EXPECT_EQ(tracks->size(), tracker.tracks().size());
  return *tracks;
}

TEST(ByteTrack, starts_without_tracks) {
  EXPECT_TRUE(ByteTrack::create()->tracks().empty());
}

TEST(ByteTrack, a_high_score_starts_a_track_and_a_low_one_does_not) {
  auto tracker = *ByteTrack::create();
  EXPECT_TRUE(update(tracker, {found(usual, 0.5F)}, 0ns).empty());
  const auto tracks = update(tracker, {found(usual, 0.9F, 3)}, frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].id, 1U);
  EXPECT_EQ(tracks[0].box, usual);
  EXPECT_EQ(tracks[0].score, 0.9F);
  EXPECT_EQ(tracks[0].label, 3);
  EXPECT_EQ(tracks[0].detection, 0);
  EXPECT_EQ(tracks[0].updates, 1U);
  EXPECT_EQ(tracks[0].created, frame);
  EXPECT_EQ(tracks[0].last_seen, frame);
}

TEST(ByteTrack, a_still_object_keeps_its_identity_and_counts_its_updates) {
  auto tracker = *ByteTrack::create();
  for (std::uint32_t i = 1; i <= 5; ++i) {
    const auto tracks = update(tracker, {found(usual)}, i * 1000ns);
    ASSERT_EQ(tracks.size(), 1U);
    EXPECT_EQ(tracks[0].id, 1U);
    EXPECT_EQ(tracks[0].updates, i);  // after this frame, not before it
    EXPECT_EQ(tracks[0].created, 1000ns);
    EXPECT_EQ(tracks[0].last_seen, i * 1000ns);
    EXPECT_NEAR(tracks[0].box.x1, usual.x1, 1e-6F);
  }
}

TEST(ByteTrack, the_second_pass_takes_low_scores) {
  auto tracker = *ByteTrack::create();
  update(tracker, {found(usual)}, 0ns);
  const auto tracks = update(tracker, {found(usual, 0.3F)}, frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].updates, 2U);
  EXPECT_EQ(tracks[0].score, 0.3F);
}

TEST(ByteTrack, the_first_pass_goes_first) {
  auto tracker = *ByteTrack::create();
  update(tracker, {found(usual)}, 0ns);
  // The low score lies better, but the high one is asked first.
  const Box beside{0.22F, 0.2F, 0.42F, 0.4F};
  const auto tracks = update(tracker, {found(usual, 0.4F), found(beside, 0.8F)}, frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].detection, 1);
}

TEST(ByteTrack, mixed_scores_spawn_by_the_high_ones_only) {
  auto tracker = *ByteTrack::create();
  const auto tracks =
      update(tracker,
             {found({0, 0, 0.1F, 0.1F}, 0.9F), found({0.2F, 0, 0.3F, 0.1F}, 0.3F),
              found({0.4F, 0, 0.5F, 0.1F}, 0.85F), found({0.6F, 0, 0.7F, 0.1F}, 0.1F)},
             0ns);
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks[0].detection, 0);
  EXPECT_EQ(tracks[1].detection, 2);
}

TEST(ByteTrack, a_hundred_apart_all_spawn_and_all_stay) {
  auto tracker = *ByteTrack::create();
  std::vector<Detection> grid;
  for (int i = 0; i < 100; ++i) {
    const float x = static_cast<float>(i % 10) * 0.1F;
    const float y = static_cast<float>(i / 10) * 0.1F;
    grid.push_back(found({x, y, x + 0.05F, y + 0.05F}));
  }
  update(tracker, grid, 0ns);
  const auto tracks = update(tracker, grid, frame);
  ASSERT_EQ(tracks.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(tracks[i].id, i + 1);
    EXPECT_EQ(tracks[i].detection, static_cast<std::int32_t>(i));
  }
}

TEST(ByteTrack, empty_updates_are_legal) {
  auto tracker = *ByteTrack::create();
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(update(tracker, {}, i * frame).empty());
}

TEST(ByteTrack, a_track_lives_exactly_as_long_as_it_may_coast) {
  auto tracker = *ByteTrack::create({.max_coast = 1000ns});
  update(tracker, {found(usual)}, 1000ns);
  const auto coasting = update(tracker, {}, 2000ns);
  ASSERT_EQ(coasting.size(), 1U);
  EXPECT_EQ(coasting[0].detection, -1);
  EXPECT_EQ(coasting[0].last_seen, 1000ns);
  EXPECT_TRUE(update(tracker, {}, 2001ns).empty());
}

TEST(ByteTrack, a_frame_that_comes_late_may_still_find_its_objects) {
  auto tracker = *ByteTrack::create();
  update(tracker, {found(usual)}, 0s);
  EXPECT_EQ(update(tracker, {found(usual)}, 2s)[0].updates, 2U);
  EXPECT_TRUE(update(tracker, {}, 3s).empty());
}

TEST(ByteTrack, identities_are_never_given_twice) {
  auto tracker = *ByteTrack::create({.max_coast = 0ns});
  update(tracker, {found(usual)}, 0ns);
  update(tracker, {}, frame);
  EXPECT_EQ(update(tracker, {found(usual)}, 2 * frame)[0].id, 2U);
}

TEST(ByteTrack, options_change_what_pairs_and_what_spawns) {
  auto strict = *ByteTrack::create({.high_score = 0.9F});
  EXPECT_TRUE(update(strict, {found(usual, 0.8F)}, 0ns).empty());
  EXPECT_EQ(update(strict, {found(usual, 0.95F)}, frame).size(), 1U);

  auto close = *ByteTrack::create({.min_iou = 0.8F});
  update(close, {found(usual)}, 0ns);
  const Box shifted{0.25F, 0.25F, 0.45F, 0.45F};
  EXPECT_EQ(update(close, {found(shifted)}, frame).size(), 2U);  // IoU 0.39: another object
}

TEST(ByteTrack, a_jump_is_another_object) {
  auto tracker = *ByteTrack::create();
  update(tracker, {found({0.1F, 0.1F, 0.2F, 0.2F})}, 0ns);
  const auto tracks = update(tracker, {found({0.8F, 0.8F, 0.9F, 0.9F})}, frame);
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks[0].detection, -1);
  EXPECT_EQ(tracks[1].detection, 0);
}

TEST(ByteTrack, tiny_and_huge_boxes_match_like_any_other) {
  for (const float scale : {1e-4F, 1.0F, 1e6F}) {
    auto tracker = *ByteTrack::create();
    const Box box{0.5F * scale, 0.5F * scale, 0.7F * scale, 0.9F * scale};
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(update(tracker, {found(box)}, i * frame).size(), 1U) << scale;
    }
    EXPECT_EQ(tracker.tracks()[0].updates, 5U);
  }
}

TEST(ByteTrack, ignores_what_is_no_detection) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto tracker = *ByteTrack::create();
  update(tracker, {found(usual)}, 0ns);
  const std::vector<Detection> bad{found({nan, 0.2F, 0.4F, 0.4F}),
                                   found({0.2F, 0.2F, infinity, 0.4F}),
                                   found({0.3F, 0.2F, 0.3F, 0.4F}),
                                   found({0.4F, 0.4F, 0.2F, 0.2F}),
                                   found(usual, nan),
                                   found(usual, -0.5F),
                                   found(usual, 0.8F)};
  const auto tracks = update(tracker, bad, frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].detection, 6);
}

TEST(ByteTrack, refuses_time_that_runs_backwards_and_survives_it) {
  auto tracker = *ByteTrack::create();
  update(tracker, {found(usual)}, 1000ns);
  const auto back = tracker.update({}, 999ns);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, Errc::invalid_argument);
  EXPECT_NE(back.error().message().find("999 ns after 1000 ns"), std::string::npos);
  EXPECT_EQ(tracker.tracks().size(), 1U);
  EXPECT_EQ(update(tracker, {found(usual)}, 1000ns)[0].updates, 2U);  // no time at all may pass
}

TEST(ByteTrack, survives_the_ends_of_time) {
  auto tracker = *ByteTrack::create({.max_coast = nanoseconds::max()});
  update(tracker, {found(usual)}, nanoseconds::min());
  EXPECT_TRUE(update(tracker, {}, nanoseconds::max()).empty());  // unseen for longer than any coast
  update(tracker, {found(usual)}, nanoseconds::max());
  EXPECT_EQ(tracker.tracks().size(), 1U);
}

TEST(ByteTrack, refuses_options_outside_their_range) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto refused = [](const ByteTrack::Options& options, const char* name) {
    const auto tracker = ByteTrack::create(options);
    ASSERT_FALSE(tracker) << name;
    EXPECT_EQ(tracker.error().code, Errc::invalid_argument);
    EXPECT_EQ(tracker.error().message().find(name), 0U) << tracker.error().message();
  };
  for (const float bad : {-0.1F, 1.1F, nan}) {
    refused({.high_score = bad}, "high_score");
    refused({.min_iou = bad}, "min_iou");
    refused({.update_gain = bad}, "update_gain");
  }
  refused({.update_gain = 0}, "update_gain");
  refused({.max_coast = -1ns}, "max_coast");
  refused({.frame_interval = 0ns}, "frame_interval");
}

TEST(ByteTrack, with_an_iou_floor_of_zero_boxes_must_still_overlap) {
  auto tracker = *ByteTrack::create({.min_iou = 0});
  update(tracker, {found({0, 0, 1, 1})}, 0ns);
  EXPECT_EQ(update(tracker, {found({5, 5, 6, 6})}, frame).size(), 2U);
}

TEST(ByteTrack, smooths_jitter) {
  auto tracker = *ByteTrack::create({.high_score = 0.3F, .update_gain = 0.1F});
  std::mt19937 random(5);
  std::uniform_real_distribution<float> noise(-0.01F, 0.01F);
  float largest = 0;
  for (int i = 0; i < 100; ++i) {
    const float dx = noise(random);
    const float dy = noise(random);
    const auto tracks =
        update(tracker, {found({0.2F + dx, 0.2F + dy, 0.4F + dx, 0.4F + dy})}, i * frame);
    ASSERT_EQ(tracks.size(), 1U);
    if (i >= 20) largest = std::max(largest, std::abs(tracks[0].box.x1 - 0.2F));
  }
  // The noise reaches 0.01. The reference's bound of 0.005 is for its own noise sequence.
  EXPECT_LT(largest, 0.006F);
}

TEST(ByteTrack, follows_straight_motion_and_coasts_along_it) {
  auto tracker = *ByteTrack::create();
  const auto at = [](int i) {
    const float x = 0.001F * static_cast<float>(i);
    return Box{0.2F + x, 0.2F, 0.4F + x, 0.4F};
  };
  for (int i = 0; i < 100; ++i) {
    const auto tracks = update(tracker, {found(at(i))}, i * frame);
    ASSERT_EQ(tracks.size(), 1U);
    EXPECT_NEAR(tracks[0].box.x1, at(i).x1, 0.005F);
    if (i > 60) {
      EXPECT_NEAR(tracks[0].box.x1, at(i).x1, 1e-4F);
    }
  }
  EXPECT_NEAR(update(tracker, {}, 100 * frame)[0].box.x1, at(100).x1, 1e-4F);
  // Motion follows the clock: ten frames at once move as far as ten frames.
  EXPECT_NEAR(update(tracker, {}, 110 * frame)[0].box.x1, at(110).x1, 1e-3F);
}

TEST(ByteTrack, gives_the_same_twice) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> unit(0, 1);
  auto a = *ByteTrack::create();
  auto b = *ByteTrack::create();
  for (int i = 0; i < 50; ++i) {
    std::vector<Detection> detections;
    for (int k = 0; k < 40; ++k) {
      const float x = unit(random);
      const float y = unit(random);
      detections.push_back(found({x, y, x + 0.2F, y + 0.2F}, unit(random)));
    }
    const auto first = update(a, detections, i * frame);
    const auto second = update(b, detections, i * frame);
    ASSERT_EQ(first.size(), second.size());
    std::set<std::int32_t> taken;
    for (std::size_t k = 0; k < first.size(); ++k) {
      EXPECT_EQ(first[k].id, second[k].id);
      EXPECT_EQ(first[k].box, second[k].box);
      EXPECT_TRUE(k == 0 || first[k].id > first[k - 1].id);  // by id
      EXPECT_TRUE(first[k].detection < 0 || taken.insert(first[k].detection).second);
    }
  }
}

// Twenty objects on straight lines through one another for 200 frames. Each is seen for at least
// the first 20 frames, then drops out for up to `longest_gap` frames at a time.
struct Crossing {
  static constexpr int objects = 20;
  static constexpr int frames = 200;

  static Box at(int object, int i) {
    const double angle = 2 * 3.14159265358979 * object / objects;
    const double radius = 4.0 * (frames / 2 - i);  // pixels; all meet at the centre, nearly
    const double x = 1000 + radius * std::cos(angle) + 37 * (object % 5);
    const double y = 1000 + radius * std::sin(angle) + 61 * (object / 5);
    const double w = 40 + object;
    const double h = 70 + 2 * object;
    return {static_cast<float>(x - w / 2), static_cast<float>(y - h / 2),
            static_cast<float>(x + w / 2), static_cast<float>(y + h / 2)};
  }
};

int identities_lost(int longest_gap, unsigned seed) {
  auto tracker = *ByteTrack::create();
  std::mt19937 random(seed);
  std::vector<int> hidden(Crossing::objects, 0);
  std::map<int, std::set<std::uint64_t>> ids;
  for (int i = 0; i < Crossing::frames; ++i) {
    std::vector<Detection> detections;
    std::vector<int> who;
    for (int o = 0; o < Crossing::objects; ++o) {
      if (hidden[o] > 0) {
        if (--hidden[o] > 0) continue;  // seen at least once between two dropouts
      } else if (i >= 20 && longest_gap > 0 && random() % 40 == 0) {
        hidden[o] = 1 + static_cast<int>(random() % static_cast<unsigned>(longest_gap));
        continue;
      }
      detections.push_back(found(Crossing::at(o, i)));
      who.push_back(o);
    }
    for (const Track& track : update(tracker, detections, i * frame)) {
      if (track.detection >= 0)
        ids[who[static_cast<std::size_t>(track.detection)]].insert(track.id);
    }
  }
  int lost = 0;
  for (const auto& [object, own] : ids)
    lost += own.size() != 1;
  return lost;
}

TEST(ByteTrack, keeps_every_identity_of_crossing_objects) {
  EXPECT_EQ(identities_lost(0, 1), 0);
}

TEST(ByteTrack, keeps_every_identity_through_dropouts_as_long_as_a_track_may_coast) {
  // 500 ms at 30 frames a second: unseen for 15 frames is the most.
  for (unsigned seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(identities_lost(15, seed), 0) << seed;
}

}  // namespace
}  // namespace halyard
