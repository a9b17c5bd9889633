// SPDX-License-Identifier: Apache-2.0
// Processors come and go: all that they make of OpenGL and of the system goes with them.
#ifdef HALYARD_HAVE_GL
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "gl/dma_memory.h"
#include "gl/memory/dma_image.h"
#include "gl/memory/pbo_buffer.h"
#include "gl/replaced.h"
#include "gl/worker.h"
#include "image/differential.h"
#include "image/images.h"
#include "support/descriptors.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

enum ObjectKind : std::size_t {
  textures,
  buffers,
  framebuffers,
  renderbuffers,
  programs,
  images,
  object_kinds
};
std::array<std::atomic<int>, object_kinds> live{};
std::array<std::atomic<int>, object_kinds> made{};

template <ObjectKind kind>
struct Functions {
  static inline PFNGLGENTEXTURESPROC gen = nullptr;
  static inline PFNGLDELETETEXTURESPROC remove = nullptr;
  static void GLAPIENTRY count_gen(GLsizei count, GLuint* names) {
    gen(count, names);
    live[kind] += count;
    made[kind] += count;
  }
  static void GLAPIENTRY count_delete(GLsizei count, const GLuint* names) {
    for (GLsizei i = 0; i < count; ++i)
      live[kind] -= names[i] != 0;
    remove(count, names);
  }
};

PFNGLCREATEPROGRAMPROC real_create_program = nullptr;
PFNGLDELETEPROGRAMPROC real_delete_program = nullptr;
PFNEGLCREATEIMAGEKHRPROC real_create_image = nullptr;
PFNEGLDESTROYIMAGEKHRPROC real_destroy_image = nullptr;

GLuint GLAPIENTRY count_create_program() {
  ++live[programs];
  ++made[programs];
  return real_create_program();
}
void GLAPIENTRY count_delete_program(GLuint name) {
  live[programs] -= name != 0;
  real_delete_program(name);
}
EGLImageKHR EGLAPIENTRY count_create_image(EGLDisplay display, EGLContext context, EGLenum target,
                                           EGLClientBuffer buffer, const EGLint* attributes) {
  EGLImageKHR const out = real_create_image(display, context, target, buffer, attributes);
  live[images] += out != EGL_NO_IMAGE_KHR;
  made[images] += out != EGL_NO_IMAGE_KHR;
  return out;
}
EGLBoolean EGLAPIENTRY count_destroy_image(EGLDisplay display, EGLImageKHR image) {
  --live[images];
  return real_destroy_image(display, image);
}

/// The driver's functions, before they are replaced.
struct RealFunctions {
  RealFunctions() {
    Functions<textures>::gen = epoxy_glGenTextures;
    Functions<textures>::remove = epoxy_glDeleteTextures;
    Functions<buffers>::gen = epoxy_glGenBuffers;
    Functions<buffers>::remove = epoxy_glDeleteBuffers;
    Functions<framebuffers>::gen = epoxy_glGenFramebuffers;
    Functions<framebuffers>::remove = epoxy_glDeleteFramebuffers;
    Functions<renderbuffers>::gen = epoxy_glGenRenderbuffers;
    Functions<renderbuffers>::remove = epoxy_glDeleteRenderbuffers;
    real_create_program = epoxy_glCreateProgram;
    real_delete_program = epoxy_glDeleteProgram;
    real_create_image = epoxy_eglCreateImageKHR;
    real_destroy_image = epoxy_eglDestroyImageKHR;
    for (auto& count : live)
      count = 0;
    for (auto& count : made)
      count = 0;
  }
};

/// Counts objects that are made and deleted from now on.
class Counted {
 private:
  const RealFunctions real_;
  const Replaced<PFNGLGENTEXTURESPROC> a_{epoxy_glGenTextures, Functions<textures>::count_gen};
  const Replaced<PFNGLDELETETEXTURESPROC> b_{epoxy_glDeleteTextures,
                                             Functions<textures>::count_delete};
  const Replaced<PFNGLGENTEXTURESPROC> c_{epoxy_glGenBuffers, Functions<buffers>::count_gen};
  const Replaced<PFNGLDELETETEXTURESPROC> d_{epoxy_glDeleteBuffers,
                                             Functions<buffers>::count_delete};
  const Replaced<PFNGLGENTEXTURESPROC> e_{epoxy_glGenFramebuffers,
                                          Functions<framebuffers>::count_gen};
  const Replaced<PFNGLDELETETEXTURESPROC> f_{epoxy_glDeleteFramebuffers,
                                             Functions<framebuffers>::count_delete};
  const Replaced<PFNGLGENTEXTURESPROC> g_{epoxy_glGenRenderbuffers,
                                          Functions<renderbuffers>::count_gen};
  const Replaced<PFNGLDELETETEXTURESPROC> h_{epoxy_glDeleteRenderbuffers,
                                             Functions<renderbuffers>::count_delete};
  const Replaced<PFNGLCREATEPROGRAMPROC> i_{epoxy_glCreateProgram, count_create_program};
  const Replaced<PFNGLDELETEPROGRAMPROC> j_{epoxy_glDeleteProgram, count_delete_program};
  const Replaced<PFNEGLCREATEIMAGEKHRPROC> k_{epoxy_eglCreateImageKHR, count_create_image};
  const Replaced<PFNEGLDESTROYIMAGEKHRPROC> l_{epoxy_eglDestroyImageKHR, count_destroy_image};
};

class GlLeaks : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
  }
  void TearDown() override {
    for (const char* name :
         {"HALYARD_FORCE_TRANSFER", "HALYARD_FORCE_BACKEND", "HALYARD_ALLOW_SOFTWARE_GL"})
      ::unsetenv(name);
  }
  /// A processor that converts images of every kind of memory, by itself and queued.
  void use_processor(const char* transfer) {
    ::setenv("HALYARD_FORCE_TRANSFER", transfer, 1);
    Processor processor = Processor::create().value();
    const auto pbo = [&](F format) {
      return Tensor::create_image(24, 16, format, DType::u8, Memory::pbo).value();
    };
    std::vector<Convert> all{
        {.src = random_image(random_, 38, 26, F::nv12), .dst = zero_image(22, 30, F::rgb)},
        {.src = pbo(F::rgba), .dst = pbo(F::planar_rgb)},
        {.src = make_dma_image(38, 26, F::nv12), .dst = make_dma_image(24, 30, F::rgb)}};
    all.push_back(all[0]);
    all.back().dst = zero_image(7, 5, F::rgb);
    all.back().filter = Filter::lanczos3;
    all.back().antialias = true;
    for (const Convert& c : all) {
      EXPECT_OK(processor.convert(c));
      EXPECT_OK(processor.convert_deferred(c));
    }
    EXPECT_OK(processor.flush());
    EXPECT_OK(processor.convert_deferred(all[0]));  // which is dropped with the processor
  }
  void drain() const {
    EXPECT_OK(worker_->run([]() -> Status { return {}; }));
  }

  std::shared_ptr<gl::Worker> worker_;
  Random random_{21};
};

TEST_F(GlLeaks, a_hundred_processors_leave_nothing_behind) {
  for (const char* transfer : {"dmabuf", "pbo"})
    use_processor(transfer);  // libepoxy finds the functions
  drain();
  const std::size_t descriptors = test::open_descriptors();
  std::optional<Counted> counted(std::in_place);
  for (int i = 0; i < 100 / slowness; ++i) {
    use_processor(i % 2 == 0 ? "dmabuf" : "pbo");
    drain();
    for (std::size_t kind = 0; kind < object_kinds; ++kind)
      ASSERT_EQ(live[kind], 0) << "kind " << kind << ", processor " << i;
  }
  EXPECT_GT(made[textures], 0);
  EXPECT_GT(made[buffers], 0);
  EXPECT_GT(made[framebuffers], 0);
  EXPECT_GT(made[programs], 0);
  EXPECT_EQ(made[images] > 0, worker_->capabilities().dma_buf_import);
  EXPECT_EQ(gl::live_dma_images(), 0U);
  EXPECT_EQ(gl::live_pixel_buffers(), 0U);
  EXPECT_EQ(test::open_descriptors(), descriptors);
  counted.reset();
}

TEST_F(GlLeaks, contexts_that_come_and_go_leave_no_descriptor_and_no_thread) {
  const auto tasks = [] {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
  };
  const auto end_worker = [&] {
    const std::weak_ptr<gl::Worker> watched = worker_;
    worker_.reset();
    for (int i = 0; i < 400 && !watched.expired(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(watched.expired());
  };
  use_processor("dmabuf");
  end_worker();
  const std::size_t descriptors = test::open_descriptors();
  const std::size_t threads = tasks();
  for (int i = 0; i < 10; ++i) {
    worker_ = any_worker();
    use_processor("dmabuf");
    end_worker();
  }
  EXPECT_EQ(test::open_descriptors(), descriptors);
  // The kernel lists a thread for an instant after it has been joined.
  for (int i = 0; i < 400 && tasks() > threads; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LE(tasks(), threads);
}

}  // namespace
}  // namespace halyard::test
#endif
