// SPDX-License-Identifier: Apache-2.0
// The front: which backend it chooses, and what it reports; bad_input_test.cpp: what it refuses.
#include <gtest/gtest.h>

#include "halyard/image.h"
#include "image/dispatch.h"
#include "image/processor_impl.h"
#include "images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class ProcessorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.src = random_image(random_, 32, 24, F::nv12);
    request_.dst = zero_image(16, 16, F::rgb);
  }
  Random random_{3};
  Processor processor_ = Processor::create().value();
  Convert request_;
};

TEST_F(ProcessorTest, converts_and_returns_the_placement) {
  request_.fit = Fit::letterbox;
  ASSERT_VALUE(const auto placed, processor_.convert(request_));
  EXPECT_EQ(placed.content(), (Region{0, 2, 16, 12}));
  EXPECT_EQ(placed.source(), (Size{32, 24}));
  const Point middle = placed.to_source(Point{8, 8});
  EXPECT_FLOAT_EQ(middle.x, 16);
  EXPECT_FLOAT_EQ(middle.y, 12);
}

TEST_F(ProcessorTest, reads_plain_destination_tensors_as_images) {
  request_.dst = Tensor::create(DType::f32, {1, 3, 16, 16}).value();
  ASSERT_TRUE(processor_.convert(request_));
  request_.dst = Tensor::create(DType::u8, {1, 16, 16, 3}).value();
  ASSERT_TRUE(processor_.convert(request_));
}

TEST_F(ProcessorTest, explains_who_runs_it_and_why_the_others_do_not) {
  ASSERT_VALUE(const auto report, processor_.explain(request_));
  EXPECT_EQ(report.find("opengl: "), 0U);
  EXPECT_NE(report.find("\ng2d: "), std::string::npos);
  EXPECT_NE(report.find("\ncpu: runs it"), std::string::npos);
  request_.crop = Region{0, 0, 0, 0};
  EXPECT_FAILS(processor_.explain(request_), Errc::invalid_argument);
}

TEST(Dispatch, a_forced_backend_must_be_there) {
  Environment env{.force_backend = "g2d"};
  EXPECT_FAILS(image::Dispatch::create({.threads = 1}, env), Errc::unsupported);
  env.force_backend = "cuda";
  EXPECT_FAILS(image::Dispatch::create({.threads = 1}, env), Errc::unsupported);
  env.force_backend = "cpu";
  EXPECT_TRUE(image::Dispatch::create({.threads = 1}, env));
  env.disable_cpu = true;
  EXPECT_TRUE(image::Dispatch::create({.threads = 1}, env)) << "what is forced is not switched off";
}

TEST(Dispatch, a_processor_reads_the_environment_when_it_is_made) {
  ::setenv("EDGEFIRST_FORCE_BACKEND", "cuda", 1);
  const auto refused = Processor::create();
  ::setenv("EDGEFIRST_FORCE_BACKEND", "cpu", 1);
  const auto forced = Processor::create();
  ::unsetenv("EDGEFIRST_FORCE_BACKEND");
  EXPECT_FAILS(refused, Errc::unsupported);
  EXPECT_TRUE(forced);
  EXPECT_TRUE(Processor::create());
}

TEST_F(ProcessorTest, without_any_backend_every_request_is_declined_with_reasons) {
  Environment env{.disable_gl = true, .disable_cpu = true};
  const auto dispatch = image::Dispatch::create({.threads = 1}, env).value();
  std::string report;
  const image::Plan plan = image::make_plan(request_).value();
  EXPECT_FALSE(dispatch.explain(plan, request_.src, request_.dst, report));
  EXPECT_NE(report.find("HALYARD_DISABLE_CPU"), std::string::npos);
  EXPECT_NE(report.find("HALYARD_DISABLE_GL"), std::string::npos);
}

TEST(ColorimetryModes, the_environment_overrules_options_and_setter) {
  using image::ModeSetting;
  Environment env;
  ModeSetting free = ModeSetting::create(ColorimetryMode::exact, env).value();
  EXPECT_EQ(free.mode(), ColorimetryMode::exact);
  free.set(ColorimetryMode::fast);
  EXPECT_EQ(free.mode(), ColorimetryMode::fast);
  env.colorimetry = "exact";
  ModeSetting pinned = ModeSetting::create(ColorimetryMode::fast, env).value();
  pinned.set(ColorimetryMode::fast);
  EXPECT_EQ(pinned.mode(), ColorimetryMode::exact);
  env.colorimetry = "fast";
  EXPECT_EQ(ModeSetting::create(ColorimetryMode::exact, env)->mode(), ColorimetryMode::fast);
  env.colorimetry = "best";
  const auto wrong = ModeSetting::create(ColorimetryMode::fast, env);
  EXPECT_FAILS(wrong, Errc::invalid_argument);
  EXPECT_EQ(wrong.error().message().find("HALYARD_COLORIMETRY: "), 0U);
}

TEST_F(ProcessorTest, the_mode_can_be_changed_between_calls) {
  if (environment().colorimetry) GTEST_SKIP() << "HALYARD_COLORIMETRY is set";
  request_.src = random_image(random_, 256, 256, F::nv24);
  request_.dst = zero_image(256, 256, F::rgb);
  const auto pixels = [&](ColorimetryMode mode) {
    processor_.set_colorimetry_mode(mode);
    EXPECT_EQ(processor_.colorimetry_mode(), mode);
    EXPECT_TRUE(processor_.convert(request_));
    return bytes_of(request_.dst);
  };
  const auto fast = pixels(ColorimetryMode::fast);
  const auto exact = pixels(ColorimetryMode::exact);
  EXPECT_EQ(pixels(ColorimetryMode::fast), fast);
  EXPECT_NE(fast, exact);
  Processor made = Processor::create({.colorimetry_mode = ColorimetryMode::exact}).value();
  EXPECT_EQ(made.colorimetry_mode(), ColorimetryMode::exact);
  ASSERT_TRUE(made.convert(request_));
  EXPECT_EQ(bytes_of(request_.dst), exact);
}

TEST_F(ProcessorTest, normalised_floats_are_the_affine_of_the_code) {
  request_.src = random_image(random_, 16, 16, F::rgb);
  request_.dst = Tensor::create(DType::f32, {3, 16, 16}).value();
  Normalize n{.scale = {0.0171F, 2.0F, -0.5F, 1}, .bias = {-2.1F, 0.25F, 7, 0}};
  request_.normalize = n;
  ASSERT_TRUE(processor_.convert(request_));
  const Tensor image = request_.dst.as_image().value();
  for (std::size_t k = 0; k < 3; ++k) {
    for (int i = 0; i < 256; ++i) {
      const double exact =
          code_at(request_.src, k, i % 16, i / 16) * static_cast<double>(n.scale[k]) +
          static_cast<double>(n.bias[k]);
      EXPECT_NEAR(float_at(image, k, i % 16, i / 16), exact, 1e-6 * (1 + std::abs(exact)));
    }
  }
}

TEST_F(ProcessorTest, quantized_destinations_store_by_their_quantization) {
  request_.src = random_image(random_, 16, 16, F::rgba);
  request_.dst = zero_image(16, 16, F::rgba, DType::i8);
  ASSERT_TRUE(request_.dst.set_quantization(Quantization::per_tensor(1.0F / 255, -128)));
  ASSERT_TRUE(processor_.convert(request_));
  EXPECT_EQ(code_at(request_.dst, 0, 3, 3), code_at(request_.src, 0, 3, 3) ^ 0x80);
  EXPECT_EQ(code_at(request_.dst, 3, 3, 3), code_at(request_.src, 3, 3, 3));
  ASSERT_TRUE(request_.dst.set_quantization(Quantization::per_tensor(0.02F, 3)));
  ASSERT_TRUE(processor_.convert(request_));
  for (int x = 0; x < 16; ++x) {
    const double want = std::nearbyint(code_at(request_.src, 1, x, 2) / 255.0 / 0.02) + 3;
    EXPECT_NEAR(static_cast<std::int8_t>(code_at(request_.dst, 1, x, 2)), want, 1e-9);
  }
}

}  // namespace
}  // namespace halyard::test
