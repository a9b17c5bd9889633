// SPDX-License-Identifier: Apache-2.0
// The other endpoints of a topic, as one endpoint knows them, and the memory of each.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/local.h"
#include "base/system/mapped.h"
#include "base/system/ranked_mutex.h"
#include "halyard/result.h"
#include "ipc/node/node.h"
#include "ipc/pool/borrowed_arena.h"
#include "ipc/pool/dma_frame.h"
#include "ipc/topic/endpoint_memory.h"
#include "ipc/topic/frame_message.h"
#include "ipc/topic/notifier.h"
#include "ipc/topic/ring.h"

namespace halyard::ipc {

/// Requests for the key "topic/<name>".
enum class TopicRequest : std::uint32_t {
  join =
      1,  ///< EndpointFacts, descriptors of the memory and of the notifier; the answer has the same
  leave = 2,  ///< EndpointFacts
  offer = 3,  ///< ArenaOffer: the sender's frames lie there, or will; the answer is an acceptance
  look = 4,   ///< nothing; the answer is that of join. For tools, which do not take part
  /// BufferFacts and the descriptor of a DMA-BUF, which will hold frames.
  buffer = 5,
};
struct EndpointFacts {
  std::uint64_t id = 0;
  std::uint32_t role = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(EndpointFacts) == 16 && offsetof(EndpointFacts, id) == 0 &&
              offsetof(EndpointFacts, role) == 8);

/// Another endpoint of the topic, in any process.
struct HALYARD_LOCAL PeerEndpoint {
  NodeId node;
  std::uint64_t id = 0;
  bool publishes = false;
  bool subscribes = false;
  MappedMemory memory;
  EndpointView view;
  Fd notifier;
  /// The endpoint has left. What it has published can still be read.
  std::atomic<bool> has_left{false};
  // For endpoints that read its messages:
  ReadPlace place;
  std::uint64_t form_number = 0;  ///< of its last frame; 0: unknown
  TensorForm form;
  /// Until when its frames must not ask a process for memory, because such a process did not
  /// answer.
  std::chrono::steady_clock::time_point silent_until;
  ReaderRecord* record = nullptr;  ///< this endpoint's record of the peer's messages
  std::uint64_t received = 0;
  // For endpoints that publish to it:
  const ReaderRecord* its_record =
      nullptr;  ///< the peer's record of this endpoint's messages, once known
};

/// The endpoint in another process's memory, which must be at least as large as a header. Checks
/// the header's values. Errors: malformed, version.
Result<EndpointView> view_of_peer(const MappedMemory& memory, bool publishes,
                                  std::uint32_t entry_words, std::uint64_t layout_hash);
/// Opens an endpoint in another process's memory and checks its values. Errors: malformed, version,
/// permission, corrupt.
Result<std::shared_ptr<PeerEndpoint>> open_peer(const NodeId& node, const Parcel& parcel,
                                                const EndpointView& own);

/// Thread-safe.
class HALYARD_LOCAL TopicService final : public Service {
 public:
  struct Own {
    OwnMemory memory;
    EndpointView view;
    Notifier notifier;
    std::uint64_t id = 0;
    bool publishes = false;
    bool subscribes = false;
    std::uint32_t history = 0;
    std::uint32_t max_endpoints = 64;
  };
  TopicService(const std::shared_ptr<Node>& node, Own own) : node_(node), own_(std::move(own)) {}

  Result<Parcel> answer(const NodeId& from, std::uint32_t request, Parcel body) override;
  void forget(const NodeId& gone) override;

  const Own& own() const noexcept { return own_; }
  EndpointFacts facts() const noexcept;
  Result<Parcel> introduction() const;
  /// Adds another endpoint, unless it is known. `is_late`: this endpoint joined after it.
  Status add(std::shared_ptr<PeerEndpoint> peer, bool is_late);

  /// Tells all publishers, including those that have left, that this endpoint reads no more
  /// messages.
  void read_all() noexcept;
  /// Changes whenever the peers change.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  std::vector<std::shared_ptr<PeerEndpoint>> peers() const;
  /// What publishers have offered. The caller keeps or releases it, never the node's thread.
  /// `gone`: processes that have ended since, whose arenas can be released when all is read.
  struct Offers {
    std::vector<std::shared_ptr<BorrowedArena>> arenas;
    std::vector<PassedBuffer> buffers;
    std::vector<NodeId> gone;
  };
  Offers take_offers();
  /// Removes peers that have left and whose messages are all read.
  void remove(const std::vector<std::shared_ptr<PeerEndpoint>>& read) noexcept;

 private:
  Status begin_reading(PeerEndpoint& peer, bool is_late);
  void mark_left(PeerEndpoint& peer) noexcept;
  void wake() noexcept;
  Status check_offers(const NodeId& from) const;
  Status take_buffer(const NodeId& from, Parcel body);
  void drop_old_offers(std::vector<std::shared_ptr<BorrowedArena>>& dropped);
  bool drop_left() noexcept;

  std::weak_ptr<Node> node_;
  Own own_;
  std::atomic<std::uint64_t> version_{1};
  mutable RankedMutex<LockRank::leaf> mutex_;
  std::vector<std::shared_ptr<PeerEndpoint>> peers_;
  std::vector<std::shared_ptr<BorrowedArena>> arenas_;
  std::vector<PassedBuffer> buffers_;
  std::vector<NodeId> gone_;
};

/// Wakes all threads that wait at a word of shared memory, in any process.
void wake_all(const SharedWord& word) noexcept;
/// Waits at a word while its lower half is `seen`, until it is woken or the time is over.
void wait_at(const SharedWord& word, std::uint32_t seen, std::chrono::nanoseconds timeout) noexcept;

}  // namespace halyard::ipc
