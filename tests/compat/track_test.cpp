// SPDX-License-Identifier: Apache-2.0
// ByteTrack as a shared handle.
#include <gtest/gtest.h>

#include <limits>

#include "halyard/compat/track.h"
#include "support/result.h"

namespace halyard {
namespace {

using compat::ActiveTrack;
using compat::ByteTrack;
using compat::ByteTrackOptions;
using compat::TrackInfo;

using Infos = std::vector<std::optional<TrackInfo>>;

TEST(compat_track, each_detection_has_an_entry_and_low_ones_start_nothing) {
  auto tracker = ByteTrack::create();
  ASSERT_TRUE(tracker);
  const std::vector<Detection> detections{{{.1F, .8F, .2F, .9F}, .3F, 2},
                                          {{.2F, .2F, .4F, .4F}, .9F, 0},
                                          {{.6F, .6F, .8F, .8F}, .8F, 1}};
  Infos first, second;
  ASSERT_TRUE(tracker->update(detections, 1000, first));
  ASSERT_EQ(first.size(), 3U);
  EXPECT_FALSE(first[0]);
  ASSERT_TRUE(first[1] && first[2]);
  EXPECT_NE(first[1]->uuid, first[2]->uuid);
  EXPECT_EQ(first[1]->count, 1);
  EXPECT_EQ(first[1]->created, 1000U);
  const std::vector<Detection> swapped{detections[2], detections[1]};
  ByteTrack copy = *tracker;  // the same tracker
  ASSERT_TRUE(copy.update(swapped, 33'001'000, second));
  EXPECT_EQ(second[0]->uuid, first[2]->uuid);
  EXPECT_EQ(second[1]->uuid, first[1]->uuid);
  EXPECT_EQ(second[0]->count, 2);
  EXPECT_EQ(second[0]->last_updated, 33'001'000U);
  std::vector<ActiveTrack> active;
  tracker->active(active);
  ASSERT_EQ(active.size(), 2U);
  EXPECT_EQ(active[0].info, *second[1]);
  EXPECT_EQ(active[0].last_box, detections[1].box);
  EXPECT_EQ(active[1].label, 1);
}

TEST(compat_track, a_track_coasts_for_its_lifespan) {
  auto tracker = ByteTrack::create({.lifespan_ns = 100});
  ASSERT_TRUE(tracker);
  const Detection box{{.2F, .2F, .4F, .4F}, .9F, 7};
  Infos infos;
  std::vector<ActiveTrack> active;
  ASSERT_TRUE(tracker->update({&box, 1}, 1000, infos));
  ASSERT_TRUE(tracker->update({}, 1100, infos));
  EXPECT_TRUE(infos.empty());
  tracker->active(active);
  ASSERT_EQ(active.size(), 1U);
  EXPECT_EQ(active[0].info.last_updated, 1000U);
  EXPECT_EQ(active[0].last_box, box.box);
  EXPECT_EQ(active[0].label, 7);
  ASSERT_TRUE(tracker->update({}, 1101, infos));
  tracker->active(active);
  EXPECT_TRUE(active.empty());
}

TEST(compat_track, time_runs_forward_and_fits_signed_nanoseconds) {
  auto tracker = ByteTrack::create();
  ASSERT_TRUE(tracker);
  Infos infos;
  ASSERT_TRUE(tracker->update({}, 1000, infos));
  EXPECT_EQ(code_of(tracker->update({}, 999, infos)), Errc::invalid_argument);
  EXPECT_EQ(code_of(tracker->update({}, std::uint64_t{1} << 63, infos)), Errc::invalid_argument);
  EXPECT_TRUE(tracker->update({}, 1000, infos));
}

TEST(compat_track, options_beyond_their_range_mean_its_end) {
  EXPECT_TRUE(ByteTrack::create({.high_conf = 1.5F, .iou = -1, .update = 5}));
  EXPECT_EQ(code_of(ByteTrack::create({.high_conf = std::numeric_limits<float>::quiet_NaN()})),
            Errc::invalid_argument);
  EXPECT_TRUE(ByteTrack::create({.update = 0}));
}

}  // namespace
}  // namespace halyard
