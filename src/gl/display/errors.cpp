// SPDX-License-Identifier: Apache-2.0
#include "gl/display/errors.h"

#include <epoxy/gl.h>

#include "base/text/format_error.h"

namespace halyard::gl {
namespace {

// OpenGL keeps one error of each kind; a lost context may tell of its loss for ever.
constexpr int max_errors = 16;

}  // namespace

Status check_errors(Worker& worker, const char* what) {
  Status out;
  bool is_lost = is_context_lost(worker.capabilities());
  for (int i = 0; i < max_errors && !is_lost; ++i) {
    const GLenum error = glGetError();
    if (error == GL_NO_ERROR) return out;
    is_lost = error == GL_CONTEXT_LOST;
    const Errc code = error == GL_OUT_OF_MEMORY ? Errc::no_memory : Errc::device;
    if (out) out = fail(code, what, "error {:#x}", error);
  }
  worker.mark_lost();
  return fail(Errc::device, "opengl: the context is lost");
}

void drop_errors() {
  for (int i = 0; i < max_errors && glGetError() != GL_NO_ERROR; ++i) {
  }
}

}  // namespace halyard::gl
