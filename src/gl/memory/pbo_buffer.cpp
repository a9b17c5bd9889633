// SPDX-License-Identifier: Apache-2.0
#include "gl/memory/pbo_buffer.h"

#include <epoxy/gl.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text/format_error.h"
#include "base/text/log_format.h"

namespace halyard::gl {
namespace {

std::atomic<std::size_t> pixel_buffer_count{0};

// Every use binds the name anew: other code of the worker may have bound another one.
constexpr GLenum target = GL_PIXEL_PACK_BUFFER;

struct Bound {
  explicit Bound(GLuint name) noexcept { glBindBuffer(target, name); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() { glBindBuffer(target, 0); }
};

std::span<std::byte> map_whole(std::size_t size_bytes, GLbitfield access) {
  void* const data = glMapBufferRange(target, 0, static_cast<GLsizeiptr>(size_bytes), access);
  if (data == nullptr) return {};
  return {static_cast<std::byte*>(data), size_bytes};
}

// OpenGL leaves new memory as it is.
bool clear(std::size_t size_bytes) {
  const auto bytes = map_whole(size_bytes, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
  if (bytes.empty()) return false;
  std::memset(bytes.data(), 0, bytes.size());
  return glUnmapBuffer(target) == GL_TRUE;
}

Result<GLuint> make_object(std::size_t size_bytes) {
  GLuint name = 0;
  glGenBuffers(1, &name);
  bool is_made = false;
  {
    const Bound bound(name);
    while (glGetError() != GL_NO_ERROR) {
    }
    glBufferData(target, static_cast<GLsizeiptr>(size_bytes), nullptr, GL_STREAM_COPY);
    is_made = glGetError() == GL_NO_ERROR && clear(size_bytes);
  }
  if (is_made) return name;
  glDeleteBuffers(1, &name);
  return fail(Errc::no_memory, "memory: OpenGL has no memory for the pixel buffer", "{} bytes",
              size_bytes);
}

}  // namespace

class PboBuffer::Key {};

PboBuffer::PboBuffer(Key, std::shared_ptr<Worker> worker, std::size_t size_bytes,
                     std::uint32_t name) noexcept
    : DeviceThreadBuffer(size_bytes, Memory::pbo, worker), worker_(std::move(worker)), name_(name) {
  ++pixel_buffer_count;
}

Result<std::shared_ptr<PboBuffer>> PboBuffer::create(std::shared_ptr<Worker> worker,
                                                     std::size_t size_bytes) {
  if (size_bytes > static_cast<std::size_t>(std::numeric_limits<GLsizeiptr>::max()))
    return fail(Errc::no_memory, "memory: too large for a pixel buffer", "{} bytes", size_bytes);
  GLuint name = 0;
  HALYARD_RETURN_IF_ERROR(worker->run([&]() -> Status {
    HALYARD_TRY(name, make_object(size_bytes));
    return {};
  }));
  return std::make_shared<PboBuffer>(Key{}, std::move(worker), size_bytes, name);
}

PboBuffer::~PboBuffer() {
  release_attachments();
  worker_->post([name = name_] {
    const GLuint doomed = name;
    glDeleteBuffers(1, &doomed);
    --pixel_buffer_count;
  });
}

Result<std::span<std::byte>> PboBuffer::map_on_thread(Access access) {
  GLbitfield flags = 0;
  if (can_read(access)) flags |= GL_MAP_READ_BIT;
  if (can_write(access)) flags |= GL_MAP_WRITE_BIT;
  const Bound bound(name_);
  const auto bytes = map_whole(size_bytes(), flags);
  if (!bytes.empty()) return bytes;
  return fail(Errc::device, "access: OpenGL cannot map the pixel buffer", "error {:#x}",
              glGetError());
}

void PboBuffer::unmap_on_thread() noexcept {
  const Bound bound(name_);
  if (glUnmapBuffer(target) == GL_TRUE) return;
  HALYARD_LOG(LogLevel::warn, "gl", "the driver lost the content of pixel buffer {}", id());
}

std::size_t live_pixel_buffers() noexcept {
  return pixel_buffer_count.load();
}

}  // namespace halyard::gl
