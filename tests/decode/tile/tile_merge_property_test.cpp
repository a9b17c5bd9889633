// SPDX-License-Identifier: Apache-2.0
// Merging of random boxes: what the definition says, in any order, and once is enough.
#include "support/properties.h"

#if defined(HALYARD_RAPIDCHECK)
#include <algorithm>
#include <random>

#include "decode/reference/tile_merge_naive.h"

namespace halyard::test {
namespace {

using Detections = std::vector<Detection>;

// Few places, scores and labels: ties of every kind occur.
Detections any_detections() {
  const auto one = rc::gen::exec([] {
    const int x = *rc::gen::inRange(0, 24);
    const int y = *rc::gen::inRange(0, 24);
    const int w = *rc::gen::inRange(0, 13);
    const int h = *rc::gen::inRange(0, 13);
    const int score = *rc::gen::inRange(0, 5);
    return Detection{{static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + w),
                      static_cast<float>(y + h)},
                     static_cast<float>(score) / 4,
                     *rc::gen::inRange(0, 3),
                     *rc::gen::inRange(-1, 2)};
  });
  return *rc::gen::container<Detections>(one);
}

MergeOptions any_options() {
  MergeOptions options{.metric = *rc::gen::element(MergeMetric::ios, MergeMetric::iou)};
  options.strategy =
      *rc::gen::element(MergeStrategy::keep_best, MergeStrategy::merge_union, MergeStrategy::grow);
  options.threshold = *rc::gen::element(0.0F, 0.1F, 0.25F, 0.5F, 0.75F, 1.0F);
  options.class_agnostic = *rc::gen::arbitrary<bool>();
  options.max_detections = *rc::gen::element<std::size_t>(0, 1, 3, 300);
  options.score_threshold = *rc::gen::element(0.0F, 0.25F, 0.5F);
  return options;
}

Detections shuffled(Detections list) {
  std::mt19937 random(static_cast<unsigned>(*rc::gen::inRange(0, 1 << 20)));
  std::shuffle(list.begin(), list.end(), random);
  return list;
}

TEST(TileMergeProperties, it_is_what_the_definition_says) {
  check_property(2000, [] {
    const Detections in = any_detections();
    const MergeOptions options = any_options();
    RC_ASSERT(merge_detections(in, options).value() == naive_merge(in, options));
  });
}

TEST(TileMergeProperties, the_order_of_the_input_changes_nothing) {
  check_property(2000, [] {
    const Detections in = any_detections();
    const MergeOptions options = any_options();
    RC_ASSERT(merge_detections(in, options).value() ==
              merge_detections(shuffled(in), options).value());
  });
}

TEST(TileMergeProperties, boxes_kept_best_stay_when_merged_again) {
  check_property(2000, [] {
    MergeOptions options = any_options();
    options.strategy = MergeStrategy::keep_best;
    const Detections once = merge_detections(any_detections(), options).value();
    RC_ASSERT(merge_detections(once, options).value() == once);
  });
}

TEST(TileMergeProperties, a_union_covers_the_growing_box_and_that_covers_the_best) {
  check_property(1000, [] {
    const Detections in = any_detections();
    MergeOptions options = any_options();
    const auto merged = [&](MergeStrategy strategy) {
      options.strategy = strategy;
      return merge_detections(in, options).value();
    };
    const Detections best = merged(MergeStrategy::keep_best);
    const Detections grown = merged(MergeStrategy::grow);
    const Detections all = merged(MergeStrategy::merge_union);
    const auto covers = [](const Box& a, const Box& b) {
      return a.x1 <= b.x1 && a.y1 <= b.y1 && a.x2 >= b.x2 && a.y2 >= b.y2;
    };
    RC_ASSERT(best.size() == grown.size());
    RC_ASSERT(best.size() == all.size());
    for (std::size_t i = 0; i < best.size(); ++i) {
      RC_ASSERT(covers(grown[i].box, best[i].box));
      RC_ASSERT(covers(all[i].box, grown[i].box));
      RC_ASSERT(best[i].score == all[i].score);
      RC_ASSERT(best[i].label == all[i].label);
    }
  });
}

// Six tiles of a frame; tile i has the detections whose place in the list leaves i by six.
TEST(TileMergeProperties, tiles_in_any_order_give_the_same_bits) {
  check_property(1000, [] {
    const Detections in = any_detections();
    const FrameSize frame{80, 48};
    std::vector<TilePlacement> tiles;
    for (std::size_t i = 0; i < 6; ++i) {
      const RegionF crop{static_cast<double>(i % 3) * 20, static_cast<double>(i / 3) * 16, 40, 32};
      const Box shown{0.125F, 0, 0.875F, 1};
      tiles.push_back(TilePlacement::of_fractions(i, 6, frame, crop, shown));
    }
    const MergeOptions options = any_options();
    const auto result = [&](const std::vector<std::size_t>& order) {
      TileAccumulator accumulator = TileAccumulator::create(frame, 6, options).value();
      for (const std::size_t i : order) {
        Detections of_tile;
        for (std::size_t k = i; k < in.size(); k += 6) {
          of_tile.push_back(in[k]);
          for (float* v : {&of_tile.back().box.x1, &of_tile.back().box.y1, &of_tile.back().box.x2,
                           &of_tile.back().box.y2})
            *v /= 36;
        }
        RC_ASSERT(accumulator.push(tiles[i], of_tile) == TilePush::accepted);
      }
      Detections out = accumulator.finalize();
      std::vector<TileOrigin> origins(accumulator.origins().begin(), accumulator.origins().end());
      return std::pair(out, origins);
    };
    std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
    const auto straight = result(order);
    std::mt19937 random(static_cast<unsigned>(*rc::gen::inRange(0, 1 << 20)));
    std::shuffle(order.begin(), order.end(), random);
    RC_ASSERT(result(order) == straight);
  });
}

}  // namespace
}  // namespace halyard::test

#else
#include <gtest/gtest.h>

TEST(TileMergeProperties, it_is_what_the_definition_says) {
  GTEST_SKIP() << "built without RapidCheck (librapidcheck-dev)";
}

#endif
