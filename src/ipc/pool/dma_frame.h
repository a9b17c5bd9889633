// SPDX-License-Identifier: Apache-2.0
// Frames whose elements lie in DMA-BUFs. Their slot holds a list of the buffers, and is lent like
// any other: so the sender knows when nobody has the frame any more. The buffers' descriptors go
// over the socket, once to each subscriber.
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
#include "halyard/buffer.h"
#include "halyard/fd.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "ipc/node/node.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/slot_buffer.h"

namespace halyard::ipc {

/// Names a buffer of a process, beside the process; also the body of requests that are about it.
struct BufferFacts {
  std::uint64_t id = 0;     ///< Buffer::id() there: never used again
  std::uint64_t bytes = 0;  ///< of the whole buffer
};
static_assert(sizeof(BufferFacts) == 16 && offsetof(BufferFacts, id) == 0 &&
              offsetof(BufferFacts, bytes) == 8);

/// What the slot of such a frame holds.
struct BufferList {
  static constexpr std::uint64_t magic_value = 0x31667542616D4448;  ///< "HDmaBuf1"

  std::uint64_t magic = magic_value;
  std::uint32_t count = 0;  ///< 1: all planes lie in one; else one for each plane
  std::uint32_t reserved = 0;
  BufferFacts buffers[3] = {};
};
static_assert(sizeof(BufferList) == 64 && offsetof(BufferList, magic) == 0 &&
              offsetof(BufferList, count) == 8 && offsetof(BufferList, buffers) == 16);

/// The buffers of a tensor that lies in DMA-BUFs alone, as BufferList counts them; none of another.
std::vector<std::shared_ptr<Buffer>> dma_buffers_of(const Tensor& tensor);
BufferList list_of(std::span<const std::shared_ptr<Buffer>> buffers) noexcept;
/// What a slot says. Errors: malformed.
Result<BufferList> read_list(std::span<const std::byte> slot);

/// The buffers of frames that this process has sent, held as long as their slots have the tenants
/// that name them. Thread-safe.
class HALYARD_LOCAL SentBuffers {
 public:
  void hold(std::uint32_t slot, std::uint64_t generation,
            std::vector<std::shared_ptr<Buffer>> buffers);
  /// Null: no frame that somebody has lies in it.
  std::shared_ptr<Buffer> find(std::uint64_t id) const;
  /// Lets go of those whose slots are free. What hangs on a buffer may run here.
  void collect(const Arena& arena) noexcept;
  bool is_empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  struct Entry {
    std::uint32_t slot = 0;
    std::uint64_t generation = 0;
    std::vector<std::shared_ptr<Buffer>> buffers;
  };
  std::atomic<std::size_t> count_{0};
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// A buffer that a publisher has passed before a frame in it.
struct HALYARD_LOCAL PassedBuffer {
  NodeId owner;
  BufferFacts facts;
  Fd fd;
};

/// Buffers of others' frames, as one subscriber knows them. Thread-bound.
class HALYARD_LOCAL ReceivedBuffers {
 public:
  /// Errors: those of Importer::import_buffer(), corrupt (smaller than said).
  Status take(const PassedBuffer& passed);
  /// The buffer, to read; asks the process `owner` where it was not passed, if it `may_ask`.
  /// Errors: also those of Node::ask(), malformed, timeout.
  Result<std::shared_ptr<Buffer>> get(Node& node, const NodeId& owner, std::uint64_t arena_id,
                                      const BufferFacts& facts, bool may_ask);
  void forget(const NodeId& owner) noexcept;
  /// Descriptors that came.
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

/// The buffer, which holds the slot of its frame as long as somebody has it.
std::shared_ptr<Buffer> with_slot(std::shared_ptr<Buffer> buffer, std::shared_ptr<Buffer> slot);

}  // namespace halyard::ipc
