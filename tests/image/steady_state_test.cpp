// SPDX-License-Identifier: Apache-2.0
// The cost of a call whose geometry is known: no heap allocation, except for the list that a call
// returns.
#include <gtest/gtest.h>

#include <functional>

#include "halyard/image.h"
#include "images.h"
#include "support/allocations.h"

namespace halyard::test {
namespace {

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
      Convert c;
      c.src = random_image(random_, 640, 360, from);
      c.dst = random_image(random_, 200, 200, to, dtype);
      c.fit = Fit::letterbox;
      change(c);
      all.push_back(c);
    };
    add(PixelFormat::nv12, PixelFormat::rgb, DType::u8, [](Convert&) {});
    add(PixelFormat::nv12, PixelFormat::planar_rgb, DType::f16,
        [](Convert& c) { c.antialias = true; });
    add(PixelFormat::yuyv, PixelFormat::rgba, DType::f32, [](Convert& c) {
      c.filter = Filter::lanczos3;
      c.rotation = Rotation::cw90;
    });
    add(PixelFormat::rgb, PixelFormat::nv12, DType::u8, [](Convert& c) { c.fit = Fit::cover; });
    add(PixelFormat::bayer_rggb, PixelFormat::bgr, DType::u8, [](Convert&) {});
    add(PixelFormat::rgba, PixelFormat::rgba, DType::u8, [](Convert& c) {
      c.dst = Tensor::create_image(360, 640, PixelFormat::rgba).value();
      c.rotation = Rotation::cw270;
    });
    add(PixelFormat::nv12, PixelFormat::rgb, DType::u8,
        [](Convert& c) { c.dst = Tensor::create_image(640, 360, PixelFormat::rgb).value(); });
    add(PixelFormat::rgb, PixelFormat::grey, DType::u8, [](Convert& c) {
      c.fit = Fit::stretch;
      c.affine = Affine{{0.25, 0.125, 3, -0.125, 0.25, 20}};
    });
    // A network's input as engines make it: a plain tensor with one scale per channel.
    add(PixelFormat::nv12, PixelFormat::planar_rgb, DType::i8, [](Convert& c) {
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

TEST_F(SteadyImages, a_known_geometry_allocates_nothing) {
  for (const unsigned threads : {1U, 2U}) {
    Processor processor = Processor::create({.threads = threads}).value();
    for (const Convert& request : requests()) {
      EXPECT_EQ(allocations_of([&] { return processor.convert(request).has_value(); }), 0U)
          << describe(request) << " on " << threads;
    }
  }
}

TEST_F(SteadyImages, several_geometries_by_turns_allocate_nothing) {
  for (const unsigned threads : {1U, 2U}) {
    Processor processor = Processor::create({.threads = threads}).value();
    const std::vector<Convert> all = requests();
    EXPECT_EQ(allocations_of([&] {
                bool good = true;
                for (const Convert& request : all)
                  good = processor.convert(request).has_value() && good;
                return good;
              }),
              0U);
  }
}

TEST_F(SteadyImages, a_plan_allocates_nothing) {
  for (const unsigned threads : {1U, 2U}) {
    Processor processor = Processor::create({.threads = threads}).value();
    for (const Convert& request : requests()) {
      const ConvertPlan plan = processor.plan(request).value();
      EXPECT_EQ(
          allocations_of([&] { return processor.run(plan, request.src, request.dst).has_value(); }),
          0U);
    }
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
  const Tensor frame = random_image(random_, 400, 300, PixelFormat::nv12);
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
  Convert request;
  request.src = random_image(random_, 90, 60, PixelFormat::grey);
  request.dst = random_image(random_, 64, 64, PixelFormat::grey);
  request.fit = Fit::letterbox;
  const Placement placement = processor.convert(request).value();
  EXPECT_EQ(allocations_of([&] {
              return processor.mask_to_source(placement, request.dst, request.src).has_value();
            }),
            0U);
}

}  // namespace
}  // namespace halyard::test
