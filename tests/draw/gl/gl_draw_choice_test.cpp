// SPDX-License-Identifier: Apache-2.0
// When OpenGL draws, and why it does not; what is kept from image to image; bad input.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include "decode/mask/mask_frames.h"
#include "draw/gl/coverage_atlas.h"
#include "draw/gl/draw_programs.h"
#include "draw/gl/gl_draw_fixture.h"
#include "gl/memory/dma_image.h"
#include "halyard/mask_draw.h"
#include "image/gl/gl_objects.h"
#include "support/allocations.h"

namespace halyard::test {
namespace {

class GlDrawChoice : public GlDrawing {
 protected:
  static Tensor image(Memory memory = Memory::mem, PixelFormat format = PixelFormat::rgb) {
    return in_memory(noise_image({96, 64}, format, 12), memory);
  }
  static std::string explained(const Tensor& image,
                               ComputeBackend backend = ComputeBackend::automatic) {
    const auto report = MaskPainter(backend).explain(image);
    return report ? *report : report.error().message();
  }
};

TEST_F(GlDrawChoice, a_renderer_on_the_cpu_is_not_chosen_by_itself) {
  if (!worker_->capabilities().is_software) GTEST_SKIP() << "this is a GPU";
  EXPECT_EQ(explained(image()),
            "opengl: copies of images in CPU memory take longer than the CPU's work\ncpu: draws");
  EXPECT_EQ(explained(image(Memory::pbo)),
            "opengl: its renderer runs on the CPU, which does the work faster itself\ncpu: draws");
}

TEST_F(GlDrawChoice, a_named_backend_draws_in_every_memory) {
  EXPECT_EQ(explained(image(), ComputeBackend::opengl), "opengl: draws (copied)");
  EXPECT_EQ(explained(image(Memory::pbo), ComputeBackend::opengl), "opengl: draws (pixel buffer)");
  if (imports()) {
    EXPECT_EQ(explained(image(Memory::dma), ComputeBackend::opengl), "opengl: draws (imported)");
  }
  for (const ComputeBackend other : {ComputeBackend::cpu, ComputeBackend::g2d})
    EXPECT_EQ(explained(image(), other), "opengl: the options name another backend\ncpu: draws");
}

TEST_F(GlDrawChoice, variables_choose_unless_the_options_do) {
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  EXPECT_EQ(explained(image()), "opengl: draws (copied)");
  EXPECT_EQ(explained(image(), ComputeBackend::cpu),
            "opengl: the options name another backend\ncpu: draws");
  ::setenv("HALYARD_FORCE_BACKEND", "cpu", 1);
  EXPECT_EQ(explained(image()), "opengl: HALYARD_FORCE_BACKEND names another backend\ncpu: draws");
  EXPECT_EQ(explained(image(), ComputeBackend::opengl), "opengl: draws (copied)");
  ::unsetenv("HALYARD_FORCE_BACKEND");
  ::setenv("HALYARD_DISABLE_GL", "1", 1);
  EXPECT_EQ(explained(image()), "opengl: switched off by HALYARD_DISABLE_GL\ncpu: draws");
  EXPECT_EQ(explained(image(), ComputeBackend::opengl), "opengl: draws (copied)");
}

TEST_F(GlDrawChoice, an_absent_backend_that_is_named_is_an_error) {
  ::setenv("HALYARD_FORCE_TRANSFER", "magic", 1);
  Tensor target = image();
  const auto painted = [&](ComputeBackend backend) {
    MaskSet none;
    return MaskPainter(backend).draw(target, none, {});
  };
  EXPECT_FAILS(painted(ComputeBackend::opengl), Errc::unsupported, "HALYARD_FORCE_TRANSFER");
  EXPECT_FAILS(Overlay::create({.backend = ComputeBackend::opengl}), "");
  EXPECT_OK(painted(ComputeBackend::automatic));
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  EXPECT_FAILS(painted(ComputeBackend::automatic), Errc::unsupported,
               "HALYARD_FORCE_BACKEND: must name an available backend");
  ::setenv("HALYARD_FORCE_BACKEND", "abacus", 1);
  EXPECT_FAILS(painted(ComputeBackend::automatic), Errc::unsupported, "abacus");
}

TEST_F(GlDrawChoice, images_larger_than_a_texture_are_the_cpus) {
  const auto wide = static_cast<std::size_t>(worker_->capabilities().max_texture_size) / 3 + 1;
  Tensor target = Tensor::create_image(wide, 4, PixelFormat::rgb, DType::u8, Memory::mem).value();
  EXPECT_EQ(explained(target, ComputeBackend::opengl),
            "opengl: the image is larger than the GPU's largest texture\ncpu: draws");
  Tensor ids = Tensor::create(DType::u8, std::array{std::size_t{4}, wide}, Memory::mem).value();
  take();
  EXPECT_OK(MaskPainter(ComputeBackend::opengl).draw(target, ids));
  EXPECT_EQ(take().copies, 0U);
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  EXPECT_FAILS(MaskPainter().draw(target, ids), Errc::unsupported, "largest texture");
}

TEST_F(GlDrawChoice, bad_input_is_refused_as_by_the_cpu) {
  MaskPainter painter(ComputeBackend::opengl);
  const MaskFrame frame = random_frame<float, float>(3, {});
  Tensor yuyv = Tensor::create_image(32, 32, PixelFormat::yuyv, DType::u8, Memory::mem).value();
  EXPECT_FAILS(painter.draw(yuyv, frame.prototypes, frame.detections), Errc::unsupported, "format");
  EXPECT_FAILS(painter.explain(yuyv), Errc::unsupported, "format");
  Tensor target = image();
  EXPECT_FAILS(painter.draw(target, frame.prototypes, {}), Errc::invalid_argument, "coefficients");
  EXPECT_FAILS(painter.draw(target, frame.prototypes, frame.detections, {.opacity = 2}),
               Errc::invalid_argument, "opacity");
  const Tensor ids =
      Tensor::create(DType::u8, std::array<std::size_t, 2>{9, 9}, Memory::mem).value();
  EXPECT_FAILS(painter.draw(target, ids), Errc::invalid_argument, "class_map");
}

TEST_F(GlDrawChoice, a_mapped_pixel_buffer_is_busy) {
  Tensor target = image(Memory::pbo);
  const MaskFrame frame = random_frame<float, float>(3, {});
  MaskPainter painter(ComputeBackend::opengl);
  {
    const auto map = target.map(Access::read).value();
    EXPECT_FAILS(painter.draw(target, frame.prototypes, frame.detections), Errc::busy, "");
  }
  EXPECT_OK(painter.draw(target, frame.prototypes, frame.detections));
  EXPECT_OK(target.map(Access::read_write));
}

TEST_F(GlDrawChoice, prototypes_that_no_texture_can_hold_are_the_cpus) {
  MaskFrame frame = random_frame<float, float>(3, {.channels = 5000, .masks = 1});
  Tensor target = image();
  take();
  EXPECT_OK(MaskPainter(ComputeBackend::opengl).draw(target, frame.prototypes, frame.detections));
  EXPECT_EQ(take().copies, 0U);
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  EXPECT_FAILS(MaskPainter().draw(target, frame.prototypes, frame.detections), Errc::unsupported,
               "4096 coefficients");
}

TEST_F(GlDrawChoice, a_buffer_that_cannot_be_imported_is_copied) {
  if (!imports()) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  const auto buffer = DmaStandIn::create(std::size_t{96} * 64 * 4, 4096);
  const Tensor::PlaneSource whole{buffer, 0, 96 * 4};
  Tensor target = Tensor::wrap_image({&whole, 1}, 96, 64, PixelFormat::rgba).value();
  Tensor same = image(Memory::mem, PixelFormat::rgba);
  ASSERT_OK(copy(same, target));
  const MaskFrame frame = random_frame<std::int8_t, std::int8_t>(3, {.masks = 2});
  MaskPainter painter(ComputeBackend::opengl);
  take();
  ASSERT_OK(painter.draw(target, frame.prototypes, frame.detections));
  EXPECT_EQ(take().copies, 1U);
  ASSERT_OK(MaskPainter(ComputeBackend::cpu).draw(same, frame.prototypes, frame.detections));
  EXPECT_LE(difference(planes_of(target), planes_of(same)).largest, 2);
  EXPECT_EQ(painter.explain(target).value(), "opengl: draws (copied)");
  // What drawing cannot use, conversions may.
  EXPECT_TRUE(gl::DmaImages::has_refused(*buffer, *worker_, gl::DmaUse::draw));
  EXPECT_FALSE(gl::DmaImages::has_refused(*buffer, *worker_));
}

TEST_F(GlDrawChoice, nothing_is_made_in_the_steady_state) {
  const MaskFrame frame = random_frame<std::int8_t, std::int8_t>(3, {.masks = 2});
  std::vector<Tensor> images{image(), image(Memory::pbo, PixelFormat::nv12)};
  if (imports()) images.push_back(image(Memory::dma, PixelFormat::nv12));
  MaskPainter painter(ComputeBackend::opengl);
  auto overlay = Overlay::create({.backend = ComputeBackend::opengl});
  const auto masks = [&] {
    for (Tensor& each : images)
      EXPECT_TRUE(painter.draw(each, frame.prototypes, frame.detections));
  };
  const auto boxes = [&] {
    for (Tensor& each : images) {
      EXPECT_TRUE(!overlay || overlay->draw(each, frame.detections));
    }
  };
  masks();
  boxes();
  const std::uint64_t programs = draw::made_draw_programs();
  const std::uint64_t glyphs = draw::coverage_uploads();
  const std::uint64_t imported = gl::dma_image_imports();
  EXPECT_EQ(allocations_of(masks), 0U);
  for (int i = 0; i < 20; ++i)
    boxes();
  EXPECT_EQ(draw::made_draw_programs(), programs);
  EXPECT_EQ(draw::coverage_uploads(), glyphs);
  EXPECT_EQ(gl::dma_image_imports(), imported);
}

TEST_F(GlDrawChoice, a_conversion_after_a_drawing_is_right) {
  Tensor target = image(Memory::pbo, PixelFormat::rgba);
  const MaskFrame frame = random_frame<float, float>(3, {});
  ASSERT_OK(MaskPainter(ComputeBackend::opengl).draw(target, frame.prototypes, frame.detections));
  Tensor by_gl = image(Memory::mem, PixelFormat::rgba);
  Tensor by_cpu = image(Memory::mem, PixelFormat::rgba);
  const Tensor source = noise_image({96, 64}, PixelFormat::rgba, 77);
  ASSERT_OK(Processor::create({.backend = ComputeBackend::opengl})
                ->convert({.src = source, .dst = by_gl}));
  ASSERT_OK(
      Processor::create({.backend = ComputeBackend::cpu})->convert({.src = source, .dst = by_cpu}));
  EXPECT_LE(difference(planes_of(by_gl), planes_of(by_cpu)).largest, 1);
}

}  // namespace
}  // namespace halyard::test
#endif
