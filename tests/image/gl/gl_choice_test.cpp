// SPDX-License-Identifier: Apache-2.0
// When OpenGL is chosen: by itself for images that a GPU reaches, by options, by variables.
#ifdef HALYARD_HAVE_GL
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "gl/dma_memory.h"
#include "gl/worker.h"
#include "image/differential.h"
#include "image/images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

PFNGLGETSTRINGPROC real_get_string = nullptr;
const GLubyte* GLAPIENTRY name_a_gpu(GLenum name) {
  if (name == GL_RENDERER) return reinterpret_cast<const GLubyte*>("A GPU of the test");
  return real_get_string(name);
}

class GlChoice : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    if (any_worker() == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    real_get_string = epoxy_glGetString;
  }
  void TearDown() override {
    const std::weak_ptr<gl::Worker> worker = any_worker();
    await_end(worker);
    for (const char* name : {"HALYARD_FORCE_BACKEND", "HALYARD_DISABLE_GL",
                             "HALYARD_FORCE_TRANSFER", "HALYARD_ALLOW_SOFTWARE_GL"})
      ::unsetenv(name);
    if (real_get_string != nullptr) epoxy_glGetString = real_get_string;
  }
  /// Waits until the last owner has gone: its end passes through the queue.
  static void await_end(const std::weak_ptr<gl::Worker>& worker) {
    for (int i = 0; i < 400 && !worker.expired(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(worker.expired());
  }
  /// The next worker takes its renderer for a GPU.
  static void pretend_gpu() { epoxy_glGetString = name_a_gpu; }
  static Tensor pbo_image(std::size_t width, std::size_t height, F format) {
    return Tensor::create_image(width, height, format, DType::u8, Memory::pbo).value();
  }
  static std::string backend_of(Processor& processor, const Convert& c) {
    const auto plan = processor.plan(c);
    return std::string(plan ? plan->backend() : plan.error().message());
  }
  static std::string first_line(const Processor& processor, const Convert& c) {
    const std::string report = processor.explain(c).value();
    return report.substr(0, report.find('\n'));
  }
  Convert heap_request() {
    return {.src = random_image(random_, 38, 26, F::nv12),
            .dst = Tensor::create_image(24, 30, F::rgb, DType::u8, Memory::mem).value()};
  }
  Random random_{17};
};

TEST_F(GlChoice, images_in_cpu_memory_are_left_to_the_cpu) {
  pretend_gpu();
  Processor processor = Processor::create().value();
  const Convert c = heap_request();
  EXPECT_EQ(backend_of(processor, c), "cpu");
  EXPECT_EQ(first_line(processor, c),
            "opengl: copies of images in CPU memory take longer than the CPU's work");
}

TEST_F(GlChoice, pixel_buffers_are_converted_by_the_gpu) {
  pretend_gpu();
  Processor processor = Processor::create().value();
  const Convert c{.src = pbo_image(38, 26, F::nv12), .dst = pbo_image(24, 30, F::rgb)};
  EXPECT_EQ(first_line(processor, c),
            "opengl: runs it (src pixel buffer, dst pixel buffer; passes 1, planes uploaded 2, "
            "planes read back 1)");
  EXPECT_EQ(backend_of(processor, c), "opengl");
  EXPECT_OK(processor.convert(c));
  // A row of this destination ends inside a texel.
  const Convert odd{.src = c.src, .dst = pbo_image(23, 30, F::rgb)};
  EXPECT_EQ(backend_of(processor, odd), "cpu");
  EXPECT_NE(first_line(processor, odd).find("not whole texels"), std::string::npos);
  EXPECT_OK(processor.convert(odd));
}

TEST_F(GlChoice, dma_bufs_are_converted_by_the_gpu_where_it_imports_them) {
  pretend_gpu();
  Processor processor = Processor::create().value();
  const Convert c{.src = make_dma_image(38, 26, F::nv12), .dst = make_dma_image(24, 30, F::rgb)};
  const bool imports = any_worker()->capabilities().dma_buf_import;
  EXPECT_EQ(first_line(processor, c),
            imports ? "opengl: runs it (src imported, dst imported; passes 1, "
                      "planes uploaded 0, planes read back 0)"
                    : "opengl: the driver does not import the source");
  EXPECT_EQ(backend_of(processor, c), imports ? "opengl" : "cpu");
  EXPECT_OK(processor.convert(c));
}

TEST_F(GlChoice, a_renderer_on_the_cpu_is_not_chosen) {
  Processor processor = Processor::create().value();
  const Convert c{.src = pbo_image(38, 26, F::nv12), .dst = pbo_image(24, 30, F::rgb)};
  EXPECT_EQ(backend_of(processor, c), "cpu");
  EXPECT_NE(first_line(processor, c).find("renderer runs on the CPU"), std::string::npos);
  EXPECT_OK(processor.convert(c));
}

TEST_F(GlChoice, options_name_a_backend_whatever_the_environment_tells) {
  ::setenv("HALYARD_FORCE_BACKEND", "cpu", 1);
  ::setenv("HALYARD_DISABLE_GL", "1", 1);
  Processor opengl = Processor::create({.backend = ComputeBackend::opengl}).value();
  const Convert c = heap_request();
  EXPECT_EQ(backend_of(opengl, c), "opengl");
  EXPECT_EQ(
      first_line(opengl, c),
      "opengl: runs it (src copied, dst copied; passes 1, planes uploaded 2, planes read back 1)");
  EXPECT_OK(opengl.convert(c));
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  Processor cpu = Processor::create({.backend = ComputeBackend::cpu}).value();
  EXPECT_EQ(backend_of(cpu, c), "cpu");
  EXPECT_EQ(first_line(cpu, c), "opengl: the processor's options name another backend");
}

TEST_F(GlChoice, a_switched_off_opengl_tells_so) {
  ::setenv("HALYARD_DISABLE_GL", "1", 1);
  Processor processor = Processor::create().value();
  EXPECT_EQ(first_line(processor, heap_request()), "opengl: switched off by HALYARD_DISABLE_GL");
}

TEST_F(GlChoice, a_backend_that_is_not_there_is_an_error_with_its_reason) {
  ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  EXPECT_FAILS(Processor::create({.backend = ComputeBackend::opengl}), Errc::unsupported,
               "backend: is not available: opengl: display: ");
}

TEST_F(GlChoice, one_process_uses_one_display) {
  const auto worker = any_worker();
  const GlDisplayKind used = worker->display().kind;
  const GlDisplayKind other =
      used == GlDisplayKind::surfaceless ? GlDisplayKind::device : GlDisplayKind::surfaceless;
  EXPECT_OK(Processor::create({.backend = ComputeBackend::opengl, .gl_display = used}));
  EXPECT_FAILS(Processor::create({.backend = ComputeBackend::opengl, .gl_display = other}),
               Errc::unsupported, "this process uses another one already");
}

TEST_F(GlChoice, an_asked_display_is_used) {
  for (const GlDisplayKind kind : {GlDisplayKind::device, GlDisplayKind::surfaceless}) {
    const auto made = Processor::create({.backend = ComputeBackend::opengl, .gl_display = kind});
    if (!made) continue;  // EGL lacks this kind
    EXPECT_EQ(any_worker()->display().kind, kind);
  }
  EXPECT_FAILS(
      Processor::create({.backend = ComputeBackend::opengl, .gl_display = GlDisplayKind::standard}),
      Errc::unsupported, "standard");
}

TEST_F(GlChoice, images_are_made_in_memory_that_the_processor_reaches) {
  {
    Processor software = Processor::create().value();
    EXPECT_EQ(software.image_memory(), Memory::automatic);
  }
  const std::weak_ptr<gl::Worker> software = any_worker();
  await_end(software);
  pretend_gpu();
  Processor processor = Processor::create().value();
  const bool imports = any_worker()->capabilities().dma_buf_import && memory_available(Memory::dma);
  EXPECT_EQ(processor.image_memory(), imports ? Memory::automatic : Memory::pbo);
  const Tensor image = processor.create_image(64, 48, F::rgb).value();
  EXPECT_EQ(image.memory(), imports ? Memory::dma : Memory::pbo);
  EXPECT_EQ(processor.create_image(64, 48, F::rgb, {.memory = Memory::mem})->memory(), Memory::mem);
  const Convert c{.src = processor.create_image(38, 26, F::nv12).value(), .dst = image};
  EXPECT_EQ(backend_of(processor, c), "opengl");
  ::setenv("HALYARD_FORCE_TRANSFER", "sync", 1);
  EXPECT_EQ(Processor::create()->image_memory(), Memory::automatic);
}

}  // namespace
}  // namespace halyard::test
#endif
