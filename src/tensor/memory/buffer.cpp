// SPDX-License-Identifier: Apache-2.0
// The common part of all buffers: identity, maps, attachments.
#include "halyard/buffer.h"

#include <utility>

#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "halyard/enumerators.h"
#include "halyard/trace.h"
#include "tensor/memory/write_claim.h"

namespace halyard {
namespace {
std::atomic<std::uint64_t> last_id{0};
std::atomic<std::uint64_t> unplanned{0};
}  // namespace

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

std::string_view to_string(CpuAccess access) noexcept {
  return enumerator_name(access, "unknown");
}

std::uint64_t unplanned_cpu_accesses() noexcept {
  return unplanned.load(std::memory_order_relaxed);
}

void Map::end() noexcept {
  buffer_->end_access(access_);
  // Released last: the next writer must find this map's coherency work done.
  if (claim_ != nullptr) claim_->release();
}

[[gnu::hot]] Buffer::Buffer(std::size_t size_bytes, Memory memory, bool writable) noexcept
    : size_bytes_(size_bytes),
      id_(last_id.fetch_add(1, std::memory_order_relaxed) + 1),
      memory_(memory),
      writable_(writable) {}

[[gnu::hot]] Buffer::~Buffer() {
  release_attachments();
}

Result<Fd> Buffer::clone_fd() const {
  if (fd() < 0) {
    return fail(Errc::unsupported, "memory: has no file descriptor", "buffer {} of {}", id_,
                to_string(memory_));
  }
  return Fd::duplicate(fd());
}

std::optional<FdIdentity> Buffer::identity() const noexcept {
  if (!identified_.load(std::memory_order_acquire)) {
    if (fd() < 0) return std::nullopt;
    const auto found = fd_identity(fd());
    if (!found) return std::nullopt;
    // Threads that ask at the same time store the same values.
    device_.store(found->device, std::memory_order_relaxed);
    inode_.store(found->inode, std::memory_order_relaxed);
    identified_.store(true, std::memory_order_release);
  }
  return FdIdentity{device_.load(std::memory_order_relaxed),
                    inode_.load(std::memory_order_relaxed)};
}

Result<Map> Buffer::map(Access access, std::span<const ByteRegion> regions) {
  return map_shared(shared_from_this(), access, regions, true);
}

Result<Map> Buffer::map_unclaimed(Access access) {
  return map_shared(shared_from_this(), access, {}, false);
}

Result<Map> Buffer::map_shared(std::shared_ptr<Buffer> self, Access access,
                               std::span<const ByteRegion> regions, bool claimed) {
  Buffer& buffer = *self;
  trace::Span span("tensor.map");
  if (trace::is_active())
    span.arg("bytes", buffer.size_bytes_).arg("memory", to_string(buffer.memory_));
  if (can_write(access) && !buffer.is_writable()) {
    return fail(Errc::permission, "access: the buffer is read-only", "buffer {} of {}", buffer.id_,
                to_string(buffer.memory_));
  }
  WriteClaim* mine = nullptr;
  if (claimed && can_write(access)) {
    HALYARD_TRY(mine, buffer.claim(regions));
  }
  auto bytes = buffer.begin_access(access);
  if (!bytes) {
    if (mine != nullptr) mine->release();
    return std::move(bytes).error();
  }
  const auto declared = static_cast<unsigned>(buffer.cpu_access_.load(std::memory_order_relaxed));
  if ((static_cast<unsigned>(access) & ~declared) != 0) buffer.note_unplanned(access);
  return Map(std::move(self), *bytes, access, mine);
}

void Buffer::note_unplanned(Access access) noexcept {
  unplanned.fetch_add(1, std::memory_order_relaxed);
  if (unplanned_noted_.exchange(true, std::memory_order_relaxed)) return;
  HALYARD_LOG(LogLevel::warn, "tensor",
              "buffer {} of {} was declared for CPU access '{}' and is mapped for '{}'", id_,
              to_string(memory_), to_string(cpu_access()),
              to_string(static_cast<CpuAccess>(access)));
}

// One attachment in a buffer's list. The latest is first.
struct Buffer::Attached {
  const void* owner;
  std::unique_ptr<Attachment> value;
  Attached* next;
};

[[gnu::hot]] void Buffer::release_attachments() noexcept {
  // Called when nobody else holds the buffer.
  if (attached_ == nullptr) return;
  // Destructors of attachments may call back, so they run after the lock is released.
  Attached* released = nullptr;
  {
    const HeldRank<LockRank::leaf> rank;
    const ForkTakingLock lock(attachments_mutex_);
    released = std::exchange(attached_, nullptr);
  }
  while (released != nullptr) {
    const std::unique_ptr<Attached> first(released);
    released = first->next;
  }
}

Attachment* Buffer::attachment(const void* owner) const {
  const HeldRank<LockRank::leaf> rank;
  const ForkTakingLock lock(attachments_mutex_);
  for (const Attached* at = attached_; at != nullptr; at = at->next)
    if (at->owner == owner) return at->value.get();
  return nullptr;
}

void Buffer::attach(const void* owner, std::unique_ptr<Attachment> value) {
  // The replaced attachment is destroyed outside the lock: its destructor may call back.
  auto fresh = std::make_unique<Attached>(Attached{owner, nullptr, nullptr});
  const HeldRank<LockRank::leaf> rank;
  const ForkTakingLock lock(attachments_mutex_);
  for (Attached* at = attached_; at != nullptr; at = at->next) {
    if (at->owner == owner) {
      at->value.swap(value);
      return;
    }
  }
  fresh->value = std::move(value);
  fresh->next = attached_;
  attached_ = fresh.release();
}

void Buffer::detach(const void* owner) {
  std::unique_ptr<Attached> removed;
  const HeldRank<LockRank::leaf> rank;
  const ForkTakingLock lock(attachments_mutex_);
  for (Attached** link = &attached_; *link != nullptr; link = &(*link)->next) {
    if ((*link)->owner != owner) continue;
    removed.reset(*link);
    *link = removed->next;
    return;
  }
}

}  // namespace halyard
