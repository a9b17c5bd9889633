// SPDX-License-Identifier: Apache-2.0
// Conversions that end behind a sync file, and that wait for one, on OpenGL. Drivers with fences as
// descriptors give and take them; with others the CPU waits.
#ifdef HALYARD_HAVE_GL
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "gl/dma_memory.h"
#include "gl/replaced.h"
#include "gl/worker.h"
#include "halyard/dmabuf.h"
#include "image/images.h"
#include "support/descriptors.h"
#include "support/result.h"
#include "support/timeline.h"

namespace halyard::test {
namespace {

using F = PixelFormat;
using namespace std::chrono_literals;

class GlFence : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    gl_.emplace(Processor::create({.backend = ComputeBackend::opengl}).value());
    request_.src = random_image(random_, 38, 26, F::nv12);
    request_.dst = plain_image(32, 30, F::rgb);
    want_ = by_cpu();
  }
  void TearDown() override { ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL"); }
  std::vector<std::byte> by_cpu() {
    Convert c = request_;
    c.dst = zero_image(32, 30, F::rgb);
    Processor cpu = Processor::create({.backend = ComputeBackend::cpu}).value();
    EXPECT_OK(cpu.convert(c));
    return bytes_of(c.dst);
  }
  /// Moves both images to DMA-BUFs. False: this driver does not import them.
  bool use_dma() {
    if (!worker_->capabilities().dma_buf_import) return false;
    Tensor src = make_dma_image(38, 26, F::nv12);
    EXPECT_OK(copy(request_.src, src));
    request_.src = src;
    request_.dst = make_dma_image(32, 30, F::rgb);
    return true;
  }
  bool has_native_fences() const { return worker_->capabilities().native_fences; }
  bool is_written() const {
    Tensor plain = zero_image(32, 30, F::rgb);
    EXPECT_OK(copy(request_.dst, plain));
    return greatest_difference(want_, bytes_of(plain)) <= 1;
  }
  static int greatest_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    int out = a.size() == b.size() ? 0 : 256;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      out = std::max(out, std::abs(static_cast<int>(a[i]) - static_cast<int>(b[i])));
    return out;
  }
  /// An empty one has signalled.
  static void expect_signal(const Fd& fence) {
    if (!fence) return;
    EXPECT_OK(wait_sync_file(fence.get(), 30s));
  }
  /// Converts behind `fence`, which `signal` signals; nothing may be written before.
  void expect_order(const Fd& fence, const std::function<void()>& signal) {
    const auto untouched = bytes_of(request_.dst);
    std::atomic<bool> has_ended{false};
    std::thread converter([&] {
      const auto result = gl_->convert_with_fence(request_, fence.get());
      EXPECT_OK(result);
      if (result) expect_signal(result->done);
      has_ended = true;
    });
    std::this_thread::sleep_for(30ms);
    EXPECT_FALSE(has_ended);
    EXPECT_EQ(bytes_of(request_.dst), untouched);
    signal();
    converter.join();
    EXPECT_TRUE(is_written());
  }

  std::shared_ptr<gl::Worker> worker_;
  std::optional<Processor> gl_;
  Random random_{9};
  Convert request_;
  std::vector<std::byte> want_;
};

TEST_F(GlFence, a_dma_buf_is_written_once_the_fence_signals) {
  if (!use_dma()) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  const auto result = gl_->convert_with_fence(request_);
  ASSERT_OK(result);
  EXPECT_EQ(static_cast<bool>(result->done), has_native_fences());
  expect_signal(result->done);
  EXPECT_TRUE(is_written());
  EXPECT_EQ(gl_->fallback_count(), 0U);
}

TEST_F(GlFence, a_pixel_buffer_is_written_once_the_fence_signals) {
  request_.dst =
      Tensor::create_image(32, 30, F::rgb, {.dtype = DType::u8, .memory = Memory::pbo}).value();
  const auto result = gl_->convert_with_fence(request_);
  ASSERT_OK(result);
  EXPECT_EQ(static_cast<bool>(result->done), has_native_fences());
  EXPECT_TRUE(is_written()) << "a map waits by itself";
}

TEST_F(GlFence, memory_of_the_cpu_is_written_at_once) {
  const auto result = gl_->convert_with_fence(request_);
  ASSERT_OK(result);
  EXPECT_FALSE(result->done);
  EXPECT_TRUE(is_written());
}

TEST_F(GlFence, descriptors_that_opengl_does_not_know_are_waited_for) {
  const Fd event(::eventfd(0, EFD_CLOEXEC));
  expect_order(event, [&] { ::eventfd_write(event.get(), 1); });
  if (!use_dma()) return;
  const Fd other(::eventfd(0, EFD_CLOEXEC));
  expect_order(other, [&] { ::eventfd_write(other.get(), 1); });
}

TEST_F(GlFence, sync_files_are_waited_for) {
  const Timeline timeline;
  if (!timeline) GTEST_SKIP() << "no " << Timeline::node;
  expect_order(timeline.fence(1), [&] { ASSERT_TRUE(timeline.advance()); });
  if (!use_dma()) return;
  expect_order(timeline.fence(2), [&] { ASSERT_TRUE(timeline.advance()); });
}

TEST_F(GlFence, a_chain_of_processors_passes_fences_on) {
  if (!use_dma()) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  Processor second = Processor::create({.backend = ComputeBackend::opengl}).value();
  const Tensor mirrored = make_dma_image(32, 30, F::rgb);
  Convert next{.src = request_.dst, .dst = mirrored, .flip = Flip::horizontal};
  const auto first = gl_->convert_with_fence(request_);
  ASSERT_OK(first);
  const auto result = second.convert_with_fence(next, first->done.get());
  ASSERT_OK(result);
  expect_signal(result->done);
  Convert back{.src = mirrored, .dst = zero_image(32, 30, F::rgb), .flip = Flip::horizontal};
  ASSERT_OK(Processor::create({.backend = ComputeBackend::cpu}).value().convert(back));
  EXPECT_LE(greatest_difference(bytes_of(back.dst), want_), 1);
}

TEST_F(GlFence, a_wrong_descriptor_is_refused_before_anything_is_written) {
  const auto untouched = bytes_of(request_.dst);
  EXPECT_FAILS(gl_->convert_with_fence(request_, 1 << 20), Errc::invalid_argument);
  EXPECT_EQ(bytes_of(request_.dst), untouched);
  EXPECT_OK(gl_->convert(request_)) << "the next request does not wait for it";
}

EGLSyncKHR EGLAPIENTRY make_no_sync(EGLDisplay, EGLenum, const EGLint*) {
  return EGL_NO_SYNC_KHR;
}

TEST_F(GlFence, a_driver_that_makes_no_fence_is_waited_for) {
  if (!use_dma()) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  const auto real = epoxy_eglCreateSyncKHR;
  epoxy_eglCreateSyncKHR = make_no_sync;
  const auto result = gl_->convert_with_fence(request_);
  epoxy_eglCreateSyncKHR = real;
  ASSERT_OK(result);
  EXPECT_FALSE(result->done);
  EXPECT_TRUE(is_written());
}

// An error that is found after the frame's fence was made.
std::atomic<bool> has_late_error{false};
PFNGLFLUSHPROC real_flush = nullptr;
PFNGLGETERRORPROC known_get_error = nullptr;

void GLAPIENTRY flush_with_error() {
  real_flush();
  has_late_error = true;
}
GLenum GLAPIENTRY get_late_error() {
  return has_late_error.exchange(false) ? GLenum{GL_INVALID_OPERATION} : known_get_error();
}

TEST_F(GlFence, a_frame_that_fails_behind_its_fence_is_the_work_of_the_cpu) {
  if (!use_dma()) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  if (!has_native_fences()) GTEST_SKIP() << "this driver makes no fences of their own";
  const auto before = gl_->convert_with_fence(request_);
  ASSERT_OK(before);
  expect_signal(before->done);
  real_flush = epoxy_glFlush;
  known_get_error = epoxy_glGetError;
  {
    const Replaced flushes(epoxy_glFlush, flush_with_error);
    const Replaced errors(epoxy_glGetError, get_late_error);
    const auto result = gl_->convert_with_fence(request_);
    ASSERT_OK(result);
    EXPECT_FALSE(result->done);
  }
  EXPECT_EQ(gl_->fallback_count(), 1U);
  Tensor plain = zero_image(32, 30, F::rgb);
  ASSERT_OK(copy(request_.dst, plain));
  EXPECT_EQ(bytes_of(plain), want_);
}

TEST_F(GlFence, no_descriptor_is_left_open) {
  use_dma();
  const auto convert = [&] {
    const auto first = gl_->convert_with_fence(request_);
    ASSERT_OK(first);
    ASSERT_OK(gl_->convert_with_fence(request_, first->done.get()));
  };
  convert();
  const std::size_t before = test::open_descriptors();
  for (int i = 0; i < 50; ++i)
    convert();
  EXPECT_EQ(test::open_descriptors(), before);
}

}  // namespace
}  // namespace halyard::test
#endif
