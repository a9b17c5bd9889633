// SPDX-License-Identifier: Apache-2.0
#include "gl/display/capabilities.h"

#include <epoxy/gl.h>

#include "gl/display/quirks.h"

namespace halyard::gl {
namespace {

std::string string_of(GLenum name) {
  const auto* const text = reinterpret_cast<const char*>(glGetString(name));
  return text == nullptr ? std::string() : text;
}

std::int32_t integer_of(GLenum name) {
  GLint value = 0;
  glGetIntegerv(name, &value);
  return value;
}

void read_names(Capabilities& out) {
  out.vendor = string_of(GL_VENDOR);
  out.renderer = string_of(GL_RENDERER);
  out.version = string_of(GL_VERSION);
}

}  // namespace

bool is_context_lost(const Capabilities& capabilities) noexcept {
  return capabilities.reset_status && glGetGraphicsResetStatusEXT() != GL_NO_ERROR;
}

bool offers_program_binaries() {
  Capabilities out;
  read_names(out);
  out.program_binaries = integer_of(GL_NUM_PROGRAM_BINARY_FORMATS) > 0;
  apply_quirks(out);
  return out.program_binaries;
}

Capabilities read_capabilities(const Display& display) {
  Capabilities out;
  read_names(out);
  out.major = integer_of(GL_MAJOR_VERSION);
  out.minor = integer_of(GL_MINOR_VERSION);

  const std::string extensions = string_of(GL_EXTENSIONS);
  const auto has = [&](std::string_view name) { return has_extension(extensions, name); };
  out.max_texture_size = integer_of(GL_MAX_TEXTURE_SIZE);
  out.max_draw_buffers = integer_of(GL_MAX_DRAW_BUFFERS);
  out.max_texture_units = integer_of(GL_MAX_TEXTURE_IMAGE_UNITS);
  out.float_targets = has("GL_EXT_color_buffer_float");
  out.external_images = has("GL_OES_EGL_image_external_essl3");
  out.program_binaries = integer_of(GL_NUM_PROGRAM_BINARY_FORMATS) > 0;
  out.reset_status = has("GL_EXT_robustness");

  const bool has_images = has("GL_OES_EGL_image") && display.has("EGL_KHR_image_base");
  out.dma_buf_import = has_images && display.has("EGL_EXT_image_dma_buf_import");
  out.dma_buf_modifiers =
      out.dma_buf_import && display.has("EGL_EXT_image_dma_buf_import_modifiers");
  out.dma_buf_export = display.has("EGL_MESA_image_dma_buf_export");
  out.fences = display.has("EGL_KHR_fence_sync");
  out.native_fences = out.fences && display.has("EGL_KHR_wait_sync") &&
                      display.has("EGL_ANDROID_native_fence_sync");
  apply_quirks(out);
  return out;
}

}  // namespace halyard::gl
