// SPDX-License-Identifier: Apache-2.0
#include "gl/display/context.h"

#include <vector>

#include "base/text/format_error.h"

namespace halyard::gl {
namespace {

EGLContext make_context(const Display& display, EGLint minor) {
  std::vector<EGLint> wanted = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, minor};
  if (display.has("EGL_EXT_create_context_robustness"))
    wanted.insert(wanted.end(), {EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
                                 EGL_LOSE_CONTEXT_ON_RESET_EXT});
  wanted.push_back(EGL_NONE);
  return eglCreateContext(display.handle, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted.data());
}

}  // namespace

Result<Context> Context::create(const Display& display) {
  HALYARD_RETURN_IF_ERROR(display.status);
  if (eglBindAPI(EGL_OPENGL_ES_API) != EGL_TRUE)
    return fail(Errc::unsupported, "display: EGL lacks OpenGL ES");
  EGLContext handle = make_context(display, 1);
  if (handle == EGL_NO_CONTEXT) handle = make_context(display, 0);
  if (handle == EGL_NO_CONTEXT) {
    return fail(Errc::unsupported, "display: has no context of OpenGL ES 3", "{}",
                egl_error_name(eglGetError()));
  }
  Context out(display, handle);
  if (eglMakeCurrent(display.handle, EGL_NO_SURFACE, EGL_NO_SURFACE, handle) != EGL_TRUE) {
    return fail(Errc::unsupported, "display: its context cannot be used without a surface", "{}",
                egl_error_name(eglGetError()));
  }
  out.capabilities_ = read_capabilities(display);
  if (out.capabilities_.major >= 3) return out;
  return fail(Errc::unsupported, "display: has no context of OpenGL ES 3", "{}",
              out.capabilities_.version);
}

Context::~Context() {
  if (handle_ == EGL_NO_CONTEXT) return;
  eglMakeCurrent(display_->handle, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display_->handle, handle_);
  eglReleaseThread();
}

}  // namespace halyard::gl
