// SPDX-License-Identifier: Apache-2.0
// Plans that are compiled once and run often, and the processor's own cache of plans.
#include <gtest/gtest.h>

#include "halyard/image.h"
#include "image/plan_cache.h"
#include "images.h"
#include "support/product.h"
#include "support/result.h"
#include "support/threads.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class PlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.src = random_image(random_, 40, 30, F::nv12);
    request_.dst = zero_image(24, 24, F::rgb);
    request_.fit = Fit::letterbox;
  }
  std::vector<std::byte> converted() {
    EXPECT_TRUE(processor_.convert(request_));
    return bytes_of(request_.dst);
  }
  Random random_{5};
  Processor processor_ = Processor::create({.threads = 2}).value();
  Convert request_;
};

TEST_F(PlanTest, a_plan_converts_other_images_of_its_geometry) {
  const ConvertPlan plan = processor_.plan(request_).value();
  EXPECT_EQ(plan.placement().content(), (Region{0, 3, 24, 18}));
  EXPECT_EQ(plan.backend(), "cpu");
  for (int i = 0; i < 3; ++i) {
    request_.src = random_image(random_, 40, 30, F::nv12, DType::u8, 64);
    const auto wanted = converted();
    const Tensor other = zero_image(24, 24, F::rgb);
    ASSERT_VALUE(const auto placed, processor_.run(plan, request_.src, other));
    EXPECT_EQ(bytes_of(other), wanted);
    EXPECT_EQ(placed.content(), plan.placement().content());
  }
}

TEST_F(PlanTest, a_plan_refuses_tensors_of_another_kind_and_names_them) {
  const ConvertPlan plan = processor_.plan(request_).value();
  const auto refusal = [&](const Tensor& src, const Tensor& dst) {
    const auto before = dst.is_empty() ? std::vector<std::byte>() : bytes_of(dst);
    const auto result = processor_.run(plan, src, dst);
    if (!dst.is_empty()) {
      EXPECT_EQ(bytes_of(dst), before);
    }
    return result ? std::string("none") : result.error().message();
  };
  const Tensor& src = request_.src;
  const Tensor& dst = request_.dst;
  const auto image = [](std::size_t w, std::size_t h, PixelFormat f, DType t = DType::u8) {
    return Tensor::create_image(w, h, f, t).value();
  };
  EXPECT_TRUE(processor_.run(plan, src, dst));
  for (const Tensor& bad :
       {image(42, 30, F::nv12), image(40, 30, F::nv16), image(40, 28, F::nv12), Tensor()})
    EXPECT_EQ(refusal(bad, dst).substr(0, 5), "src: ");
  for (const Tensor& bad :
       {image(24, 25, F::rgb), image(24, 24, F::bgr), image(24, 24, F::rgb, DType::i8), Tensor(),
        Tensor::create(DType::u8, {2, 24, 24, 3}).value()})
    EXPECT_EQ(refusal(src, bad).substr(0, 5), "dst: ");
  Tensor other = src;
  other.set_colorimetry(Colorimetry::jpeg());
  EXPECT_EQ(refusal(other, dst).substr(0, 5), "src: ");
  Tensor quantized = image(24, 24, F::rgb);
  ASSERT_TRUE(quantized.set_quantization(Quantization::per_tensor(0.5F, 1)));
  EXPECT_EQ(refusal(src, quantized).substr(0, 5), "dst: ");
}

TEST_F(PlanTest, a_plan_takes_its_destination_as_an_image_or_as_a_plain_tensor) {
  const auto wanted = converted();
  const Tensor plain = Tensor::create(DType::u8, {1, 24, 24, 3}).value();
  ASSERT_TRUE(processor_.run(processor_.plan(request_).value(), request_.src, plain));
  EXPECT_EQ(bytes_of(plain), wanted);
  request_.dst = Tensor::create(DType::u8, {24, 24, 3}).value();
  const ConvertPlan of_plain = processor_.plan(request_).value();
  const Tensor image = zero_image(24, 24, F::rgb);
  ASSERT_TRUE(processor_.run(of_plain, request_.src, image));
  EXPECT_EQ(bytes_of(image), wanted);
}

TEST_F(PlanTest, plain_tensors_of_every_shape_get_the_pixels_of_images) {
  const auto same = [&](const Tensor& plain, PixelFormat format, const char* what) {
    request_.dst = plain;
    const auto got = converted();
    request_.dst = zero_image(24, 24, format, plain.dtype());
    EXPECT_EQ(got, converted()) << what;
  };
  same(Tensor::create(DType::u8, {24, 24, 4}).value(), F::rgba, "packed");
  same(Tensor::create(DType::f32, {1, 3, 24, 24}).value(), F::planar_rgb, "planar");
  same(Tensor::create(DType::i8, {4, 24, 24}).value(), F::planar_rgba, "four planes");
  same(Tensor::create(DType::f16, {24, 24, 1}).value(), F::grey, "grey, channel last");
  same(Tensor::create(DType::u8, {1, 24, 24}).value(), F::grey, "grey, channel first");
  same(Tensor::create(DType::u8, {1, 1, 24, 24}).value(), F::grey, "grey in a batch");
}

TEST_F(PlanTest, plain_tensors_with_strides_are_written_where_they_say) {
  const auto buffer = allocate(3 * 4096, Memory::mem).value();
  Layout layout = Layout::contiguous(DType::u8, std::array<std::size_t, 3>{3, 24, 24}).value();
  layout.stride_bytes = {4096, 40, 1};
  request_.dst = Tensor::wrap(buffer, layout, 100).value();
  const auto strided = converted();
  request_.dst = Tensor::create(DType::u8, {3, 24, 24}).value();
  const auto dense = converted();
  for (const auto& [c, y, x] : product(indices(3), indices(24), indices(40))) {
    const std::byte got = strided[100 + c * 4096 + y * 40 + x];
    ASSERT_EQ(got, x < 24 ? dense[(c * 24 + y) * 24 + x] : std::byte{}) << c << y << x;
  }
}

image::CompiledPtr uncompiled(const Convert& c) {
  return std::make_shared<image::CompiledPlan>(image::CompiledPlan{
      image::TensorKey(c.src), image::TensorKey(c.dst),
      image::copy_request_key(image::request_key_of(c)), image::make_plan(c).value(), nullptr});
}

TEST_F(PlanTest, the_same_request_is_found_again_over_other_bytes) {
  image::PlanCache cache;
  const Convert& c = request_;
  EXPECT_EQ(cache.find(c, c.src, c.dst, ColorimetryMode::fast), nullptr);
  cache.add(uncompiled(c));
  EXPECT_NE(cache.find(c, c.src, c.dst, ColorimetryMode::fast), nullptr);
  EXPECT_NE(cache.find(c, clone(c.src), clone(c.dst), ColorimetryMode::fast), nullptr);
  EXPECT_EQ(cache.find(c, c.src, c.dst, ColorimetryMode::exact), nullptr);
}

constexpr Region plan_part{2, 2, 9, 9};
constexpr Orientation upside_down{Flip::none, Rotation::cw180};
constexpr Affine sheared{{1, 0.25, 0, 0, 1, 0}};

TEST_F(PlanTest, no_field_of_a_request_is_forgotten) {
  request_.src = random_image(random_, 40, 30, F::rgba);
  request_.dst = zero_image(24, 24, F::rgba, DType::f32);
  const std::vector<void (*)(Convert&)> changes = {
      [](Convert& c) { c.crop = RegionF(1, 1, 20, 20); },
      [](Convert& c) { c.orientation = upside_down; },
      [](Convert& c) { c.flip = Flip::vertical; },
      [](Convert& c) { c.rotation = Rotation::cw90; },
      [](Convert& c) { c.fit = Fit::stretch; },
      [](Convert& c) { c.letterbox = LetterboxRule::ultralytics_val; },
      [](Convert& c) { c.place = plan_part; },
      [](Convert& c) { c.pad[1] = 7; },
      [](Convert& c) { c.filter = Filter::nearest; },
      [](Convert& c) { c.antialias = true; },
      [](Convert& c) { c.chroma = Chroma::bilinear; },
      [](Convert& c) { c.alpha = AlphaStep::premultiply; },
      [](Convert& c) { c.bgr = true; },
      [](Convert& c) { c.source_bits = 8; },
      [](Convert& c) { c.normalize.emplace().bias[0] = -0.5F; },
      [](Convert& c) {
        c.fit = Fit::stretch;
        c.affine = sheared;
      }};
  static_assert(std::tuple_size_v<image::RequestKey> == 16);
  EXPECT_EQ(changes.size(), 16U);
  image::PlanCache cache;
  cache.add(uncompiled(request_));
  const auto plain = converted();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Convert changed = request_;
    changes[i](changed);
    EXPECT_EQ(cache.find(changed, changed.src, changed.dst, ColorimetryMode::fast), nullptr) << i;
    EXPECT_NE(cache.find(request_, changed.src, changed.dst, ColorimetryMode::fast), nullptr) << i;
    // The pixels do not depend on earlier requests of the processor.
    ASSERT_TRUE(processor_.convert(changed));
    const auto pixels = bytes_of(changed.dst);
    Processor fresh = Processor::create({.threads = 1}).value();
    ASSERT_TRUE(fresh.convert(changed));
    EXPECT_EQ(bytes_of(changed.dst), pixels) << "change " << i;
    EXPECT_EQ(converted(), plain) << "change " << i;
  }
}

TEST_F(PlanTest, the_orientation_of_the_source_belongs_to_the_geometry) {
  const auto stored = converted();
  const ConvertPlan plan = processor_.plan(request_).value();
  request_.src.set_orientation({Flip::none, Rotation::cw180});
  const auto upright = converted();
  EXPECT_NE(stored, upright);
  EXPECT_FAILS(processor_.run(plan, request_.src, request_.dst),
               "src: its size, format, dtype, orientation");
  request_.orientation = Orientation{};
  EXPECT_EQ(converted(), stored);
  request_.orientation.reset();
  EXPECT_EQ(converted(), upright);
}

TEST_F(PlanTest, quantization_and_colorimetry_belong_to_the_geometry) {
  request_.dst = zero_image(24, 24, F::rgb, DType::i8);
  const auto plain = converted();
  ASSERT_TRUE(
      request_.dst.set_quantization(Quantization{{0.1F, 0.2F, 0.3F}, {1, 2, 3}, std::size_t{2}}));
  const auto one = converted();
  ASSERT_TRUE(
      request_.dst.set_quantization(Quantization{{0.1F, 0.2F, 0.3F}, {1, 2, 4}, std::size_t{2}}));
  const auto two = converted();
  EXPECT_NE(plain, one);
  EXPECT_NE(one, two);
  request_.src.set_colorimetry(Colorimetry::jpeg());
  EXPECT_NE(converted(), two);
}

TEST_F(PlanTest, the_least_recently_used_geometry_goes) {
  image::PlanCache cache;
  const auto compiled = [&](double x) {
    request_.crop = RegionF{x, 0, 4, 4};
    return uncompiled(request_);
  };
  const auto known = [&](double x) {
    request_.crop = RegionF{x, 0, 4, 4};
    return cache.find(request_, request_.src, request_.dst, ColorimetryMode::fast) != nullptr;
  };
  for (std::size_t i = 0; i < image::PlanCache::capacity; ++i)
    cache.add(compiled(static_cast<double>(i) / 8));
  EXPECT_TRUE(known(0));
  cache.add(compiled(20));
  EXPECT_TRUE(known(0));
  EXPECT_TRUE(known(20));
  EXPECT_FALSE(known(1.0 / 8));
  EXPECT_TRUE(known(2.0 / 8));
}

TEST_F(PlanTest, processors_on_several_threads_share_a_plan) {
  const auto wanted = converted();
  const ConvertPlan plan = processor_.plan(request_).value();
  std::array<Tensor, 4> out;
  on_threads(out.size(), [&plan, &out, src = request_.src](std::size_t k) {
    const Tensor dst = out[k] = zero_image(24, 24, F::rgb);
    Processor own = Processor::create({.threads = 2}).value();
    const ConvertPlan copy = plan;
    for (int i = 0; i < 50; ++i)
      ASSERT_TRUE(own.run(copy, src, dst));
  });
  for (const Tensor& dst : out)
    EXPECT_EQ(bytes_of(dst), wanted);
}

}  // namespace
}  // namespace halyard::test
