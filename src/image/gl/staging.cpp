// SPDX-License-Identifier: Apache-2.0
#include "image/gl/staging.h"

#include <epoxy/gl.h>

#include <algorithm>

namespace halyard::image {
namespace {

constexpr std::size_t max_kept_buffers = 16;  // of those that are free

GLenum target_of(Staging::Direction direction) noexcept {
  return direction == Staging::Direction::upload ? GL_PIXEL_UNPACK_BUFFER : GL_PIXEL_PACK_BUFFER;
}

}  // namespace

Staging::~Staging() {
  for (const Entry& entry : entries_)
    glDeleteBuffers(1, &entry.name);
}

std::uint32_t Staging::take(Direction direction, std::size_t size_bytes) {
  ++now_;
  for (Entry& entry : entries_) {
    // One that is much too large serves larger images better.
    const bool fits = entry.size_bytes >= size_bytes && entry.size_bytes / 2 <= size_bytes;
    if (entry.is_taken || entry.direction != direction || !fits) continue;
    entry.is_taken = true;
    entry.used = now_;
    return entry.name;
  }
  trim();
  Entry& made = entries_.emplace_back(Entry{0, direction, size_bytes, true, now_});
  const GLenum target = target_of(direction);
  glGenBuffers(1, &made.name);
  glBindBuffer(target, made.name);
  glBufferData(target, static_cast<GLsizeiptr>(size_bytes), nullptr,
               direction == Direction::upload ? GL_STREAM_DRAW : GL_STREAM_READ);
  glBindBuffer(target, 0);
  if (glGetError() == GL_NO_ERROR) return made.name;
  glDeleteBuffers(1, &made.name);
  entries_.pop_back();
  return 0;
}

void Staging::release(std::uint32_t name) noexcept {
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  if (entry != entries_.end()) entry->is_taken = false;
}

// Deletes the free buffer that was used longest ago if there are many.
void Staging::trim() {
  const auto free = [](const Entry& entry) { return !entry.is_taken; };
  if (static_cast<std::size_t>(std::ranges::count_if(entries_, free)) < max_kept_buffers) return;
  const auto oldest = std::ranges::min_element(entries_, {}, [](const Entry& entry) {
    return entry.is_taken ? ~std::uint64_t{0} : entry.used;
  });
  glDeleteBuffers(1, &oldest->name);
  entries_.erase(oldest);
}

std::span<std::byte> map_staging(Staging::Direction direction, std::size_t size_bytes) {
  const GLbitfield flags = direction == Staging::Direction::upload
                               ? GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT
                               : GL_MAP_READ_BIT;
  void* const data =
      glMapBufferRange(target_of(direction), 0, static_cast<GLsizeiptr>(size_bytes), flags);
  if (data == nullptr) return {};
  return {static_cast<std::byte*>(data), size_bytes};
}

bool unmap_staging(Staging::Direction direction) {
  return glUnmapBuffer(target_of(direction)) == GL_TRUE;
}

}  // namespace halyard::image
