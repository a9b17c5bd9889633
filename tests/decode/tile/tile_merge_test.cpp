// SPDX-License-Identifier: Apache-2.0
// Merging of boxes: worked numbers, options, order, and what is refused.
#include "halyard/tile_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "decode/reference/tile_merge_naive.h"
#include "halyard/track.h"
#include "support/result.h"
#include "support/special_values.h"

namespace halyard::test {
namespace {

const Box whole_box{100, 100, 400, 300};
const Box part_box{350, 100, 400, 300};

using Detections = std::vector<Detection>;

Detections merged(const Detections& in, const MergeOptions& options = {}) {
  return merge_detections(in, options).value();
}

MergeOptions with(MergeStrategy strategy, MergeMetric metric = MergeMetric::ios) {
  const MergeOptions options{.metric = metric, .strategy = strategy};
  return options;
}

// Boxes in a row that share nothing.
Detections apart(std::size_t count, float score) {
  Detections out;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = 20 * static_cast<float>(i);
    out.push_back({{x, 0, x + 10, 10}, score, 0, static_cast<std::int32_t>(i)});
  }
  return out;
}

TEST(TileMetric, a_part_of_a_box_has_ios_one_and_iou_one_sixth) {
  EXPECT_EQ(whole_box.area(), 60000);
  EXPECT_EQ(part_box.area(), 10000);
  EXPECT_EQ(ios(whole_box, part_box), 1.0F);
  EXPECT_EQ(ios(part_box, whole_box), 1.0F);
  EXPECT_FLOAT_EQ(iou(whole_box, part_box), 1.0F / 6);
}

TEST(TileMetric, of_empty_inverted_or_distant_boxes_it_is_zero) {
  EXPECT_EQ(ios(whole_box, {200, 200, 200, 250}), 0.0F);
  EXPECT_EQ(ios(whole_box, {300, 250, 200, 200}), 0.0F);
  EXPECT_EQ(ios(whole_box, {400, 100, 500, 300}), 0.0F);  // one edge alone
  EXPECT_EQ(ios({}, {}), 0.0F);
}

TEST(TileMetric, the_largest_floats_do_not_overflow) {
  const float maximum = std::numeric_limits<float>::max();
  EXPECT_EQ(ios({-maximum, -maximum, maximum, maximum}, {0, 0, maximum, maximum}), 1.0F);
}

TEST(TileMerge, a_part_is_absorbed_by_ios_and_not_by_iou) {
  const Detections in{{whole_box, 0.9F, 1, 7}, {part_box, 0.8F, 1, 8}};
  EXPECT_EQ(merged(in), (Detections{in[0]}));
  EXPECT_EQ(merged(in, with(MergeStrategy::keep_best, MergeMetric::iou)), in);
}

TEST(TileMerge, the_best_box_is_kept_even_when_it_is_the_part) {
  const Detections in{{whole_box, 0.8F, 1, 7}, {part_box, 0.9F, 1, 8}};
  EXPECT_EQ(merged(in), (Detections{in[1]}));
  EXPECT_EQ(merged(in, with(MergeStrategy::merge_union)), (Detections{{whole_box, 0.9F, 1, 8}}));
  EXPECT_EQ(merged(in, with(MergeStrategy::grow)), (Detections{{whole_box, 0.9F, 1, 8}}));
}

TEST(TileMerge, of_equal_scores_the_larger_box_wins_in_any_order) {
  const Detections in{{whole_box, 0.8F, 1, 7}, {part_box, 0.8F, 1, 3}};
  EXPECT_EQ(merged(in), (Detections{in[0]}));
  EXPECT_EQ(merged({in[1], in[0]}), (Detections{in[0]}));
}

TEST(TileMerge, ios_of_exactly_the_threshold_merges_into_the_union) {
  // The smaller box has 5000 px, half of them shared.
  const Detections in{{{0, 0, 100, 100}, 0.9F, 0, 0}, {{50, 0, 150, 50}, 0.8F, 0, 1}};
  const Detections union_of{{{0, 0, 150, 100}, 0.9F, 0, 0}};
  EXPECT_EQ(ios(in[0].box, in[1].box), 0.5F);
  EXPECT_EQ(merged(in, with(MergeStrategy::merge_union)), union_of);
  EXPECT_EQ(merged(in, with(MergeStrategy::grow)), union_of);
  MergeOptions above = with(MergeStrategy::merge_union);
  above.threshold = std::nextafter(0.5F, 1.0F);
  EXPECT_EQ(merged(in, above), in);
}

TEST(TileMerge, every_ratio_of_exactly_the_threshold_matches) {
  // Height 1, widths q and p: IoU p / q. IoS p / q: the smaller has q px, p of them shared.
  for (int q = 2; q <= 60; ++q) {
    for (int p = 1; p < q; ++p) {
      const auto w = static_cast<float>(q);
      const auto s = static_cast<float>(p);
      const Detections by_iou{{{0, 0, w, 1}, 0.9F, 0, 0}, {{0, 0, s, 1}, 0.8F, 0, 1}};
      const Detections by_ios{{{0, 0, 2 * w, 1}, 0.9F, 0, 0},
                              {{2 * w - s, 0, 3 * w - s, 1}, 0.8F, 0, 1}};
      MergeOptions options = with(MergeStrategy::keep_best, MergeMetric::iou);
      options.threshold = s / w;
      EXPECT_EQ(merged(by_iou, options).size(), 1U) << p << "/" << q;
      options.metric = MergeMetric::ios;
      EXPECT_EQ(merged(by_ios, options).size(), 1U) << p << "/" << q;
      options.threshold = std::nextafter(s / w, 1.0F);
      EXPECT_EQ(merged(by_ios, options).size(), 2U) << p << "/" << q;
      options.metric = MergeMetric::iou;
      EXPECT_EQ(merged(by_iou, options).size(), 2U) << p << "/" << q;
    }
  }
}

TEST(TileMerge, disjoint_boxes_stay_best_first) {
  const Detections in{{{0, 0, 10, 10}, 0.5F, 0, 0}, {{20, 0, 30, 10}, 0.9F, 0, 1}};
  for (const MergeStrategy strategy : strategies)
    EXPECT_EQ(merged(in, with(strategy)), (Detections{in[1], in[0]}));
  EXPECT_TRUE(merged({}).empty());
}

TEST(TileMerge, labels_are_apart_unless_it_is_agnostic_and_takes_the_stronger_label) {
  const Detections in{{whole_box, 0.7F, 1, 0}, {part_box, 0.8F, 2, 1}};
  EXPECT_EQ(merged(in), (Detections{in[1], in[0]}));
  MergeOptions agnostic{.class_agnostic = true};
  EXPECT_EQ(merged(in, agnostic), (Detections{in[1]}));
  agnostic.strategy = MergeStrategy::merge_union;
  EXPECT_EQ(merged(in, agnostic), (Detections{{whole_box, 0.8F, 2, 1}}));
}

TEST(TileMerge, labels_of_any_value_are_apart) {
  constexpr auto maximum = std::numeric_limits<std::int32_t>::max();
  const Detections in{
      {whole_box, 0.9F, -1, 0}, {whole_box, 0.8F, maximum, 1}, {whole_box, 0.7F, -1 - maximum, 2}};
  EXPECT_EQ(merged(in), in);
}

TEST(TileMerge, it_is_not_transitive_and_measures_against_the_best_box_itself) {
  // b lies half in a, c half in b and not in a.
  const Detections in{{{0, 0, 100, 10}, 0.9F, 0, 0},
                      {{50, 0, 150, 10}, 0.8F, 0, 1},
                      {{100, 0, 200, 10}, 0.7F, 0, 2}};
  const Detections expected{{{0, 0, 150, 10}, 0.9F, 0, 0}, in[2]};
  EXPECT_EQ(merged(in, with(MergeStrategy::merge_union)), expected);
  EXPECT_EQ(merged(in, with(MergeStrategy::grow)), expected);
}

TEST(TileMerge, growing_measures_against_the_box_so_far) {
  // By IoU both others match the first (0.6, 0.6), but the last no longer matches the union.
  MergeOptions options = with(MergeStrategy::grow, MergeMetric::iou);
  options.threshold = 0.6F;
  const Detections in{{{25, 0, 125, 10}, 0.9F, 0, 0},
                      {{0, 0, 100, 10}, 0.8F, 0, 1},
                      {{50, 0, 150, 10}, 0.7F, 0, 2}};
  EXPECT_FLOAT_EQ(iou(in[0].box, in[2].box), 0.6F);
  EXPECT_FLOAT_EQ(iou({0, 0, 125, 10}, in[2].box), 0.5F);
  EXPECT_EQ(merged(in, options), (Detections{{{0, 0, 125, 10}, 0.9F, 0, 0}}));
  options.strategy = MergeStrategy::merge_union;
  EXPECT_EQ(merged(in, options), (Detections{{{0, 0, 150, 10}, 0.9F, 0, 0}}));
}

TEST(TileMerge, at_most_so_many_are_given_and_zero_is_no_limit) {
  MergeOptions options{.max_detections = 3};
  EXPECT_EQ(merged(apart(10, 0.5F), options).size(), 3U);
  options.max_detections = 4;
  EXPECT_EQ(merged(apart(5, 0.5F), options).size(), 4U);
  options.max_detections = 5;
  EXPECT_EQ(merged(apart(5, 0.5F), options).size(), 5U);
  EXPECT_EQ(merged(apart(301, 0.5F)).size(), 300U);
  options.max_detections = 0;
  EXPECT_EQ(merged(apart(400, 0.5F), options).size(), 400U);
}

TEST(TileMerge, what_comes_after_the_limit_is_still_absorbed) {
  Detections in = apart(3, 0.9F);
  in.push_back({{-4, 0, 6, 10}, 0.5F, 0, 9});  // matches the first
  MergeOptions options = with(MergeStrategy::merge_union);
  options.max_detections = 2;
  const Detections out = merged(in, options);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].box, (Box{-4, 0, 10, 10}));
}

TEST(TileMerge, the_limit_counts_labels_together_by_score) {
  Detections in = apart(6, 0.5F);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i].label = static_cast<std::int32_t>(i % 2);
    in[i].score = 0.9F - 0.1F * static_cast<float>(i);
  }
  const MergeOptions options{.max_detections = 4};
  EXPECT_EQ(merged(in, options), (Detections{in[0], in[1], in[2], in[3]}));
}

TEST(TileMerge, a_score_of_exactly_the_threshold_stays) {
  MergeOptions options{.score_threshold = 0.5F};
  EXPECT_EQ(merged(apart(2, 0.5F), options).size(), 2U);
  EXPECT_EQ(merged(apart(2, std::nextafter(0.5F, 0.0F)), options).size(), 0U);
  options.score_threshold = 0;
  EXPECT_EQ(merged(apart(2, -0.25F), options).size(), 2U);  // no filter at 0
}

TEST(TileMerge, boxes_that_share_nothing_do_not_match_at_threshold_zero) {
  Detections in = apart(2, 0.5F);
  in.push_back({{9, 0, 19, 10}, 0.4F, 0, 9});
  const MergeOptions options{.threshold = 0};
  EXPECT_EQ(merged(in, options), (Detections{in[0], in[1]}));
}

TEST(TileMerge, inverted_boxes_are_made_canonical) {
  EXPECT_EQ(merged({{{10, 20, 0, 5}, 0.7F, 1, 0}}), (Detections{{{0, 5, 10, 20}, 0.7F, 1, 0}}));
}

TEST(TileMerge, nan_and_infinity_never_pass) {
  for (const float bad : {nan, infinity, -infinity}) {
    for (int c = 0; c < 4; ++c) {
      Detection d{whole_box, 0.9F, 0, 0};
      float* const coordinates[] = {&d.box.x1, &d.box.y1, &d.box.x2, &d.box.y2};
      *coordinates[c] = bad;
      EXPECT_EQ(merged({d, {part_box, 0.1F, 0, 1}}), (Detections{{part_box, 0.1F, 0, 1}}));
    }
  }
  EXPECT_EQ(merged({{whole_box, nan, 0, 0}, {part_box, 0.1F, 0, 1}}),
            (Detections{{part_box, 0.1F, 0, 1}}));
}

TEST(TileMerge, empty_boxes_stay_and_match_nothing) {
  const Detections in{{{10, 10, 10, 20}, 0.9F, 0, 0},
                      {{0, 0, 100, 100}, 0.8F, 0, 1},
                      {{10, 10, 10, 20}, 0.7F, 0, 2}};
  EXPECT_EQ(merged(in), in);
}

TEST(TileMerge, minus_zero_is_zero) {
  const Detections out = merged({{{-0.0F, -0.0F, 1, 1}, -0.0F, 0, 0}});
  EXPECT_FALSE(std::signbit(out[0].box.x1) || std::signbit(out[0].box.y1));
  EXPECT_FALSE(std::signbit(out[0].score));
}

TEST(TileMerge, options_outside_their_range_are_refused_by_name) {
  const auto refusal = [](const MergeOptions& options) {
    const auto result = merge_detections({}, options);
    if (result || result.error().code != Errc::invalid_argument) return std::string("none");
    const std::string text = result.error().message();
    return text.substr(0, text.find(':'));
  };
  for (const float bad : {nan, -0.1F, 1.1F, infinity}) {
    MergeOptions options{.threshold = bad};
    EXPECT_EQ(refusal(options), "threshold");
    options = {.score_threshold = bad};
    EXPECT_EQ(refusal(options), "score_threshold");
  }
  MergeOptions options{.metric = static_cast<MergeMetric>(2)};
  EXPECT_EQ(refusal(options), "metric");
  options = {.strategy = static_cast<MergeStrategy>(3)};
  EXPECT_EQ(refusal(options), "strategy");
}

TEST(TileMerge, more_than_a_frame_can_have_are_refused) {
  const Detection one;
  const std::span<const Detection> many(&one, (std::size_t{1} << 24) + 1);  // the length is enough
  const auto result = merge_detections(many);
  EXPECT_FAILS(result, Errc::invalid_argument);
  EXPECT_TRUE(result.error().message().starts_with("detections: must be at most 2^24"));
}

// Objects of 40..160 px, each seen up to four times, some of them cut.
Detections seen_several_times(std::size_t objects, int labels, float frame, unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  Detections out;
  for (std::size_t o = 0; o < objects; ++o) {
    const float x = std::floor(draw(0, frame));
    const float y = std::floor(draw(0, frame));
    const float w = std::floor(draw(40, 160));
    const float h = std::floor(draw(40, 160));
    const auto label = static_cast<std::int32_t>(random() % static_cast<unsigned>(labels));
    for (unsigned copies = 1 + random() % 4; copies > 0; --copies) {
      const float cut = random() % 3 == 0 ? std::floor(draw(0, w)) : 0;
      out.push_back({{x + cut, y, x + w, y + h + std::floor(draw(-2, 3))},
                     std::floor(draw(0, 20)) / 20,
                     label,
                     static_cast<std::int32_t>(out.size())});
    }
  }
  return out;
}

TEST(TileMerge, thousands_of_boxes_are_what_the_definition_says) {
  for (const float frame : {200.0F, 1000.0F, 8000.0F}) {
    const Detections in = seen_several_times(900, 3, frame, 5);
    for (const MergeStrategy strategy : strategies) {
      for (const auto metric : {MergeMetric::ios, MergeMetric::iou}) {
        for (const std::size_t limit : {0U, 50U}) {
          MergeOptions options = with(strategy, metric);
          options.max_detections = limit;
          EXPECT_EQ(merged(in, options), naive_merge(in, options));
          options.class_agnostic = true;
          EXPECT_EQ(merged(in, options), naive_merge(in, options));
        }
      }
    }
  }
}

TEST(TileMerge, a_million_boxes_of_one_place_and_many_of_a_field_are_merged) {
  Detections in(1000000, {whole_box, 0.5F, 0, 0});
  EXPECT_EQ(merged(in), (Detections{in[0]}));
  in.resize(60000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float x = static_cast<float>(i % 300) * 8;
    const float y = static_cast<float>(i / 300) * 8;
    in[i].box = {x, y, x + 7, y + 7};
  }
  const MergeOptions options{.max_detections = 0};
  EXPECT_EQ(merged(in, options).size(), in.size());
}

TEST(TileMerge, a_tracker_sees_one_object_by_ios_and_two_by_iou) {
  const auto tracks_of = [](MergeMetric metric) {
    auto tracker = ByteTrack::create({}).value();
    const Detections in{{whole_box, 0.9F, 0, 0}, {part_box, 0.85F, 0, 1}};
    const auto found = merged(in, with(MergeStrategy::keep_best, metric));
    return tracker.update(found, std::chrono::nanoseconds(0)).value().size();
  };
  EXPECT_EQ(tracks_of(MergeMetric::ios), 1U);
  EXPECT_EQ(tracks_of(MergeMetric::iou), 2U);
}

}  // namespace
}  // namespace halyard::test
