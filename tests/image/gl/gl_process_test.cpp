// SPDX-License-Identifier: Apache-2.0
// Processes: a child of fork() and a machine without EGL are served by the CPU, and told why;
// drivers that lack an extension serve what they can.
#ifdef HALYARD_HAVE_GL
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <thread>

#include "gl/dma_memory.h"
#include "gl/memory/dma_image.h"
#include "gl/replaced.h"
#include "gl/worker.h"
#include "image/differential.h"
#include "image/images.h"
#include "support/folder.h"
#include "support/in_child.h"
#include "support/own_process.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

Convert some_request(int seed = 4) {
  Random random(static_cast<Random::result_type>(seed));
  return {.src = random_image(random, 38, 26, F::nv12), .dst = zero_image(22, 30, F::rgb)};
}

std::vector<std::byte> by_cpu(const Convert& request) {
  Convert c = request;
  c.dst = zero_image(request.dst.size(), F::rgb);
  Processor cpu = Processor::create({.backend = ComputeBackend::cpu}).value();
  EXPECT_OK(cpu.convert(c));
  return bytes_of(c.dst);
}

class GlProcess : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    if (any_worker() == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
  }
  void TearDown() override {
    ::unsetenv("HALYARD_FORCE_BACKEND");
    ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  }
};

TEST_F(GlProcess, a_child_of_fork_is_told_that_opengl_was_open) {
  const auto worker = any_worker();
  EXPECT_TRUE(is_true_in_child([] {
    const auto made = Processor::create({.backend = ComputeBackend::opengl});
    return !made && made.error().code == Errc::unsupported &&
           made.error().message().find("forked after OpenGL was opened") != std::string::npos;
  }));
  EXPECT_TRUE(is_true_in_child([] {
    const auto image = Tensor::create_image(8, 8, F::rgb, DType::u8, Memory::pbo);
    return !image && image.error().message().find("forked") != std::string::npos;
  }));
}

TEST_F(GlProcess, a_child_of_fork_is_served_by_the_cpu) {
  Processor before = Processor::create({.backend = ComputeBackend::opengl}).value();
  const Convert c = some_request();
  const std::vector<std::byte> expected = by_cpu(c);
  ASSERT_OK(before.convert(c));
  EXPECT_TRUE(is_true_in_child([&] {
    const Convert again = some_request();
    Processor fresh = Processor::create().value();
    return fresh.convert(again) && bytes_of(again.dst) == expected;
  })) << "a processor of the child";
  EXPECT_TRUE(is_true_in_child([&] {
    const Convert again = some_request();
    return before.convert(again) && bytes_of(again.dst) == expected && before.fallback_count() == 1;
  })) << "the parent's processor, of which the child has a copy";
  EXPECT_OK(before.convert(c));
  EXPECT_EQ(before.fallback_count(), 0U);
}

TEST_F(GlProcess, a_child_of_fork_that_must_use_opengl_gets_an_error) {
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  Processor before = Processor::create().value();
  ASSERT_OK(before.convert(some_request()));
  EXPECT_TRUE(is_true_in_child([&] {
    const auto done = before.convert(some_request());
    return !done &&
           done.error().message().find("forked after OpenGL was opened") != std::string::npos;
  }));
}

TEST(GlMissing, DISABLED_the_cpu_serves) {
  const Convert c = some_request();
  Processor processor = Processor::create().value();
  EXPECT_OK(processor.convert(c));
  EXPECT_EQ(bytes_of(c.dst), by_cpu(c));
  EXPECT_FAILS(Processor::create({.backend = ComputeBackend::opengl}), Errc::unsupported,
               "opengl: display: EGL cannot be loaded");
  // Images that a GPU would take by itself.
  const Convert dma{.src = make_dma_image(38, 26, F::nv12), .dst = make_dma_image(24, 30, F::rgb)};
  EXPECT_NE(processor.explain(dma).value().find("opengl: display: EGL cannot be loaded"),
            std::string::npos)
      << processor.explain(dma).value();
  EXPECT_OK(processor.convert(dma));
}

TEST(GlMissing, egl_is_a_reason_and_the_cpu_serves) {
  const Folder folder;
  std::ofstream(folder / "libEGL.so.1") << std::string(200, ' ');
  const char* const before = ::getenv("LD_LIBRARY_PATH");
  const std::string path = folder.path() + (before == nullptr ? "" : std::string(":") + before);
  EXPECT_PASSES_APART("GlMissing", "the_cpu_serves",
                      {{"LD_LIBRARY_PATH", path}, {"HALYARD_ALLOW_SOFTWARE_GL", "1"}});
}

// What the next driver tells of itself.
PFNGLGETSTRINGPROC real_gl_string = nullptr;
const char* told_renderer = nullptr;
const char* told_version = nullptr;
std::string hidden_extension;

const GLubyte* GLAPIENTRY tell_string(GLenum name) {
  const auto as_told = [](const char* text) { return reinterpret_cast<const GLubyte*>(text); };
  if (name == GL_RENDERER && told_renderer != nullptr) return as_told(told_renderer);
  if (name == GL_VERSION && told_version != nullptr) return as_told(told_version);
  const GLubyte* const real = real_gl_string(name);
  if (name != GL_EXTENSIONS || hidden_extension.empty() || real == nullptr) return real;
  static std::deque<std::string> kept;
  std::string& out = kept.emplace_back(reinterpret_cast<const char*>(real));
  for (std::size_t at = 0; (at = out.find(hidden_extension, at)) != std::string::npos;)
    out.replace(at, hidden_extension.size(), "GL_NOT_HERE");
  return as_told(out.c_str());
}

class GlDriver : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    if (any_worker() == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    imports_ = any_worker()->capabilities().dma_buf_import;
    await_end();
    real_gl_string = epoxy_glGetString;
    epoxy_glGetString = tell_string;
  }
  void TearDown() override {
    if (real_gl_string != nullptr) {
      await_end();
      epoxy_glGetString = real_gl_string;
    }
    told_renderer = told_version = nullptr;
    hidden_extension.clear();
    ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  }
  /// Waits until the last owner has gone: its end passes through the queue.
  static void await_end() {
    const std::weak_ptr<gl::Worker> worker = any_worker();
    for (int i = 0; i < 400 && !worker.expired(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(worker.expired());
  }
  bool imports_ = false;
};

TEST_F(GlDriver, without_an_extension_images_are_copied) {
  if (!imports_) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  hidden_extension = "GL_OES_EGL_image";
  Judge judge({.backend = ComputeBackend::opengl});
  const Convert c{.src = make_dma_image(38, 26, F::nv12), .dst = make_dma_image(24, 30, F::rgb)};
  EXPECT_NE(judge.processor().explain(c).value().find("runs it (src copied, dst copied;"),
            std::string::npos);
  const std::uint64_t before = gl::dma_image_imports();
  EXPECT_TRUE(judge.compare(c));
  EXPECT_EQ(gl::dma_image_imports(), before);
}

TEST_F(GlDriver, rows_that_a_quirk_excludes_are_copied) {
  if (!imports_) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  told_renderer = "AMD Custom GPU 0405 (radeonsi, vangogh, LLVM 15.0.7, DRM 3.49)";
  told_version = "OpenGL ES 3.2 Mesa 23.1.0";
  Judge judge({.backend = ComputeBackend::opengl});
  const auto how = [&](std::size_t source_pitch, std::size_t target_pitch) {
    const Convert c{.src = make_dma_image(38, 26, F::nv12, DType::u8, source_pitch),
                    .dst = make_dma_image(24, 30, F::rgb, DType::u8, target_pitch)};
    EXPECT_TRUE(judge.compare(c));
    const std::string report = judge.processor().explain(c).value();
    return report.substr(0, report.find(';'));
  };
  EXPECT_EQ(how(64, 64), "opengl: runs it (src copied, dst copied");
  EXPECT_EQ(how(256, 128), "opengl: runs it (src imported, dst copied");
  EXPECT_EQ(how(512, 256), "opengl: runs it (src imported, dst imported");
  // The images themselves tell the same.
  const auto worker = any_worker();
  const Tensor image = make_dma_image(64, 8, F::grey);
  EXPECT_OK(worker->run([&]() -> Status {
    EXPECT_FAILS(
        gl::DmaImages::of(*image.buffer(), worker)
            .source(
                *image.buffer(),
                {.drm_format = 0x20203852, .texel_bytes = 1, .size = {64, 8}, .stride_bytes = 64}),
        Errc::unsupported, "64 bytes, units of 256");
    return {};
  }));
}

TEST_F(GlDriver, a_quirk_binds_targets_as_renderbuffers) {
  if (!imports_) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  told_renderer = "Mali-G310";
  Judge judge({.backend = ComputeBackend::opengl});
  EXPECT_TRUE(judge.compare(
      {.src = make_dma_image(38, 26, F::nv12), .dst = make_dma_image(24, 30, F::rgb)}));
  const auto worker = any_worker();
  const Tensor image = make_dma_image(64, 8, F::rgba);
  EXPECT_OK(worker->run([&]() -> Status {
    const auto made =
        gl::DmaImages::of(*image.buffer(), worker)
            .target(
                *image.buffer(),
                {.drm_format = 0x34324241, .texel_bytes = 4, .size = {64, 8}, .stride_bytes = 256},
                gl::DmaTarget::texture);
    EXPECT_OK(made);
    EXPECT_EQ(made->texture, 0U);
    EXPECT_NE(made->framebuffer, 0U);
    return {};
  }));
}

}  // namespace
}  // namespace halyard::test
#endif
