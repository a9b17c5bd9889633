// SPDX-License-Identifier: Apache-2.0
// Drivers that fail while they draw: the CPU draws on the old pixels, or the error is told; no
// shape is drawn twice.
#ifdef HALYARD_HAVE_GL
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include "decode/mask/mask_frames.h"
#include "draw/gl/gl_draw_fixture.h"
#include "halyard/mask_draw.h"

namespace halyard::test {
namespace {

/// Puts a function in the place of one of libepoxy's until the end of the block.
template <class Function>
class Exchanged {
 public:
  Exchanged(Function& place, Function other) : place_(place), real_(place) { place = other; }
  Exchanged(const Exchanged&) = delete;
  Exchanged& operator=(const Exchanged&) = delete;
  ~Exchanged() { place_ = real_; }

 private:
  Function& place_;
  Function real_;
};

// The error that glGetError() tells next, once enough draws were made.
std::atomic<GLenum> coming_error{GL_NO_ERROR};
std::atomic<int> draws_left{0};
PFNGLGETERRORPROC true_get_error = nullptr;
PFNGLDRAWARRAYSPROC true_draw_arrays = nullptr;
PFNGLREADPIXELSPROC true_read_pixels = nullptr;

GLenum GLAPIENTRY fail_late() {
  if (draws_left.load() <= 0 && coming_error.load() != GL_NO_ERROR)
    return coming_error.exchange(GL_NO_ERROR);
  return true_get_error();
}
void GLAPIENTRY count_draw(GLenum mode, GLint first, GLsizei count) {
  --draws_left;
  true_draw_arrays(mode, first, count);
}
void GLAPIENTRY count_read(GLint x, GLint y, GLsizei width, GLsizei height, GLenum format,
                           GLenum type, void* pixels) {
  draws_left = 0;
  true_read_pixels(x, y, width, height, format, type, pixels);
}

class GlDrawFault : public GlDrawing {
 protected:
  void SetUp() override {
    GlDrawing::SetUp();
    if (worker_ == nullptr) return;
    frame_ = random_frame<std::int8_t, std::int8_t>(4, {.masks = 2});
    Tensor image = start(Memory::mem);
    // The first call of each finds its function.
    ASSERT_OK(draw(MaskPainter(ComputeBackend::opengl), image));
    true_get_error = epoxy_glGetError;
    true_draw_arrays = epoxy_glDrawArrays;
    true_read_pixels = epoxy_glReadPixels;
  }
  static Tensor start(Memory memory) {
    return in_memory(noise_image({96, 64}, PixelFormat::nv12, 12), memory);
  }
  Status draw(MaskPainter&& painter, Tensor& image) { return draw(painter, image); }
  Status draw(MaskPainter& painter, Tensor& image) {
    return painter.draw(image, frame_.prototypes, frame_.detections);
  }
  Planes by_cpu() {
    Tensor image = start(Memory::mem);
    EXPECT_OK(draw(MaskPainter(ComputeBackend::cpu), image));
    return planes_of(image);
  }
  /// Draws while the GPU fails with `error` after `draws` draws.
  Status draw_with(GLenum error, MaskPainter& painter, Tensor& image, int draws = 2) {
    draws_left = draws;
    coming_error = error;
    const Exchanged errors(epoxy_glGetError, fail_late);
    const Exchanged counted(epoxy_glDrawArrays, count_draw);
    Status out = draw(painter, image);
    EXPECT_EQ(coming_error.load(), GLenum{GL_NO_ERROR}) << "the error was not asked for";
    coming_error = GL_NO_ERROR;
    return out;
  }
  std::vector<Memory> memories() const {
    std::vector<Memory> out{Memory::mem, Memory::pbo};
    if (imports()) out.push_back(Memory::dma);
    return out;
  }

  MaskFrame frame_;
};

TEST_F(GlDrawFault, the_cpu_draws_on_the_old_pixels) {
  const Planes want = by_cpu();
  for (const Memory memory : memories()) {
    for (const int draws : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << to_string(memory) << " " << draws);
      MaskPainter painter(ComputeBackend::opengl);
      Tensor image = start(memory);
      ASSERT_OK(draw_with(GL_INVALID_OPERATION, painter, image, draws));
      EXPECT_EQ(differences(planes_of(image), want), 0U);
      EXPECT_EQ(painter.fallback_count(), 1U);
      const std::string report = painter.explain(image).value();
      EXPECT_NE(report.find("not used any more, because it failed"), std::string::npos) << report;
      EXPECT_NE(report.find("0x502"), std::string::npos) << report;
      // The CPU draws from then on.
      Tensor next = start(memory);
      ASSERT_OK(draw(painter, next));
      EXPECT_EQ(differences(planes_of(next), want), 0U);
      EXPECT_EQ(painter.fallback_count(), 1U);
    }
  }
}

TEST_F(GlDrawFault, without_memory_the_cpu_draws_this_image_alone) {
  MaskPainter painter(ComputeBackend::opengl);
  Tensor image = start(Memory::mem);
  ASSERT_OK(draw_with(GL_OUT_OF_MEMORY, painter, image));
  EXPECT_EQ(differences(planes_of(image), by_cpu()), 0U);
  EXPECT_EQ(painter.fallback_count(), 1U);
  take();
  ASSERT_OK(draw(painter, image));
  EXPECT_EQ(take().copies, 1U);
}

TEST_F(GlDrawFault, a_forced_backend_tells_the_error) {
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  for (const Memory memory : memories()) {
    SCOPED_TRACE(to_string(memory));
    MaskPainter painter;
    Tensor image = start(memory);
    const Planes old = planes_of(image);
    EXPECT_FAILS(draw_with(GL_INVALID_OPERATION, painter, image), Errc::device, "error 0x502");
    EXPECT_EQ(differences(planes_of(image), old), 0U);
    EXPECT_EQ(painter.fallback_count(), 0U);
    EXPECT_OK(draw(painter, image));
  }
}

TEST_F(GlDrawFault, a_lost_context_is_replaced_by_another) {
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  MaskPainter painter;
  Tensor image = start(Memory::mem);
  EXPECT_FAILS(draw_with(GL_CONTEXT_LOST, painter, image), Errc::device, "context is lost");
  EXPECT_TRUE(worker_->is_lost());
  EXPECT_OK(draw(painter, image));
  EXPECT_LE(difference(planes_of(image), by_cpu()).largest, 2);
  EXPECT_NE(any_worker(), worker_);
}

TEST_F(GlDrawFault, pixels_that_cannot_be_put_back_are_an_error) {
  if (!imports()) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  MaskPainter painter(ComputeBackend::opengl);
  Tensor image = start(Memory::dma);
  EXPECT_FAILS(draw_with(GL_CONTEXT_LOST, painter, image), Errc::device, "context is lost");
  EXPECT_EQ(painter.fallback_count(), 0U);
}

TEST_F(GlDrawFault, a_failing_read_back_changes_no_copied_image) {
  constexpr int never = 1000;
  const Exchanged reads(epoxy_glReadPixels, count_read);
  MaskPainter painter(ComputeBackend::opengl);
  Tensor image = start(Memory::mem);
  ASSERT_OK(draw_with(GL_INVALID_OPERATION, painter, image, never));
  EXPECT_EQ(differences(planes_of(image), by_cpu()), 0U);
  EXPECT_EQ(painter.fallback_count(), 1U);
  // OpenGL itself writes pixel buffers, and may have done so.
  MaskPainter other(ComputeBackend::opengl);
  Tensor buffer = start(Memory::pbo);
  EXPECT_FAILS(draw_with(GL_INVALID_OPERATION, other, buffer, never), Errc::device, "0x502");
  EXPECT_EQ(other.fallback_count(), 0U);
}

TEST_F(GlDrawFault, an_overlay_draws_each_shape_once) {
  OverlayOptions options{.backend = ComputeBackend::opengl};
  auto overlay = Overlay::create(options);
  if (!overlay) GTEST_SKIP() << overlay.error().message();
  const std::vector<Track> tracks{{1, {11, 11, 60, 41}, 0.9F, 0, 0, 1, {}, {}}};
  Tensor image = start(Memory::mem);
  draws_left = 1;
  coming_error = GL_INVALID_OPERATION;
  {
    const Exchanged errors(epoxy_glGetError, fail_late);
    const Exchanged counted(epoxy_glDrawArrays, count_draw);
    ASSERT_OK(overlay->draw(image, tracks));
  }
  EXPECT_EQ(overlay->fallback_count(), 1U);
  Tensor same = start(Memory::mem);
  options.backend = ComputeBackend::cpu;
  ASSERT_OK(Overlay::create(options)->draw(same, tracks));
  EXPECT_EQ(differences(planes_of(image), planes_of(same)), 0U);
}

TEST_F(GlDrawFault, errors_that_others_left_are_not_a_drawings) {
  ASSERT_OK(worker_->run([]() -> Status {
    glEnable(0xFFFF);
    return {};
  }));
  MaskPainter painter(ComputeBackend::opengl);
  Tensor image = start(Memory::mem);
  ASSERT_OK(draw(painter, image));
  EXPECT_EQ(painter.fallback_count(), 0U);
}

}  // namespace
}  // namespace halyard::test
#endif
