// SPDX-License-Identifier: Apache-2.0
// Importer: one Buffer for each kernel object, as long as somebody holds it.
#include <array>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "base/local.h"
#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "halyard/import.h"
#include "halyard/trace.h"
#include "tensor/memory/buffer_kinds.h"
#include "tensor/memory/fd_kind.h"

namespace halyard {
namespace {

// A writable and a read-only descriptor of one object give two buffers.
struct ObjectKey {
  FdIdentity object;
  bool writable = false;
  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};

struct ObjectHash {
  std::size_t operator()(const ObjectKey& key) const noexcept {
    // Inodes count up and there are few devices, so neighbours spread without further mixing.
    return static_cast<std::size_t>(key.object.inode * 2 + (key.writable ? 1 : 0)) ^
           static_cast<std::size_t>(key.object.device << 32U);
  }
};

}  // namespace

// Shared with the buffers in it, which remove their own entries: they may outlive the Importer.
struct HALYARD_LOCAL Importer::Table {
  struct Entry {
    std::weak_ptr<Buffer> buffer;
    std::uint64_t id = 0;
  };

  // Lost after fork(): known buffers are not found again, all else works.
  mutable RankedForkMutex<LockRank::importer> mutex;
  std::unordered_map<ObjectKey, Entry, ObjectHash> entries;

  class Membership;
  static Result<std::shared_ptr<Buffer>> find_or_adopt(const std::shared_ptr<Table>& table, Fd fd,
                                                       const FdMemory& memory);
};

// Attached to each buffer; removes the buffer's entry when the buffer dies. Until then the buffer's
// own descriptor keeps the object alive, so the kernel cannot give its inode to another object
// while the entry can be found.
class Importer::Table::Membership final : public Attachment {
 public:
  Membership(std::shared_ptr<Table> table, const ObjectKey& key, std::uint64_t id) noexcept
      : table_(std::move(table)), key_(key), id_(id) {}
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  ~Membership() override {
    const RankedForkLock lock(table_->mutex);
    if (!lock) return;
    const auto it = table_->entries.find(key_);
    // A buffer that was imported while this one was being destroyed owns the entry by now.
    if (it != table_->entries.end() && it->second.id == id_) table_->entries.erase(it);
  }

 private:
  std::shared_ptr<Table> table_;
  ObjectKey key_;
  std::uint64_t id_;
};

namespace {

Result<Fd> duplicate(int fd) {
  auto own = Fd::duplicate(fd);
  if (!own) HALYARD_RETURN_IF_ERROR(fd_kind(fd));  // gives a better error for a bad descriptor
  return own;
}

Result<std::shared_ptr<Buffer>> adopt(Fd fd, const FdMemory& memory) {
  if (memory.kind == FdKind::dma_buf) {
    return adopt_dma_buffer(std::move(fd), memory.size_bytes, memory.writable);
  }
  return adopt_shared_memory(std::move(fd), memory.size_bytes, memory.writable, memory.may_shrink);
}

}  // namespace

Result<std::shared_ptr<Buffer>> Importer::Table::find_or_adopt(const std::shared_ptr<Table>& table,
                                                               Fd fd, const FdMemory& memory) {
  // Declared before the lock: if one of them is destroyed here, its Membership needs the lock.
  std::shared_ptr<Buffer> known;
  std::shared_ptr<Buffer> fresh;
  const ObjectKey key{memory.identity, memory.writable};
  const RankedForkLock lock(table->mutex);
  if (!lock) return adopt(std::move(fd), memory);
  const auto it = table->entries.find(key);
  if (it != table->entries.end()) known = it->second.buffer.lock();
  // An object that was resized since is imported again with its present size.
  if (known && known->size_bytes() == memory.size_bytes) return known;
  HALYARD_TRY(fresh, adopt(std::move(fd), memory));
  fresh->attach(table.get(), std::make_unique<Membership>(table, key, fresh->id()));
  table->entries[key] = {fresh, fresh->id()};
  return fresh;
}

Importer::Importer() : table_(std::make_shared<Table>()) {}
Importer::~Importer() = default;

Importer& Importer::shared() {
  static std::atomic<Importer*> once{nullptr};
  return made_once(once, [] { return new Importer; });
}

std::size_t Importer::size() const {
  const RankedForkLock lock(table_->mutex);
  return lock ? table_->entries.size() : 0;
}

Result<std::shared_ptr<Buffer>> Importer::import_buffer(int fd, const ImportOptions& options) {
  trace::Span span("tensor.import");
  // All later steps use a descriptor of our own, so that the caller may close his.
  HALYARD_TRY(Fd own, duplicate(fd));
  HALYARD_TRY(FdMemory memory, examine_memory(own.get()));
  if (options.require_sealed) HALYARD_RETURN_IF_ERROR(seal_memory(own.get(), memory));
  if (options.read_only) memory.writable = false;
  if (memory.size_bytes < options.size_bytes || memory.size_bytes == 0) {
    return fail(Errc::invalid_argument, "size: the object has fewer bytes than asked",
                "{} asked, the {} has {}", options.size_bytes, to_string(memory.kind),
                memory.size_bytes);
  }
  if (options.max_bytes != 0 && memory.size_bytes > options.max_bytes) {
    return fail(Errc::exhausted, "max_bytes: the object has more bytes",
                "the {} has {}, at most {}", to_string(memory.kind), memory.size_bytes,
                options.max_bytes);
  }
  span.arg("bytes", memory.size_bytes).arg("kind", to_string(memory.kind));
  return Table::find_or_adopt(table_, std::move(own), memory);
}

Result<Tensor> Importer::import_image(std::span<const PlaneDescriptor> planes, std::size_t width,
                                      std::size_t height, PixelFormat format, DType dtype,
                                      const ImportOptions& options) {
  std::array<Tensor::PlaneSource, 4> sources;
  if (planes.empty() || planes.size() > sources.size()) {
    return fail(Errc::invalid_argument, "planes: wrong count", "{} given, {} takes 1 or {}",
                planes.size(), to_string(format), info(format).planes);
  }
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const PlaneDescriptor& plane = planes[i];
    if (plane.modifier != planes[0].modifier) {
      return fail(Errc::invalid_argument, "planes: their modifiers differ", "plane {}: {}, not {}",
                  i, modifier_to_string(plane.modifier), modifier_to_string(planes[0].modifier));
    }
    HALYARD_TRY(sources[i].buffer, import_buffer(plane.fd, options));
    sources[i].offset_bytes = plane.offset_bytes;
    sources[i].stride_bytes = plane.stride_bytes;
  }
  return Tensor::wrap_image(std::span(sources).first(planes.size()), width, height, format, dtype,
                            planes[0].modifier);
}

}  // namespace halyard
