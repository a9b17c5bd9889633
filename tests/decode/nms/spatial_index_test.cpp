// SPDX-License-Identifier: Apache-2.0
// Neighbourhoods: what overlaps enough is within reach, and what is within reach is shown.
#include "decode/nms/spatial_index.h"

#include <gtest/gtest.h>

#include <random>

#include "decode/head/scenes.h"
#include "decode/nms/nms.h"
#include "decode/nms/soft_queue.h"

namespace halyard::decode {
namespace {

using test::unit;

constexpr std::size_t everywhere = 1U << 30;

double share(double a, double b) {
  return std::min(a, b) / std::max(a, b);
}

bool is_within(const Place& a, const Place& b, SearchRadius reach) {
  return share(a.width, b.width) > reach.ratio && share(a.height, b.height) > reach.ratio &&
         std::abs(a.cx - b.cx) < reach.distance * (a.width + b.width) / 2 &&
         std::abs(a.cy - b.cy) < reach.distance * (a.height + b.height) / 2;
}

TEST(SearchRadius, holds_what_overlaps_more_than_the_threshold) {
  std::mt19937 random(1);
  for (const float t : {0.1F, 0.45F, 0.7F, 0.9F}) {
    const SearchRadius reach = search_radius(Overlap::iou, t);
    double min_ratio = 1, max_distance = 0;
    for (int i = 0; i < 40000; ++i) {
      // The same but for one axis, where the bounds are met; every other time not.
      const bool tight = i % 2 == 0;
      const float w = 1 + 3 * unit(random), x = i % 6 == 0 ? (1 - w) / 2 : 2 * unit(random);
      const float h = tight ? 1 : 1 + unit(random), y = tight ? 0 : unit(random);
      const FlatBox a = flat_box({0, 0, i % 4 == 0 ? w : 1, 1}, 0);
      const FlatBox b = flat_box({x, y, x + w, y + h}, 0);
      if (!exceeds<Overlap::iou>(a, b, overlap_limit(Overlap::iou, t))) continue;
      const Place p = place_of(a), q = place_of(b);
      ASSERT_TRUE(is_within(p, q, {reach.ratio * 0.9999, reach.distance * 1.0001}));
      min_ratio = std::min(min_ratio, share(p.width, q.width));
      max_distance = std::max(max_distance, std::abs(p.cx - q.cx) / (p.width + q.width) * 2);
    }
    EXPECT_LT(max_distance, reach.distance);
    EXPECT_GT(max_distance, reach.distance * 0.98);  // no wider than it must be
    EXPECT_LT(min_ratio, std::max(0.26, t * 1.02));
  }
}

TEST(SearchRadius, holds_rotated_boxes_that_are_near_enough) {
  std::mt19937 random(2);
  for (const float t : {0.1F, 0.45F, 0.7F, 0.9F}) {
    const double limit = distance_limit(t);
    const SearchRadius reach = gaussian_search_radius(limit);
    double min_ratio = 1, max_distance = 0;
    for (int i = 0; i < 60000; ++i) {
      const bool upright = i % 2 == 0;
      const auto box = [&](float x) {
        const float size = std::exp(3 * unit(random));
        return gaussian_of({x, upright ? 0 : unit(random), size, upright ? 3 : 1 + 3 * unit(random),
                            upright ? 0 : 7 * unit(random)},
                           0);
      };
      const Gaussian a = box(0), b = box(i % 3 == 0 ? 0 : 10 * unit(random));
      if (!is_nearer(a, b, limit)) continue;
      const Place p = place_of(a), q = place_of(b);
      ASSERT_TRUE(is_within(p, q, {reach.ratio * 0.9999, reach.distance * 1.0001}));
      min_ratio = std::min(min_ratio, share(p.width, q.width));
      max_distance = std::max(max_distance, std::abs(p.cx - q.cx) / (p.width + q.width) * 2);
    }
    EXPECT_GT(max_distance, reach.distance * 0.6);
    EXPECT_LT(min_ratio, std::max(0.1, reach.ratio * 1.1));
  }
}

TEST(SpatialIndex, show_all_that_is_within_reach) {
  std::mt19937 random(3);
  std::vector<Place> places;
  for (int i = 0; i < 700; ++i) {
    const auto extent = [&] { return static_cast<double>(std::exp2(12 * unit(random) - 4)); };
    places.push_back({200.0 * unit(random) - 100, 200.0 * unit(random) - 100, extent(), extent(),
                      static_cast<std::int32_t>(random() % 2)});
  }
  for (const SearchRadius reach : {SearchRadius{0, 1}, SearchRadius{0.45, 0.38},
                                   SearchRadius{0.1, 0.82}, SearchRadius{0.26, 0.57}}) {
    SpatialIndex<std::uint32_t> index;
    index.start(places.size(), reach);
    for (std::uint32_t i = 0; i < places.size(); ++i)
      index.add(places[i], i);
    int pairs = 0, shown = 0;
    for (const Place& place : places) {
      std::vector<bool> seen(places.size());
      EXPECT_EQ(index.any(place, everywhere,
                          [&](std::uint32_t i) {
                            seen[i] = true;
                            ++shown;
                            return false;
                          }),
                false);
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].label != place.label || !is_within(place, places[i], reach)) continue;
        ++pairs;
        ASSERT_TRUE(seen[i]);
      }
    }
    EXPECT_GT(pairs, 700);
    if (reach.ratio > 0.2) {
      EXPECT_LT(shown, 700 * 700 / 4);
    }
  }
}

TEST(SpatialIndex, stop_at_the_first_that_will_do_and_at_the_budget) {
  SpatialIndex<std::uint32_t> index;
  index.start(2, {0, 1});
  const Place small{5, 5, 1, 1, 0}, large{5, 5, 3000, 3000, 0};
  index.add(small, 0);
  index.add(small, 1);
  int asked = 0;
  const auto yes = [&](std::uint32_t) { return ++asked > 0; };
  EXPECT_EQ(index.any(small, 5, yes), true);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(index.any(large, 100, yes), std::nullopt);
  EXPECT_EQ(asked, 1);
}

TEST(SpatialIndex, take_extents_of_every_size) {
  for (const double size : {1e-45, 1e-20, 1.0, 1e20, 3e38}) {
    for (const SearchRadius reach : {SearchRadius{0, 1}, SearchRadius{0.5, 0.3}}) {
      SpatialIndex<int> index;
      index.start(2, reach);
      index.add({1e30, -1e-30, size, 1 / size, 7}, 1);
      const auto yes = [](int) { return true; };
      EXPECT_EQ(index.any({1e30, -1e-30, size, 1 / size, 7}, 1000, yes), true);
      EXPECT_EQ(index.any({1e30, -1e-30, size, 50 / size, 7}, 1000, yes), reach.ratio == 0);
    }
  }
}

}  // namespace
}  // namespace halyard::decode
