// SPDX-License-Identifier: Apache-2.0
// Drivers that fail while they work: no memory, a lost context, a lost mapping. Another backend
// does the work, or the error is told; pixels are never wrong, and nothing is left behind.
#ifdef HALYARD_HAVE_GL
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "gl/replaced.h"
#include "gl/worker.h"
#include "image/differential.h"
#include "image/gl/gl_objects.h"
#include "image/images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

// Errors that glGetError() tells next, once the GPU has drawn.
std::atomic<GLenum> next_error{GL_NO_ERROR};
std::atomic<bool> has_drawn{false};
PFNGLGETERRORPROC real_get_error = nullptr;
PFNGLDRAWARRAYSPROC real_draw_arrays = nullptr;
PFNGLMAPBUFFERRANGEPROC real_map_buffer_range = nullptr;

GLenum GLAPIENTRY get_error() {
  if (has_drawn.load() && next_error.load() != GL_NO_ERROR) return next_error.exchange(GL_NO_ERROR);
  return real_get_error();
}
void GLAPIENTRY draw_arrays(GLenum mode, GLint first, GLsizei count) {
  has_drawn = true;
  real_draw_arrays(mode, first, count);
}
void* GLAPIENTRY map_nothing(GLenum, GLintptr, GLsizeiptr, GLbitfield) {
  return nullptr;
}

class GlFault : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    // The first call of each finds its function.
    ASSERT_OK(Processor::create({.backend = ComputeBackend::opengl}).value().convert(request()));
    real_get_error = epoxy_glGetError;
    real_draw_arrays = epoxy_glDrawArrays;
    real_map_buffer_range = epoxy_glMapBufferRange;
  }
  void TearDown() override {
    for (const char* name :
         {"HALYARD_FORCE_TRANSFER", "HALYARD_FORCE_BACKEND", "HALYARD_ALLOW_SOFTWARE_GL"})
      ::unsetenv(name);
  }
  Convert request() {
    return {.src = random_image(random_, 38, 26, F::nv12), .dst = zero_image(22, 30, F::rgb)};
  }
  static std::vector<std::byte> by_cpu(Convert c) {
    c.dst = zero_image(c.dst.size(), F::rgb);
    Processor cpu = Processor::create({.backend = ComputeBackend::cpu}).value();
    EXPECT_OK(cpu.convert(c));
    return bytes_of(c.dst);
  }
  /// Converts while the GPU fails with `error`.
  static Result<Placement> convert_with(GLenum error, Processor& processor, const Convert& c) {
    has_drawn = false;
    next_error = error;
    const Replaced errors(epoxy_glGetError, get_error);
    const Replaced draws(epoxy_glDrawArrays, draw_arrays);
    return processor.convert(c);
  }

  std::shared_ptr<gl::Worker> worker_;
  Random random_{3};
};

TEST_F(GlFault, without_memory_the_cpu_does_this_request_alone) {
  Processor processor = Processor::create({.backend = ComputeBackend::opengl}).value();
  const Convert c = request();
  EXPECT_OK(convert_with(GL_OUT_OF_MEMORY, processor, c));
  EXPECT_EQ(bytes_of(c.dst), by_cpu(c));
  EXPECT_EQ(processor.fallback_count(), 1U);
  EXPECT_EQ(processor.plan(request())->backend(), "opengl");
}

TEST_F(GlFault, after_an_error_of_the_device_the_cpu_does_all) {
  Processor processor = Processor::create({.backend = ComputeBackend::opengl}).value();
  const Convert c = request();
  EXPECT_OK(convert_with(GL_INVALID_OPERATION, processor, c));
  EXPECT_EQ(bytes_of(c.dst), by_cpu(c));
  EXPECT_EQ(processor.fallback_count(), 1U);
  EXPECT_EQ(processor.plan(c)->backend(), "cpu");
  const std::string report = processor.explain(c).value();
  EXPECT_NE(report.find("opengl: not used any more, because it failed"), std::string::npos);
  EXPECT_NE(report.find("0x502"), std::string::npos) << report;
  EXPECT_OK(processor.convert(request()));
  EXPECT_EQ(processor.fallback_count(), 1U);
}

TEST_F(GlFault, a_queue_is_done_again_as_a_whole) {
  Processor processor = Processor::create({.backend = ComputeBackend::opengl}).value();
  std::vector<Convert> queue;
  for (int i = 0; i < 4; ++i)
    queue.push_back(request());
  for (const Convert& c : queue)
    ASSERT_OK(processor.convert_deferred(c));
  has_drawn = false;
  next_error = GL_INVALID_OPERATION;
  {
    const Replaced errors(epoxy_glGetError, get_error);
    const Replaced draws(epoxy_glDrawArrays, draw_arrays);
    ASSERT_OK(processor.flush());
  }
  for (const Convert& c : queue)
    EXPECT_EQ(bytes_of(c.dst), by_cpu(c));
  EXPECT_EQ(processor.fallback_count(), 4U);
}

TEST_F(GlFault, requests_that_were_queued_before_the_failure_run_elsewhere) {
  Processor processor = Processor::create({.backend = ComputeBackend::opengl}).value();
  const Convert queued = request();
  ASSERT_OK(processor.convert_deferred(queued));
  ASSERT_OK(convert_with(GL_INVALID_OPERATION, processor, request()));
  ASSERT_OK(processor.flush());
  EXPECT_EQ(bytes_of(queued.dst), by_cpu(queued));
}

TEST_F(GlFault, a_forced_backend_tells_the_error) {
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  Processor processor = Processor::create().value();
  const Convert c = request();
  EXPECT_FAILS(convert_with(GL_INVALID_OPERATION, processor, c), Errc::device, "error 0x502");
  EXPECT_FAILS(convert_with(GL_OUT_OF_MEMORY, processor, c), Errc::no_memory, "error 0x505");
  Judge judge;
  EXPECT_TRUE(judge.compare(c));
}

TEST_F(GlFault, a_lost_context_is_replaced_by_another) {
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  Processor processor = Processor::create().value();
  const Convert c = request();
  EXPECT_FAILS(convert_with(GL_CONTEXT_LOST, processor, c), Errc::device, "context is lost");
  EXPECT_TRUE(worker_->is_lost());
  EXPECT_OK(processor.convert(c));
  EXPECT_NE(any_worker(), worker_);
  EXPECT_FALSE(any_worker()->is_lost());
  Judge judge;
  EXPECT_TRUE(judge.compare(request()));
}

TEST_F(GlFault, a_result_that_cannot_be_mapped_is_an_error) {
  ::setenv("HALYARD_FORCE_TRANSFER", "pbo", 1);
  Processor processor = Processor::create({.backend = ComputeBackend::opengl}).value();
  const Convert c = request();
  {
    const Replaced maps(epoxy_glMapBufferRange, map_nothing);
    EXPECT_OK(processor.convert(c));
  }
  EXPECT_EQ(bytes_of(c.dst), by_cpu(c));
  EXPECT_EQ(processor.fallback_count(), 1U);
}

TEST_F(GlFault, errors_that_others_left_are_not_a_conversions) {
  Processor processor = Processor::create({.backend = ComputeBackend::opengl}).value();
  ASSERT_OK(worker_->run([]() -> Status {
    glEnable(0xFFFF);
    return {};
  }));
  EXPECT_OK(processor.convert(request()));
  EXPECT_EQ(processor.fallback_count(), 0U);
}

}  // namespace
}  // namespace halyard::test
#endif
