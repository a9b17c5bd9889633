// SPDX-License-Identifier: Apache-2.0
// Drivers that lack what is needed: each lack has its own reason, and nothing crashes. Functions of
// EGL are replaced, so that any driver behaves as a poor one.
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "base/text/format_error.h"
#include "gl/display/context.h"
#include "gl/display/display.h"
#include "gl/replaced.h"
#include "gl/worker.h"
#include "support/result.h"

namespace halyard::test {
namespace {

PFNEGLQUERYSTRINGPROC real_query_string = nullptr;
PFNEGLCREATECONTEXTPROC real_create_context = nullptr;
PFNGLGETINTEGERVPROC real_get_integerv = nullptr;
std::string hidden;  // an extension

// EGL's strings live as long as the display.
const char* EGLAPIENTRY hide_extension(EGLDisplay display, EGLint name) {
  const char* const text = real_query_string(display, name);
  if (text == nullptr || name != EGL_EXTENSIONS) return text;
  static std::deque<std::string> kept;
  std::string& out = kept.emplace_back(text);
  for (std::size_t at = 0; (at = out.find(hidden, at)) != std::string::npos;)
    out.replace(at, hidden.size(), "EGL_NOT_HERE");
  return out.c_str();
}
EGLBoolean EGLAPIENTRY initialize_nothing(EGLDisplay, EGLint*, EGLint*) {
  return EGL_FALSE;
}
EGLContext EGLAPIENTRY create_no_context(EGLDisplay, EGLConfig, EGLContext, const EGLint*) {
  return EGL_NO_CONTEXT;
}
EGLContext EGLAPIENTRY create_without_31(EGLDisplay display, EGLConfig config, EGLContext share,
                                         const EGLint* wanted) {
  for (const EGLint* pair = wanted; *pair != EGL_NONE; pair += 2)
    if (pair[0] == EGL_CONTEXT_MINOR_VERSION && pair[1] > 0) return EGL_NO_CONTEXT;
  return real_create_context(display, config, share, wanted);
}
EGLBoolean EGLAPIENTRY make_nothing_current(EGLDisplay, EGLSurface, EGLSurface,
                                            EGLContext context) {
  return context == EGL_NO_CONTEXT ? EGL_TRUE : EGL_FALSE;
}
EGLBoolean EGLAPIENTRY find_no_devices(EGLint, EGLDeviceEXT*, EGLint* count) {
  *count = 0;
  return EGL_TRUE;
}
void GLAPIENTRY tell_version_2(GLenum name, GLint* value) {
  real_get_integerv(name, value);
  if (name == GL_MAJOR_VERSION) *value = 2;
}

class GlBadDriver : public testing::Test {
 protected:
  void SetUp() override {
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    real_query_string = epoxy_eglQueryString;
    real_create_context = epoxy_eglCreateContext;
    real_get_integerv = epoxy_glGetIntegerv;
  }
  /// On a thread without a context.
  static void apart(const std::function<void()>& work) { std::thread(work).join(); }
  static std::vector<gl::Display> displays() {
    std::vector<gl::Display> out;
    apart([&] { out = gl::open_displays(); });
    return out;
  }
  static std::vector<gl::Display> displays_without(const char* extension) {
    hidden = extension;
    const Replaced strings(epoxy_eglQueryString, hide_extension);
    return displays();
  }
  /// The context of the display that works here.
  Status make_context() const {
    Status out;
    apart([&] {
      const auto made = gl::Context::create(worker_->display());
      if (!made) out = made.error();
    });
    return out;
  }
  static Status status_of(const std::vector<gl::Display>& displays, GlDisplayKind kind) {
    for (const gl::Display& display : displays)
      if (display.kind == kind) return display.status;
    return make_error(Errc::not_found, "no such kind");
  }

  std::shared_ptr<gl::Worker> worker_;
};

TEST_F(GlBadDriver, kinds_that_egl_lacks_are_told_with_the_extension) {
  for (const auto& [kind, extension] :
       {std::pair(GlDisplayKind::surfaceless, "EGL_MESA_platform_surfaceless"),
        {GlDisplayKind::device, "EGL_EXT_platform_device"}})
    EXPECT_FAILS(status_of(displays_without(extension), kind), Errc::unsupported, extension);
}

TEST_F(GlBadDriver, displays_without_a_needed_extension_are_told_with_it) {
  for (const char* extension : {"EGL_KHR_surfaceless_context", "EGL_KHR_no_config_context"}) {
    const auto all = displays_without(extension);
    EXPECT_FAILS(status_of(all, worker_->display().kind), Errc::unsupported, extension);
    for (const gl::Display& display : all)
      EXPECT_FALSE(display.status) << to_string(display.kind);
  }
}

TEST_F(GlBadDriver, displays_that_cannot_be_initialised_are_told) {
  const Replaced initialisation(epoxy_eglInitialize, initialize_nothing);
  for (const gl::Display& display : displays())
    EXPECT_FALSE(display.status) << to_string(display.kind);
  EXPECT_FAILS(status_of(displays(), worker_->display().kind), Errc::unsupported,
               "cannot be initialised");
}

TEST_F(GlBadDriver, an_egl_without_devices_is_told) {
  if (!status_of(displays(), GlDisplayKind::device)) GTEST_SKIP() << "EGL lacks devices";
  const Replaced devices(epoxy_eglQueryDevicesEXT, find_no_devices);
  EXPECT_FAILS(status_of(displays(), GlDisplayKind::device), Errc::unsupported, "knows no device");
}

TEST_F(GlBadDriver, a_driver_of_opengl_es_2_alone_is_refused) {
  {
    const Replaced contexts(epoxy_eglCreateContext, create_no_context);
    EXPECT_FAILS(make_context(), Errc::unsupported, "has no context of OpenGL ES 3");
  }
  {
    // Asked for 3, it gives 2.
    const Replaced integers(epoxy_glGetIntegerv, tell_version_2);
    EXPECT_FAILS(make_context(), Errc::unsupported, "has no context of OpenGL ES 3");
  }
  EXPECT_OK(make_context());
}

TEST_F(GlBadDriver, opengl_es_3_0_is_enough) {
  const Replaced contexts(epoxy_eglCreateContext, create_without_31);
  EXPECT_OK(make_context());
}

TEST_F(GlBadDriver, a_context_that_needs_a_surface_is_refused) {
  const Replaced currents(epoxy_eglMakeCurrent, make_nothing_current);
  EXPECT_FAILS(make_context(), Errc::unsupported, "cannot be used without a surface");
}

TEST_F(GlBadDriver, missing_extensions_are_missing_capabilities) {
  const auto offers = [&](const char* extension) {
    hidden = extension;
    gl::Capabilities out;
    const Replaced strings(epoxy_eglQueryString, hide_extension);
    apart([&] {
      for (const gl::Display& display : gl::open_displays()) {
        if (display.kind != worker_->display().kind) continue;
        const auto context = gl::Context::create(display);
        ASSERT_OK(context);
        out = context->capabilities();
        return;
      }
    });
    return out;
  };
  EXPECT_FALSE(offers("EGL_EXT_image_dma_buf_import").dma_buf_import);
  EXPECT_FALSE(offers("EGL_EXT_image_dma_buf_import").dma_buf_modifiers);
  EXPECT_FALSE(offers("EGL_KHR_image_base").dma_buf_import);
  EXPECT_FALSE(offers("EGL_EXT_image_dma_buf_import_modifiers").dma_buf_modifiers);
  EXPECT_FALSE(offers("EGL_KHR_fence_sync").fences);
  EXPECT_FALSE(offers("EGL_ANDROID_native_fence_sync").native_fences);
  EXPECT_FALSE(offers("EGL_MESA_image_dma_buf_export").dma_buf_export);
}

}  // namespace
}  // namespace halyard::test
