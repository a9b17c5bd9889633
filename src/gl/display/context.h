// SPDX-License-Identifier: Apache-2.0
// Context: an OpenGL ES context without a surface, current on the thread that made it.
#pragma once

#include <utility>

#include "gl/display/capabilities.h"
#include "gl/display/display.h"

namespace halyard::gl {

/// Move-only. Made, used and destroyed on one thread, which must have no other current context.
class Context {
 public:
  /// Makes a context of OpenGL ES 3.1, or 3.0 where there is no 3.1, and makes it current. It loses
  /// its content when the GPU is reset, where the driver can tell. Errors: those of the display,
  /// unsupported (no OpenGL ES 3).
  static Result<Context> create(const Display& display);
  Context(Context&& other) noexcept
      : display_(other.display_),
        handle_(std::exchange(other.handle_, EGL_NO_CONTEXT)),
        capabilities_(std::move(other.capabilities_)) {}
  Context(const Context&) = delete;
  Context& operator=(Context&&) = delete;
  ~Context();

  const Display& display() const noexcept { return *display_; }
  const Capabilities& capabilities() const noexcept { return capabilities_; }

 private:
  Context(const Display& display, EGLContext handle) noexcept
      : display_(&display), handle_(handle) {}
  const Display* display_;
  EGLContext handle_;
  Capabilities capabilities_;
};

}  // namespace halyard::gl
