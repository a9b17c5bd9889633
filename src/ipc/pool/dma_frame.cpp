// SPDX-License-Identifier: Apache-2.0
// Both ends of DMA-BUF frames: what the sender holds, and what the subscriber keeps mapped.
#include "ipc/pool/dma_frame.h"

#include <algorithm>
#include <cstring>

#include "base/text/format_error.h"
#include "halyard/import.h"
#include "ipc/pool/borrowed_arena.h"
#include "ipc/pool/loans.h"

namespace halyard::ipc {

std::vector<std::shared_ptr<Buffer>> dma_buffers_of(const Tensor& tensor) {
  std::vector<std::shared_ptr<Buffer>> buffers{tensor.buffer()};
  const std::size_t planes = tensor.is_image() ? tensor.plane_count() : 1;
  for (std::size_t i = 1; i < planes; ++i) {
    const auto plane = tensor.image_plane(i);
    if (!plane) return {};
    buffers.push_back(plane->buffer);
  }
  const auto is_dma = [](const auto& buffer) {
    return buffer && buffer->memory() == Memory::dma && buffer->fd() >= 0;
  };
  if (!std::all_of(buffers.begin(), buffers.end(), is_dma)) return {};
  const bool is_one = std::all_of(buffers.begin(), buffers.end(),
                                  [&](const auto& buffer) { return buffer == buffers[0]; });
  if (is_one) buffers.resize(1);
  return buffers;
}

BufferList list_of(std::span<const std::shared_ptr<Buffer>> buffers) noexcept {
  BufferList list;
  list.count = static_cast<std::uint32_t>(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i)
    list.buffers[i] = {buffers[i]->id(), buffers[i]->size_bytes()};
  return list;
}

Result<BufferList> read_list(std::span<const std::byte> slot) {
  BufferList list;
  if (slot.size() < sizeof(list))
    return fail(Errc::malformed, "message.device: its slot holds no list of buffers");
  std::memcpy(&list, slot.data(), sizeof(list));
  if (list.magic != BufferList::magic_value || list.count < 1 || list.count > 3)
    return fail(Errc::malformed, "message.device: its slot holds no list of buffers");
  return list;
}

void SentBuffers::hold(std::uint32_t slot, std::uint64_t generation,
                       std::vector<std::shared_ptr<Buffer>> buffers) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({slot, generation, std::move(buffers)});
  count_.store(entries_.size(), std::memory_order_relaxed);
}

std::shared_ptr<Buffer> SentBuffers::find(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_)
    for (const auto& buffer : entry.buffers)
      if (buffer->id() == id) return buffer;
  return nullptr;
}

// Takes one at a time: this needs no memory, and each is destroyed outside the lock.
void SentBuffers::collect(const Arena& arena) noexcept {
  for (;;) {
    Entry done;
    const std::lock_guard lock(mutex_);
    const auto free = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return (arena.generation(entry.slot) & ~closing_bit) != entry.generation;
    });
    if (free == entries_.end()) return;
    done = std::move(*free);
    entries_.erase(free);
    count_.store(entries_.size(), std::memory_order_relaxed);
  }
}

// The descriptor comes from another process: the buffer is imported read-only, and only if its
// owner cannot shrink it.
Result<std::shared_ptr<Buffer>> ReceivedBuffers::keep(const NodeId& owner, const BufferFacts& facts,
                                                      int fd) {
  constexpr std::size_t max_known = 256;
  ImportOptions options;
  options.size_bytes = facts.bytes;
  options.require_sealed = true;
  options.read_only = true;
  HALYARD_TRY(auto buffer, Importer::shared().import_buffer(fd, options));
  ++count_;
  if (known_.size() >= max_known) {
    known_.erase(std::min_element(known_.begin(), known_.end(), [](const Known& a, const Known& b) {
      return a.last_use < b.last_use;
    }));
  }
  known_.push_back({owner, facts.id, uses_, buffer});
  return buffer;
}

Status ReceivedBuffers::take(const PassedBuffer& passed) {
  for (const Known& known : known_)
    if (known.owner == passed.owner && known.id == passed.facts.id) return {};
  HALYARD_RETURN_IF_ERROR(keep(passed.owner, passed.facts, passed.fd.get()));
  return {};
}

Result<std::shared_ptr<Buffer>> ReceivedBuffers::get(Node& node, const NodeId& owner,
                                                     std::uint64_t arena_id,
                                                     const BufferFacts& facts, bool may_ask) {
  if (++uses_ % 64 == 0) forget_unused();
  for (Known& known : known_) {
    if (known.owner != owner || known.id != facts.id) continue;
    known.last_use = uses_;
    if (known.buffer->size_bytes() >= facts.bytes) return known.buffer;
    return fail(Errc::corrupt, "message: a buffer is smaller than the message states",
                "{} bytes, it has {}", facts.bytes, known.buffer->size_bytes());
  }
  if (!may_ask) return fail(Errc::timeout, "peer: did not answer an earlier request");
  HALYARD_TRY(const auto answers,
              node.ask(owner, arena_key(arena_id), static_cast<std::uint32_t>(ArenaRequest::buffer),
                       facts, {}, Deadline(std::chrono::milliseconds(500))));
  if (answers.empty() || answers[0].fds.size() != 1)
    return fail(Errc::malformed, "peer: sends no descriptor of the buffer");
  return keep(owner, facts, answers[0].fds[0].get());
}

// A publisher does not report that it uses other buffers, for example after its camera was set up
// again.
void ReceivedBuffers::forget_unused() noexcept {
  constexpr std::uint64_t max_uses = 256;
  std::erase_if(known_, [this](const Known& known) { return uses_ - known.last_use > max_uses; });
}

void ReceivedBuffers::forget(const NodeId& owner) noexcept {
  std::erase_if(known_, [&](const Known& known) { return known.owner == owner; });
}

std::shared_ptr<Buffer> with_slot(std::shared_ptr<Buffer> buffer, std::shared_ptr<Buffer> slot) {
  struct Held {
    std::shared_ptr<Buffer> slot;
    std::shared_ptr<Buffer> buffer;
  };
  Buffer* const shown = buffer.get();
  return {std::make_shared<Held>(Held{std::move(slot), std::move(buffer)}), shown};
}

}  // namespace halyard::ipc
