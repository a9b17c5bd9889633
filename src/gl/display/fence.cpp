// SPDX-License-Identifier: Apache-2.0
#include "gl/display/fence.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <array>

#include "base/text/format_error.h"

namespace halyard::gl {
namespace {

/// Destroys its sync object, which the GPU may still work on.
class Sync {
 public:
  Sync(EGLDisplay display, const EGLint* attributes) noexcept
      : display_(display),
        handle_(eglCreateSyncKHR(display, EGL_SYNC_NATIVE_FENCE_ANDROID, attributes)) {}
  Sync(const Sync&) = delete;
  Sync& operator=(const Sync&) = delete;
  ~Sync() {
    if (handle_ != EGL_NO_SYNC_KHR) eglDestroySyncKHR(display_, handle_);
  }
  explicit operator bool() const noexcept { return handle_ != EGL_NO_SYNC_KHR; }
  EGLSyncKHR handle() const noexcept { return handle_; }

 private:
  EGLDisplay display_;
  EGLSyncKHR handle_;
};

Status check_native_fences(const Worker& worker) {
  if (worker.capabilities().native_fences) return {};
  return fail(Errc::unsupported, "opengl: the driver has no fences as descriptors");
}

}  // namespace

Status wait_on_gpu(const Worker& worker, int sync_file) {
  HALYARD_RETURN_IF_ERROR(check_native_fences(worker));
  HALYARD_TRY(Fd owned, Fd::duplicate(sync_file));
  const EGLDisplay display = worker.display().handle;
  const std::array<EGLint, 3> attributes = {EGL_SYNC_NATIVE_FENCE_FD_ANDROID, owned.get(),
                                            EGL_NONE};
  const Sync sync(display, attributes.data());
  if (!sync) {
    return fail(Errc::unsupported, "opengl: the driver does not take the descriptor as a fence",
                "{}", egl_error_name(eglGetError()));
  }
  static_cast<void>(owned.release());  // EGL's, now that it has the object
  if (eglWaitSyncKHR(display, sync.handle(), 0) == EGL_TRUE) return {};
  return fail(Errc::device, "opengl: the GPU does not wait for a fence", "{}",
              egl_error_name(eglGetError()));
}

Result<Fd> make_sync_file(const Worker& worker) {
  HALYARD_RETURN_IF_ERROR(check_native_fences(worker));
  const EGLDisplay display = worker.display().handle;
  const Sync sync(display, nullptr);
  if (sync) {
    glFlush();  // the object has no descriptor before
    if (Fd out(eglDupNativeFenceFDANDROID(display, sync.handle())); out) return out;
  }
  return fail(Errc::device, "opengl: the driver makes no fence", "{}",
              egl_error_name(eglGetError()));
}

}  // namespace halyard::gl
