// SPDX-License-Identifier: Apache-2.0
// The cost of a call whose geometry is known: no heap allocation, except for the list that a call
// returns.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "halyard/image.h"
#include "images.h"
#include "support/allocations.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class SteadyImages : public ::testing::Test {
 protected:
  static constexpr unsigned calls = 5;

  // Heap allocations of this many calls, after one call to warm up.
  static std::uint64_t allocations_of(const std::function<bool()>& call) {
    EXPECT_TRUE(call());
    const std::uint64_t before = allocations();
    bool good = true;
    for (unsigned i = 0; i < calls; ++i)
      good = call() && good;
    EXPECT_TRUE(good);
    return allocations() - before;
  }

  // One request for every path of the CPU backend.
  std::vector<Convert> requests() {
    std::vector<Convert> all;
    const auto add = [&](PixelFormat from, PixelFormat to, DType dtype, auto change) {
      Convert c{.src = random_image(random_, 640, 360, from),
                .dst = random_image(random_, 200, 200, to, dtype),
                .fit = Fit::letterbox};
      change(c);
      all.push_back(c);
    };
    add(F::nv12, F::rgb, DType::u8, [](Convert&) {});
    add(F::nv12, F::planar_rgb, DType::f16, [](Convert& c) { c.antialias = true; });
    add(F::yuyv, F::rgba, DType::f32, [](Convert& c) {
      c.filter = Filter::lanczos3;
      c.rotation = Rotation::cw90;
    });
    add(F::rgb, F::nv12, DType::u8, [](Convert& c) { c.fit = Fit::cover; });
    add(F::bayer_rggb, F::bgr, DType::u8, [](Convert&) {});
    add(F::rgba, F::rgba, DType::u8, [](Convert& c) {
      c.dst = zero_image(360, 640, F::rgba);
      c.rotation = Rotation::cw270;
    });
    add(F::nv12, F::rgb, DType::u8, [](Convert& c) { c.dst = zero_image(640, 360, F::rgb); });
    add(F::rgb, F::grey, DType::u8, [](Convert& c) {
      c.fit = Fit::stretch;
      c.affine = Affine{{0.25, 0.125, 3, -0.125, 0.25, 20}};
    });
    // A network's input as engines make it: a plain tensor with one scale per channel.
    add(F::nv12, F::planar_rgb, DType::i8, [](Convert& c) {
      c.dst = Tensor::create(DType::i8, {1, 3, 200, 200}).value();
      const Quantization q{{0.01F, 0.02F, 0.03F}, {-3, 0, 3}, std::size_t{1}};
      EXPECT_TRUE(c.dst.set_quantization(q));
      c.dst.set_name("the input of a network with a long name");
    });
    return all;
  }

  Random random_{19};
};

TEST_F(SteadyImages, fresh_memory_is_seen_by_the_counter) {
  EXPECT_GE(allocations_of([] { return Tensor::create(DType::u8, {64}).has_value(); }), calls);
}

TEST_F(SteadyImages, a_known_geometry_allocates_nothing_by_itself_as_a_plan_or_by_turns) {
  for (const unsigned threads : {1U, 2U}) {
    Processor processor = Processor::create({.threads = threads}).value();
    const std::vector<Convert> all = requests();
    const auto convert = [&](const Convert& c) { return processor.convert(c).has_value(); };
    for (const Convert& c : all) {
      EXPECT_EQ(allocations_of([&] { return convert(c); }), 0U) << describe(c) << threads;
      const ConvertPlan plan = processor.plan(c).value();
      EXPECT_EQ(allocations_of([&] { return processor.run(plan, c.src, c.dst).has_value(); }), 0U);
    }
    EXPECT_EQ(allocations_of([&] { return std::all_of(all.begin(), all.end(), convert); }), 0U);
  }
}

TEST_F(SteadyImages, exact_colours_allocate_nothing) {
  Processor processor =
      Processor::create({.threads = 1, .colorimetry_mode = ColorimetryMode::exact}).value();
  for (const Convert& request : requests())
    EXPECT_EQ(allocations_of([&] { return processor.convert(request).has_value(); }), 0U);
}

TEST_F(SteadyImages, a_list_allocates_what_it_returns) {
  for (const unsigned threads : {1U, 2U}) {
    Processor processor = Processor::create({.threads = threads}).value();
    const std::vector<Convert> all = requests();
    EXPECT_EQ(allocations_of([&] { return processor.convert_all(all).has_value(); }), calls);
  }
}

TEST_F(SteadyImages, batches_and_tiles_allocate_what_they_return) {
  Processor processor = Processor::create({.threads = 2}).value();
  const Tensor frame = random_image(random_, 400, 300, F::nv12);
  const std::vector<Tile> tiles = plan_tiles(frame.size(), {.size = {128, 128}}).value();
  const Tensor batch = Tensor::create(DType::f32, {tiles.size(), 3, 64, 64}).value();
  EXPECT_EQ(
      allocations_of([&] { return processor.convert_tiles(frame, tiles, batch, {}).has_value(); }),
      calls);
  const std::vector<Tensor> sources(tiles.size(), frame);
  EXPECT_EQ(allocations_of([&] { return processor.convert_batch(sources, batch, {}).has_value(); }),
            calls);
}

TEST_F(SteadyImages, requests_that_wait_allocate_nothing) {
  Processor processor = Processor::create({.threads = 2}).value();
  const std::vector<Convert> all = requests();
  const std::vector<Convert> two = {all[0], all[1]};
  EXPECT_EQ(allocations_of([&] {
              bool good = true;
              for (const Convert& request : two)
                good = processor.convert_deferred(request).has_value() && good;
              return processor.flush().has_value() && good;
            }),
            0U);
}

TEST_F(SteadyImages, a_mask_allocates_nothing) {
  Processor processor = Processor::create({.threads = 1}).value();
  Convert request{.src = random_image(random_, 90, 60, F::grey),
                  .dst = random_image(random_, 64, 64, F::grey),
                  .fit = Fit::letterbox};
  const Placement placement = processor.convert(request).value();
  EXPECT_EQ(allocations_of([&] {
              return processor.mask_to_source(placement, request.dst, request.src).has_value();
            }),
            0U);
}

}  // namespace
}  // namespace halyard::test
