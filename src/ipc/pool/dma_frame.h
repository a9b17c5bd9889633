// SPDX-License-Identifier: Apache-2.0
// Frames whose elements lie in DMA-BUFs. Their slot holds a list of the buffers and is lent like
// any other slot, so the sender knows when no process has the frame any more. The descriptors of
// the buffers are sent over the socket, once to each subscriber.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "halyard/buffer.h"
#include "halyard/fd.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "ipc/node/node.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/slot_buffer.h"

namespace halyard::ipc {

/// Names a buffer of a process, together with the process. Also the body of requests about a
/// buffer.
struct BufferFacts {
  std::uint64_t id = 0;     ///< Buffer::id() in that process, never used again
  std::uint64_t bytes = 0;  ///< of the whole buffer
};
static_assert(sizeof(BufferFacts) == 16 && offsetof(BufferFacts, id) == 0 &&
              offsetof(BufferFacts, bytes) == 8);

/// The content of a DMA-BUF frame's slot.
struct BufferList {
  static constexpr std::uint64_t magic_value = 0x31667542616D4448;  ///< "HDmaBuf1"

  std::uint64_t magic = magic_value;
  std::uint32_t count = 0;  ///< 1: all planes lie in one buffer; else one buffer per plane
  std::uint32_t reserved = 0;
  BufferFacts buffers[3] = {};
};
static_assert(sizeof(BufferList) == 64 && offsetof(BufferList, magic) == 0 &&
              offsetof(BufferList, count) == 8 && offsetof(BufferList, buffers) == 16);

/// The buffers of a tensor in the order of BufferList. Empty if not all of them are DMA-BUFs.
std::vector<std::shared_ptr<Buffer>> dma_buffers_of(const Tensor& tensor);
BufferList list_of(std::span<const std::shared_ptr<Buffer>> buffers) noexcept;
/// The list in a slot. Errors: malformed.
Result<BufferList> read_list(std::span<const std::byte> slot);

/// The buffers of frames that this process has sent. Each is held as long as its slot has the
/// tenant that names it. Thread-safe.
class HALYARD_LOCAL SentBuffers {
 public:
  void hold(std::uint32_t slot, std::uint64_t generation,
            std::vector<std::shared_ptr<Buffer>> buffers);
  /// Null if no frame that is still in use lies in it.
  std::shared_ptr<Buffer> find(std::uint64_t id) const;
  /// Releases the buffers whose slots are free. Destructors of buffers may run here.
  void collect(const Arena& arena) noexcept;
  bool is_empty() const noexcept { return count() == 0; }
  std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::uint32_t slot = 0;
    std::uint64_t generation = 0;
    std::vector<std::shared_ptr<Buffer>> buffers;
  };
  std::atomic<std::size_t> count_{0};
  mutable RankedMutex<LockRank::leaf> mutex_;
  std::vector<Entry> entries_;
};

/// A buffer that a publisher passed ahead of a frame in it.
struct HALYARD_LOCAL PassedBuffer {
  NodeId owner;
  BufferFacts facts;
  Fd fd;
};

/// The buffers of other processes' frames that one subscriber knows. Thread-bound.
class HALYARD_LOCAL ReceivedBuffers {
 public:
  /// Errors: those of Importer::import_buffer(), corrupt (smaller than `passed.facts` states).
  Status take(const PassedBuffer& passed);
  /// The buffer, for reading. If it was not passed, asks the process `owner`, provided that it
  /// `may_ask`. Errors: also those of Node::ask(), malformed, timeout.
  Result<std::shared_ptr<Buffer>> get(Node& node, const NodeId& owner, std::uint64_t arena_id,
                                      const BufferFacts& facts, bool may_ask);
  void forget(const NodeId& owner) noexcept;
  /// Number of descriptors that were received.
  std::uint64_t count() const noexcept { return count_; }

 private:
  struct Known {
    NodeId owner;
    std::uint64_t id = 0;
    std::uint64_t last_use = 0;
    std::shared_ptr<Buffer> buffer;
  };
  Result<std::shared_ptr<Buffer>> keep(const NodeId& owner, const BufferFacts& facts, int fd);
  void forget_unused() noexcept;

  std::vector<Known> known_;
  std::uint64_t uses_ = 0;
  std::uint64_t count_ = 0;
};

/// A pointer to the buffer that also keeps the slot of its frame.
std::shared_ptr<Buffer> with_slot(std::shared_ptr<Buffer> buffer, std::shared_ptr<Buffer> slot);

}  // namespace halyard::ipc
