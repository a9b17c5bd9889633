// SPDX-License-Identifier: Apache-2.0
#include "gl/memory/dma_image.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text/format_error.h"
#include "gl/display/errors.h"

namespace halyard::gl {
namespace {

std::atomic<std::uint64_t> imports{0};
std::atomic<std::size_t> live_images{0};

constexpr std::size_t max_entries = 64;
constexpr std::size_t max_egl_int = std::numeric_limits<EGLint>::max();

// EGL wants descriptions as pairs of numbers, with EGL_NONE at the end.
struct Attributes {
  std::array<EGLint, 24> values{};
  std::size_t count = 0;
  void add(EGLint name, std::uint64_t value) noexcept {
    values[count++] = name;
    values[count++] = static_cast<EGLint>(static_cast<std::uint32_t>(value));
  }
};

Attributes attributes_of(int fd, const DmaImageLayout& layout, bool with_modifier) noexcept {
  Attributes out;
  out.add(EGL_WIDTH, static_cast<std::uint64_t>(layout.size.width));
  out.add(EGL_HEIGHT, static_cast<std::uint64_t>(layout.size.height));
  out.add(EGL_LINUX_DRM_FOURCC_EXT, layout.drm_format);
  out.add(EGL_DMA_BUF_PLANE0_FD_EXT, static_cast<std::uint64_t>(fd));
  out.add(EGL_DMA_BUF_PLANE0_OFFSET_EXT, layout.offset_bytes);
  out.add(EGL_DMA_BUF_PLANE0_PITCH_EXT, layout.stride_bytes);
  if (with_modifier) {
    out.add(EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, layout.modifier);
    out.add(EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, layout.modifier >> 32);
  }
  out.add(EGL_IMAGE_PRESERVED_KHR, EGL_TRUE);
  out.values[out.count] = EGL_NONE;
  return out;
}

Result<EGLImageKHR> create_image(const Worker& worker, int fd, const DmaImageLayout& layout) {
  EGLDisplay const display = worker.display().handle;
  const auto create = [&](bool with_modifier) {
    return eglCreateImageKHR(display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, nullptr,
                             attributes_of(fd, layout, with_modifier).values.data());
  };
  const bool has_modifiers = worker.capabilities().dma_buf_modifiers;
  if (!is_linear(layout.modifier) && !has_modifiers) {
    return fail(Errc::unsupported, "opengl: the driver imports linear DMA-BUFs only", "modifier {}",
                modifier_to_string(layout.modifier));
  }
  EGLImageKHR image = create(has_modifiers);
  // Some drivers know the linear arrangement only if they are not told of it.
  if (image == EGL_NO_IMAGE_KHR && has_modifiers && is_linear(layout.modifier))
    image = create(false);
  if (image != EGL_NO_IMAGE_KHR) return image;
  return fail(Errc::unsupported, "opengl: the driver does not import the DMA-BUF",
              "{}, format {:#x}, {}x{}, offset {}, stride {}", egl_error_name(eglGetError()),
              layout.drm_format, layout.size.width, layout.size.height, layout.offset_bytes,
              layout.stride_bytes);
}

// Drivers trust the description, and some crash where it is wrong.
Status check_object_size(int fd, std::size_t size_bytes) {
  const off_t end = ::lseek(fd, 0, SEEK_END);
  if (end >= 0 && static_cast<std::uint64_t>(end) >= size_bytes) return {};
  return fail(Errc::invalid_argument, "opengl: the kernel's object is smaller than its buffer",
              "{} of {} bytes", end, size_bytes);
}

// A texture without filtering, which stays bound.
GLuint make_texture(EGLImageKHR image) {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, image);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return name;
}

}  // namespace

/// An import, or the reason why there is none.
struct DmaImages::Entry {
  DmaImageLayout layout;
  bool as_renderbuffer = false;
  Status status = {};
  EGLImageKHR image = EGL_NO_IMAGE_KHR;
  GLuint texture = 0;
  GLuint renderbuffer = 0;
  GLuint framebuffer = 0;
  std::uint64_t used = 0;

  void bind();
  Status make_framebuffer();
  void destroy(EGLDisplay display);
};

void DmaImages::Entry::bind() {
  if (!as_renderbuffer) {
    texture = make_texture(image);
    return;
  }
  glGenRenderbuffers(1, &renderbuffer);
  glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
  glEGLImageTargetRenderbufferStorageOES(GL_RENDERBUFFER, image);
}

Status DmaImages::Entry::make_framebuffer() {
  if (framebuffer != 0) return {};
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  if (as_renderbuffer) {
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
  } else {
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  }
  const GLenum complete = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  if (complete == GL_FRAMEBUFFER_COMPLETE) return {};
  return fail(Errc::unsupported, "opengl: the driver does not draw into the DMA-BUF",
              "framebuffer status {:#x}", complete);
}

void DmaImages::Entry::destroy(EGLDisplay display) {
  glDeleteFramebuffers(1, &framebuffer);
  glDeleteRenderbuffers(1, &renderbuffer);
  glDeleteTextures(1, &texture);
  if (image == EGL_NO_IMAGE_KHR) return;
  eglDestroyImageKHR(display, image);
  --live_images;
}

DmaImages::DmaImages(std::shared_ptr<Worker> worker) noexcept
    : worker_(std::move(worker)), entries_(std::make_shared<std::vector<Entry>>()) {}

DmaImages::~DmaImages() {
  worker_->post([entries = std::move(entries_), display = worker_->display().handle] {
    for (Entry& entry : *entries)
      entry.destroy(display);
  });
}

DmaImages& DmaImages::of(Buffer& buffer, const std::shared_ptr<Worker>& worker) {
  // The images keep their worker alive, so that no later worker has its address.
  if (Attachment* const known = buffer.attachment(worker.get()))
    return *static_cast<DmaImages*>(known);
  auto made = std::make_unique<DmaImages>(worker);
  DmaImages& out = *made;
  buffer.attach(worker.get(), std::move(made));
  return out;
}

bool DmaImages::has_refused(const Buffer& buffer, const Worker& worker, DmaUse use) noexcept {
  const Attachment* const known = buffer.attachment(&worker);
  return known != nullptr &&
         static_cast<const DmaImages*>(known)->has_refused_[static_cast<std::size_t>(use)].load();
}

DmaImages::Entry& DmaImages::add(const DmaImageLayout& layout, bool as_renderbuffer) {
  if (entries_->size() < max_entries) return entries_->emplace_back(Entry{layout, as_renderbuffer});
  Entry& oldest = *std::ranges::min_element(*entries_, {}, &Entry::used);
  oldest.destroy(worker_->display().handle);
  return oldest = Entry{layout, as_renderbuffer};
}

Status DmaImages::import(const Buffer& buffer, Entry& entry) const {
  const Capabilities& capabilities = worker_->capabilities();
  if (!capabilities.dma_buf_import)
    return fail(Errc::unsupported, "opengl: the driver imports no DMA-BUFs");
  if (buffer.memory() != Memory::dma || buffer.fd() < 0)
    return fail(Errc::unsupported, "opengl: the buffer is not a DMA-BUF");
  HALYARD_RETURN_IF_ERROR(
      check_layout(entry.layout, buffer.size_bytes(), capabilities.max_texture_size));
  HALYARD_RETURN_IF_ERROR(check_object_size(buffer.fd(), buffer.size_bytes()));
  if (entry.layout.stride_bytes % capabilities.import_pitch_bytes != 0) {
    return fail(Errc::unsupported, "opengl: the driver imports rows of whole units only",
                "{} bytes, units of {}", entry.layout.stride_bytes,
                capabilities.import_pitch_bytes);
  }
  HALYARD_TRY(entry.image, create_image(*worker_, buffer.fd(), entry.layout));
  ++imports;
  ++live_images;
  drop_errors();
  entry.bind();
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return {};
  drop_errors();
  return fail(Errc::unsupported, "opengl: the driver makes no texture of the DMA-BUF",
              "error {:#x}", error);
}

Result<DmaImages::Entry*> DmaImages::find(const Buffer& buffer, const DmaImageLayout& layout,
                                          bool as_renderbuffer, DmaUse use) {
  const auto known = std::ranges::find_if(*entries_, [&](const Entry& entry) {
    return entry.layout == layout && entry.as_renderbuffer == as_renderbuffer;
  });
  const bool is_new = known == entries_->end();
  Entry& entry = is_new ? add(layout, as_renderbuffer) : *known;
  if (is_new) entry.status = import(buffer, entry);
  entry.used = ++now_;
  if (entry.status) return &entry;
  has_refused_[static_cast<std::size_t>(use)].store(true);
  return entry.status.error();
}

Result<DmaImage> DmaImages::source(const Buffer& buffer, const DmaImageLayout& layout) {
  HALYARD_TRY(const Entry* const entry, find(buffer, layout, false, DmaUse::convert));
  return DmaImage{entry->texture, 0};
}

Result<DmaImage> DmaImages::target(const Buffer& buffer, const DmaImageLayout& layout,
                                   DmaTarget binding, DmaUse use) {
  const bool as_renderbuffer =
      binding == DmaTarget::renderbuffer || worker_->capabilities().renderbuffer_targets;
  HALYARD_TRY(Entry* const entry, find(buffer, layout, as_renderbuffer, use));
  entry->status = entry->make_framebuffer();
  if (entry->status) return DmaImage{entry->texture, entry->framebuffer};
  has_refused_[static_cast<std::size_t>(use)].store(true);
  return entry->status.error();
}

Status check_layout(const DmaImageLayout& layout, std::size_t size_bytes, std::int32_t max_size) {
  const Size size = layout.size;
  if (size.width < 1 || size.height < 1 || size.width > max_size || size.height > max_size) {
    return fail(Errc::invalid_argument, "opengl: the image is larger than a texture",
                "{}x{}, at most {}", size.width, size.height, max_size);
  }
  const std::size_t row_bytes = static_cast<std::size_t>(size.width) * layout.texel_bytes;
  const std::size_t rows = static_cast<std::size_t>(size.height) - 1;
  if (layout.stride_bytes < row_bytes || layout.stride_bytes > max_egl_int ||
      layout.offset_bytes > max_egl_int) {
    return fail(Errc::invalid_argument,
                "opengl: the stride is shorter than a row, or the place is "
                "beyond what EGL counts",
                "offset {}, stride {}, row {}", layout.offset_bytes, layout.stride_bytes,
                row_bytes);
  }
  const std::size_t end = layout.offset_bytes + rows * layout.stride_bytes + row_bytes;
  if (end <= size_bytes) return {};
  return fail(Errc::invalid_argument, "opengl: the image ends beyond its buffer",
              "at byte {} of {}", end, size_bytes);
}

std::uint64_t dma_image_imports() noexcept {
  return imports.load();
}

std::size_t live_dma_images() noexcept {
  return live_images.load();
}

}  // namespace halyard::gl
