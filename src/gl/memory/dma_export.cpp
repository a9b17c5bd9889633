// SPDX-License-Identifier: Apache-2.0
#include "gl/memory/dma_export.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <cstring>

#include "base/text/format_error.h"
#include "halyard/drm.h"
#include "halyard/import.h"

namespace halyard::gl {
namespace {

constexpr std::size_t texel_bytes = 4;
constexpr std::int32_t usual_width = 1024;  // texels: a page for each row

/// Of a texture that holds at least `size_bytes`. Errors: invalid_argument.
Result<Size> size_of_texture(std::size_t size_bytes, std::int32_t max_size) {
  const auto largest = static_cast<std::size_t>(max_size);
  for (std::size_t width = usual_width; width <= largest; width *= 2) {
    const std::size_t rows = (size_bytes + width * texel_bytes - 1) / (width * texel_bytes);
    if (rows > 0 && rows <= largest)
      return Size{static_cast<std::int32_t>(width), static_cast<std::int32_t>(rows)};
  }
  return fail(Errc::invalid_argument, "size_bytes: must be that of a texture, and not 0",
              "{} bytes, textures of at most {}x{}", size_bytes, max_size, max_size);
}

/// A texture and its EGL image until the end of the block.
class ExportedTexture {
 public:
  explicit ExportedTexture(Size size) {
    glGenTextures(1, &texture_);
    glBindTexture(GL_TEXTURE_2D, texture_);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, size.width, size.height);
    image_ =
        eglCreateImageKHR(display_, eglGetCurrentContext(), EGL_GL_TEXTURE_2D_KHR,
                          reinterpret_cast<EGLClientBuffer>(std::uintptr_t{texture_}), nullptr);
  }
  ExportedTexture(const ExportedTexture&) = delete;
  ExportedTexture& operator=(const ExportedTexture&) = delete;
  ~ExportedTexture() {
    if (image_ != EGL_NO_IMAGE_KHR) eglDestroyImageKHR(display_, image_);
    glDeleteTextures(1, &texture_);
  }

  Result<Fd> descriptor() const {
    int fourcc = 0;
    int planes = 0;
    EGLuint64KHR modifier = drm_modifier_invalid;
    if (image_ == EGL_NO_IMAGE_KHR ||
        !eglExportDMABUFImageQueryMESA(display_, image_, &fourcc, &planes, nullptr) ||
        planes != 1 ||
        !eglExportDMABUFImageQueryMESA(display_, image_, &fourcc, &planes, &modifier))
      return refused();
    if (modifier != drm_modifier_linear) {
      return fail(Errc::unsupported, "opengl: the driver exports its textures in tiles",
                  "modifier {}", modifier_to_string(modifier));
    }
    int fd = -1;
    EGLint stride = 0;
    EGLint offset = 0;
    if (!eglExportDMABUFImageMESA(display_, image_, &fd, &stride, &offset) || fd < 0)
      return refused();
    return Fd(fd);
  }

 private:
  static Error refused() {
    return fail(Errc::unsupported, "opengl: the driver does not export a texture", "{}",
                egl_error_name(eglGetError()));
  }
  EGLDisplay display_ = eglGetCurrentDisplay();
  GLuint texture_ = 0;
  EGLImageKHR image_ = EGL_NO_IMAGE_KHR;
};

Result<Fd> export_texture(Size size) {
  const ExportedTexture texture(size);
  if (glGetError() == GL_OUT_OF_MEMORY)
    return fail(Errc::no_memory, "opengl: no memory for a texture", "{}x{}", size.width,
                size.height);
  HALYARD_TRY(Fd out, texture.descriptor());
  glFinish();  // the CPU writes next
  return out;
}

// Also shows that the CPU reaches it.
Status fill_with_zeros(Buffer& buffer) {
  auto map = buffer.map(Access::write);
  if (!map) {
    return fail(Errc::unsupported, "opengl: the CPU cannot map what the driver exports", "{}",
                map.error().message());
  }
  std::memset(map->writable_bytes().data(), 0, map->writable_bytes().size());
  return {};
}

}  // namespace

Result<std::shared_ptr<Buffer>> export_dma_buffer(Worker& worker, std::size_t size_bytes) {
  if (!worker.capabilities().dma_buf_export)
    return fail(Errc::unsupported, "opengl: the driver exports no DMA-BUFs");
  HALYARD_TRY(const Size size, size_of_texture(size_bytes, worker.capabilities().max_texture_size));
  Fd exported;
  HALYARD_RETURN_IF_ERROR(worker.run([&]() -> Status {
    HALYARD_TRY(exported, export_texture(size));
    return {};
  }));
  ImportOptions options;
  options.size_bytes = size_bytes;
  HALYARD_TRY(auto out, Importer::shared().import_buffer(exported.get(), options));
  HALYARD_RETURN_IF_ERROR(fill_with_zeros(*out));
  return out;
}

}  // namespace halyard::gl
