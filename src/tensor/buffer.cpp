// SPDX-License-Identifier: Apache-2.0
// The front of all buffers: identity, maps, attachments.
#include "halyard/buffer.h"

#include <algorithm>
#include <utility>

#include "base/format_error.h"
#include "halyard/trace.h"

namespace halyard {
namespace {
std::atomic<std::uint64_t> last_id{0};
}

std::string_view to_string(Memory memory) noexcept {
  switch (memory) {
    case Memory::mem:
      return "mem";
    case Memory::dma:
      return "dma";
    case Memory::shm:
      return "shm";
    case Memory::pbo:
      return "pbo";
    case Memory::automatic:
      break;
  }
  return "automatic";
}

Map::Map(Map&& other) noexcept
    : buffer_(std::move(other.buffer_)), bytes_(other.bytes_), access_(other.access_) {
  other.bytes_ = {};
}

Map& Map::operator=(Map&& other) noexcept {
  if (this != &other) {
    end();
    buffer_ = std::move(other.buffer_);
    bytes_ = std::exchange(other.bytes_, {});
    access_ = other.access_;
  }
  return *this;
}

Map::~Map() {
  end();
}

void Map::end() noexcept {
  if (!buffer_) return;
  buffer_->end_access(access_);
  buffer_.reset();
  bytes_ = {};
}

Buffer::Buffer(std::size_t size_bytes, Memory memory, bool writable) noexcept
    : size_bytes_(size_bytes),
      id_(last_id.fetch_add(1, std::memory_order_relaxed) + 1),
      memory_(memory),
      writable_(writable) {}

Buffer::~Buffer() = default;

Result<Map> Buffer::map(Access access) {
  trace::Span span("tensor.map");
  span.arg("bytes", size_bytes_).arg("memory", to_string(memory_));
  if (can_write(access) && !writable_) {
    return fail(Errc::permission, "access: the buffer is read-only", "buffer {} of {}", id_,
                to_string(memory_));
  }
  HALYARD_TRY(const std::span<std::byte> bytes, begin_access(access));
  return Map(shared_from_this(), bytes, access);
}

Attachment* Buffer::attachment(const void* owner) const {
  const std::lock_guard lock(attachments_mutex_);
  const auto it = std::find_if(attachments_.begin(), attachments_.end(),
                               [owner](const auto& entry) { return entry.first == owner; });
  return it == attachments_.end() ? nullptr : it->second.get();
}

void Buffer::attach(const void* owner, std::unique_ptr<Attachment> value) {
  // The replaced attachment dies outside the lock: its destructor may call back.
  const std::lock_guard lock(attachments_mutex_);
  for (auto& entry : attachments_) {
    if (entry.first == owner) {
      entry.second.swap(value);
      return;
    }
  }
  attachments_.emplace_back(owner, std::move(value));
}

void Buffer::detach(const void* owner) {
  std::unique_ptr<Attachment> removed;
  const std::lock_guard lock(attachments_mutex_);
  const auto it = std::find_if(attachments_.begin(), attachments_.end(),
                               [owner](const auto& entry) { return entry.first == owner; });
  if (it == attachments_.end()) return;
  removed = std::move(it->second);
  attachments_.erase(it);
}

}  // namespace halyard
