// SPDX-License-Identifier: Apache-2.0
// The G2D backend on a fake library that checks its arguments: what it accepts is what the
// reference says, what it declines has a reason, both layouts of its structs.
#include <gtest/gtest.h>

#include <array>

#include "image/differential.h"
#include "image/g2d/device.h"
#include "image/images.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

constexpr Size frame{48, 32};
const std::vector<Rotation> rotations{Rotation::none, Rotation::cw90, Rotation::cw180,
                                      Rotation::cw270};
const std::vector<Flip> flips{Flip::none, Flip::horizontal, Flip::vertical};

Size rotated(Size size, Rotation rotation) {
  return swaps_axes(rotation) ? Size{size.height, size.width} : size;
}

/// Each library, without being asked for by name: exact work alone.
class G2dExact : public testing::TestWithParam<const char*> {
 protected:
  Convert request(F from, F to, Size target = frame) {
    return {.src = machine_.image(random_, frame, from),
            .dst = machine_.image(random_, target, to)};
  }
  std::string backend_of(const Convert& c) {
    const auto plan = judge_.processor().plan(c);
    return std::string(plan ? plan->backend() : plan.error().message());
  }
  /// Judges a request that g2d must run.
  void expect_served(const Convert& c) {
    ASSERT_EQ(backend_of(c), "g2d") << judge_.processor().explain(c).value();
    const int blits = machine_.counts().blits;
    EXPECT_TRUE(judge_.compare(c));
    EXPECT_EQ(machine_.counts().blits, blits + 1);
    ASSERT_EQ(machine_.fake().take_violations(), "");
  }
  /// Judges a request that g2d must leave to the CPU for this reason.
  void expect_left(const Convert& c, const std::string& reason) {
    const std::string report = judge_.processor().explain(c).value();
    EXPECT_NE(report.find("g2d: " + reason), std::string::npos) << reason << "\n" << report;
    EXPECT_EQ(backend_of(c), "cpu");
    const int blits = machine_.counts().blits;
    EXPECT_TRUE(judge_.compare(c));
    EXPECT_EQ(machine_.counts().blits, blits);
  }

  G2dMachine machine_{GetParam()};
  Random random_{91};
  Judge judge_;
};
INSTANTIATE_TEST_SUITE_P(layouts, G2dExact, testing::Values("int", "long"),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(G2dExact, copies_and_reorders_channels_in_every_orientation) {
  for (const auto& [from, to] : product({F::rgba, F::bgra}, {F::rgba, F::bgra, F::rgb})) {
    for (const auto& [rotation, flip] : product(rotations, flips)) {
      Convert c = request(from, to, rotated(frame, rotation));
      c.rotation = rotation;
      c.flip = flip;
      expect_served(c);
      c.orientation = Orientation{Flip::vertical, Rotation::cw90};
      c.dst = machine_.image(random_, rotated(rotated(frame, rotation), Rotation::cw90), to);
      expect_served(c);
    }
  }
}

TEST_P(G2dExact, swaps_red_and_blue_on_request) {
  Convert c = request(F::rgba, F::rgba, {60, 40});
  c.bgr = true;
  c.place = Region{4, 5, frame.width, frame.height};
  c.pad = {1, 2, 3, 4};
  expect_served(c);
  c.dst = machine_.image(random_, {60, 40}, F::bgra);
  expect_served(c);
  c.dst = machine_.image(random_, {60, 40}, F::rgb);
  expect_left(c, "the destination's format");
}

TEST_P(G2dExact, crops_at_every_pixel_into_every_place) {
  for (int x = 0; x < 9; ++x) {
    for (const F to : {F::rgba, F::rgb}) {
      Convert c = request(F::rgba, to, {40, 30});
      c.crop = Region{x, 2 * x, 4 + 3 * x, 5};
      c.place = Region{8 - x, x, 4 + 3 * x, 5};
      c.flip = x % 2 == 0 ? Flip::horizontal : Flip::none;
      c.pad = {200, 10, 60, 77};
      expect_served(c);
    }
  }
}

TEST_P(G2dExact, bands_around_the_image_are_pad) {
  for (const auto& [to, rotation] : product(std::vector{F::rgba, F::bgra, F::rgb}, rotations)) {
    for (const Size target : {Size{64, 48}, Size{52, 64}, Size{48, 48}}) {
      Convert c = request(F::bgra, to, target);
      c.rotation = rotation;
      const Size content = rotated(frame, rotation);
      if (content.width > target.width || content.height > target.height) continue;
      c.place = Region{(target.width - content.width) / 2, (target.height - content.height) / 2,
                       content.width, content.height};
      c.pad = {9, 90, 190, 33};
      expect_served(c);
    }
  }
  Convert c = request(F::rgba, F::rgba, {frame.width, 50});
  c.fit = Fit::letterbox;
  expect_served(c);
  EXPECT_EQ(machine_.fake().take_calls().substr(0, 5), "clean");
}

TEST_P(G2dExact, parts_of_images_are_read_and_written_without_their_neighbours) {
  const Tensor whole_source = machine_.image(random_, {100, 80}, F::rgba);
  for (const F to : {F::rgba, F::rgb}) {
    const Tensor whole = machine_.image(random_, {90, 70}, to);
    for (int x = 0; x < 20; ++x) {
      Convert c{.src = whole_source.slice({x, 3, 31, 24}).value(),
                .dst = whole.slice({19 - x, x, 35, 30}).value(),
                .place = Region{x % 4, 1, 31, 24}};
      expect_served(c);
    }
  }
}

TEST_P(G2dExact, batches_and_plain_tensors_are_written) {
  const Tensor batch =
      Tensor::wrap(machine_.buffer(std::size_t{3} * 32 * 48 * 3),
                   Layout::contiguous(DType::u8, std::array<std::size_t, 4>{3, 32, 48, 3}).value())
          .value();
  const std::vector<Tensor> sources{machine_.image(random_, frame, F::rgba),
                                    machine_.image(random_, frame, F::bgra),
                                    machine_.image(random_, frame, F::rgba)};
  ASSERT_OK(judge_.processor().convert_batch(sources, batch, {}));
  EXPECT_EQ(machine_.counts().blits, 3);
  EXPECT_EQ(machine_.counts().finishes, 1);
  for (std::size_t i = 0; i < sources.size(); ++i)
    expect_served({.src = sources[i], .dst = batch.batch(i).value()});
}

TEST_P(G2dExact, work_that_it_rounds_in_its_own_way_is_left_to_the_cpu) {
  const std::string rounds = "scales and converts YUV with a rounding of its own";
  expect_left(request(F::rgba, F::rgba, {24, 16}), rounds);
  expect_left(request(F::nv12, F::rgba), rounds);
  expect_left(request(F::yuyv, F::yuyv), rounds);
  expect_left(request(F::rgba, F::yuyv), rounds);
}

TEST_P(G2dExact, plans_that_it_cannot_run_have_a_reason) {
  expect_left({.src = machine_.image(random_, frame, F::rgb),
               .dst = machine_.image(random_, frame, F::rgba)},
              "the source's format");
  expect_left(request(F::rgba, F::grey), "the destination's format");
  Convert c = request(F::rgba, F::rgba);
  c.alpha = AlphaStep::premultiply;
  expect_left(c, "does not multiply or divide by alpha");
  c = request(F::rgba, F::rgba);
  c.crop = RegionF(0.5, 0, 47, 32);
  expect_left(c, "the crop's sides lie between pixels");
  c = request(F::rgba, F::rgba);
  c.affine = Affine{{1, 0, 3, 0, 1, 2}};
  expect_left(c, "does not serve affine maps");
  c = request(F::rgba, F::rgba, {40, 30});
  c.crop = c.place = Region{0, 0, 3, 8};
  expect_left(c, "an image is smaller than 4 x 4 pixels");
  c = request(F::rgba, F::rgb);
  c.dst = zero_image(frame, F::rgb, DType::i8);
  expect_left(c, "stores 8-bit codes only");
}

TEST_P(G2dExact, tensors_that_it_does_not_reach_have_a_reason) {
  const Convert good = request(F::rgba, F::rgba);
  expect_left(with(good, [](Convert& c) { c.src = clone(c.src); }),
              "the source is not in a DMA-BUF");
  expect_left(with(good, [](Convert& c) { c.dst = clone(c.dst); }),
              "the destination is not in a DMA-BUF");
  const auto over = [&](std::size_t offset, std::size_t stride, F format) {
    const Tensor::PlaneSource whole{machine_.buffer(offset + stride * 32), offset, stride, 0};
    return Tensor::wrap_image({&whole, 1}, 48, 32, format).value();
  };
  expect_left(with(good, [&](Convert& c) { c.src = over(0, 200, F::rgba); }),
              "the source's row pitch");
  expect_left(with(good, [&](Convert& c) { c.dst = over(0, 160, F::rgb); }),
              "the destination's row pitch");
  expect_left(with(good, [&](Convert& c) { c.src = over(2, 192, F::rgba); }),
              "the source does not begin");
  expect_left(with(good, [&](Convert& c) { c.dst = over(8, 192, F::rgba); }),
              "the destination does not begin");
  expect_served(with(good, [&](Convert& c) { c.dst = over(8, 208, F::rgba); }));
}

TEST_P(G2dExact, one_processor_serves_both_kinds_of_memory_without_allocating) {
  const Convert dma = request(F::rgba, F::rgb);
  Convert heap = dma;
  heap.src = clone(dma.src);
  for (const Convert& c : {dma, heap})
    ASSERT_OK(judge_.processor().convert(c));
  EXPECT_EQ(machine_.counts().blits, 1);
  const ConvertPlan plan = judge_.processor().plan(heap).value();
  EXPECT_EQ(plan.backend(), "cpu");
  ASSERT_OK(judge_.processor().run(plan, dma.src, dma.dst));
  EXPECT_EQ(machine_.counts().blits, 2);
  const std::vector<Convert> all{
      dma, with(heap, [&](Convert& c) { c.dst = machine_.image(random_, frame, F::rgb); })};
  ASSERT_OK(judge_.processor().convert_all(all));
  EXPECT_EQ(machine_.counts().blits, 3);
  ASSERT_OK(judge_.processor().convert_deferred(dma));
  EXPECT_EQ(machine_.counts().blits, 3);
  ASSERT_OK(judge_.processor().flush());
  EXPECT_EQ(machine_.counts().blits, 4);
}

}  // namespace
}  // namespace halyard::test
