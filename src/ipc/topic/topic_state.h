// SPDX-License-Identifier: Apache-2.0
// The state of a topic's endpoint, for the files that send and that receive.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "halyard/topic.h"
#include "ipc/node/short_lock.h"
#include "ipc/pool/borrowed_arena.h"
#include "ipc/topic/endpoint_memory.h"
#include "ipc/topic/frame_message.h"
#include "ipc/topic/topic_entry.h"
#include "ipc/topic/topic_service.h"

namespace halyard {

/// How long to wait for a peer that may be stopped. Frames are late meanwhile: it is better to lose
/// them.
inline constexpr auto arena_timeout = std::chrono::milliseconds(500);

struct HALYARD_LOCAL TopicEndpoint::State {
  std::string name;
  ipc::TopicFacts facts;
  TopicConfig config;  // the configuration of this endpoint
  std::shared_ptr<ipc::Node> node;
  std::shared_ptr<ipc::TopicService> service;
  std::string member;  // the name of its file in the registry

  // The peers as the sending or the receiving side knows them.
  struct Known {
    std::uint64_t version = 0;
    std::vector<std::shared_ptr<ipc::PeerEndpoint>> peers;
  };

  // A camera frame that passes through the caches evicts everything else. So the data that each
  // message needs lies together, in the order of its use, and some of it is a second copy.
  // Protects the fields below that change.
  alignas(64) RankedMutex<LockRank::topic_send, ipc::ShortLock> send_mutex;
  bool publishes = false;
  bool has_frame = false;
  bool may_have_no_room = false;  // Overflow other than drop_oldest
  std::uint32_t process = fork_generation();
  std::uint32_t inline_bytes = 0;
  std::uint32_t head_words = 0;  // words of a frame's head, before the inline bytes
  std::uint64_t head = 0;        // number of messages sent
  ipc::RingMemory<ipc::SharedWord> ring;
  Known send_known;
  // The arena that all peers of this version know.
  std::uint64_t offered_version = 0;
  std::uint64_t offered_arena = 0;
  std::uint64_t sent_frame_bytes = 0;           // of the last frame
  std::vector<std::shared_ptr<Buffer>> window;  // frames of the last `depth` messages
  std::uint64_t first_kept = 0;                 // the oldest message whose frame is kept
  alignas(64) ipc::FrameHead sent_head;         // of the last frame
  ipc::TensorForm sent_form;
  std::uint64_t forms = 0;  // number of forms that sent frames have had
  std::vector<std::uint64_t>
      offered;  // arenas that all peers of `offered_version` have been offered
  std::set<std::pair<std::uint64_t, ipc::NodeId>> offers;
  std::set<std::pair<std::uint64_t, ipc::NodeId>>
      passed;  // ids of buffers, and the processes they were passed to

  // Protects the fields below.
  alignas(64) RankedMutex<LockRank::topic_receive, ipc::ShortLock> receive_mutex;
  Known receive_known;
  ipc::FrameHead received_head;
  std::size_t next_peer = 0;
  std::uint64_t lost = 0;
  std::uint64_t told_lost = 0;
  std::uint64_t received_before = 0;  // from publishers that were removed
  std::shared_ptr<ipc::BorrowedArena> last_arena;
  std::vector<std::shared_ptr<ipc::BorrowedArena>> arenas;
  ipc::ReceivedBuffers buffers;
  std::vector<ipc::NodeId> gone;  // ended processes whose arenas are released when all is read
  std::vector<ipc::NodeId> gone_before;  // the last of those that were released
  std::atomic<bool> fd_is_used{false};

  RankedMutex<LockRank::topic_pool> pool_mutex;
  std::shared_ptr<TensorPool> pool;

  RankedMutex<LockRank::leaf> stats_mutex;
  std::uint64_t copied_bytes = 0;
  std::uint64_t corrupt = 0;
  Error last_error;

  const ipc::EndpointView& own() const noexcept { return service->own().view; }
  bool is_of_this_process() const noexcept { return process == fork_generation(); }
  static void count(ipc::SharedWord& word, std::uint64_t more = 1) noexcept {
    word.store(word.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void refresh(Known& known, bool subscribers) const {
    if (known.version != service->version()) look_again(known, subscribers);
  }
  void refresh_receiver() {
    const std::uint64_t before = receive_known.version;
    refresh(receive_known, false);
    if (receive_known.version == before) return;
    ipc::TopicService::Offers offers_made = service->take_offers();
    for (auto& arena : offers_made.arenas)
      keep(std::move(arena));
    for (const ipc::PassedBuffer& buffer : offers_made.buffers)
      if (const auto taken = buffers.take(buffer); !taken) note(taken.error(), true);
    gone.insert(gone.end(), offers_made.gone.begin(), offers_made.gone.end());
  }
  void keep(std::shared_ptr<ipc::BorrowedArena> arena) {
    constexpr std::size_t max_kept = 256;
    constexpr std::ptrdiff_t max_kept_of_one = 16;
    if (std::find(arenas.begin(), arenas.end(), arena) != arenas.end()) return;
    const auto is_of_same = [&](const auto& other) {
      return other->identity().node == arena->identity().node;
    };
    if (std::count_if(arenas.begin(), arenas.end(), is_of_same) >= max_kept_of_one) {
      arenas.erase(std::find_if(arenas.begin(), arenas.end(), is_of_same));
    } else if (arenas.size() >= max_kept) {
      arenas.erase(arenas.begin());
    }
    // A process may forward a frame of an ended process, which a frame that is held here keeps
    // mapped.
    const ipc::NodeId& owner = arena->identity().node;
    if (std::find(gone_before.begin(), gone_before.end(), owner) != gone_before.end())
      gone.push_back(owner);
    arenas.push_back(std::move(arena));
  }
  // All messages are read, so none names frames of ended processes any more.
  void drop_gone() {
    const auto is_gone = [this](const std::shared_ptr<ipc::BorrowedArena>& arena) {
      return arena && std::find(gone.begin(), gone.end(), arena->identity().node) != gone.end();
    };
    if (is_gone(last_arena)) last_arena.reset();
    std::erase_if(arenas, is_gone);
    for (const ipc::NodeId& owner : gone)
      buffers.forget(owner);
    constexpr std::size_t max_names = 256;
    gone_before.insert(gone_before.end(), gone.begin(), gone.end());
    if (gone_before.size() > max_names)
      gone_before.erase(gone_before.begin(), gone_before.end() - max_names);
    gone.clear();
  }
  void note(const Error& error, bool is_corrupt) {
    const std::lock_guard lock(stats_mutex);
    // A frame that has left the window tells less than earlier errors.
    if (error.code != Errc::not_found || last_error.code == Errc::ok) last_error = error;
    if (is_corrupt) ++corrupt;
  }

  ~State();
  Result<std::vector<std::string>> enter(const std::optional<MessageType>& type,
                                         const Deadline& deadline);
  void look_again(Known& known, bool subscribers) const;
  bool may_send(std::size_t bytes, const Tensor* frame) const noexcept;
  Error why_not(std::size_t bytes, const Tensor* frame) const;
  Status send(std::span<const std::byte> bytes, const Tensor* frame,
              std::chrono::nanoseconds timeout);
  void offer(const ipc::SlotHome& home);
  void offer_to_all(const ipc::SlotHome& home);
  Status put_outside_frame(const Tensor& frame, std::shared_ptr<Buffer>& kept);
  Status put_slot_frame(const Tensor& frame, ipc::SlotBuffer& slot);
  Status put_new_form(const Tensor& frame, const ipc::SlotBuffer& slot);
  void claim_entry() const noexcept;
  void store_head(ipc::SharedWord* words) const;
  Result<Tensor> hold_buffers(std::vector<std::shared_ptr<Buffer>> dma_buffers);
  void pass(const Buffer& buffer);
  Result<Tensor> copy_to_pool(const Tensor& frame);
  const ipc::ReaderRecord* record_of(ipc::PeerEndpoint& peer) const;
  const ipc::ReaderRecord* find_full();
  void let_go_of_read_frames();
  Status find_room(std::chrono::nanoseconds timeout);
  Status wait_for_room(std::chrono::nanoseconds timeout);
  void wake_subscribers();

  Incoming recv(std::span<std::byte> bytes, Tensor* frame);
  bool read_from(ipc::PeerEndpoint& peer, std::span<std::byte> bytes, Tensor* frame);
  void load(const ipc::SharedWord* words, std::uint64_t known_form, std::span<std::byte> bytes);
  Status take_frame(ipc::PeerEndpoint& peer, Tensor& frame);
  Status take_new_form(ipc::PeerEndpoint& peer, std::shared_ptr<ipc::SlotBuffer> slot, bool may_ask,
                       Tensor& frame);
  Result<std::shared_ptr<ipc::SlotBuffer>> take_slot(const ipc::FrameHead& head, bool may_ask);
  Result<std::shared_ptr<ipc::SlotBuffer>> take_slot_elsewhere(const ipc::FrameHead& head,
                                                               bool may_ask);
  Result<Tensor> take_dma_frame(const ipc::FrameHead& head, std::shared_ptr<ipc::SlotBuffer> slot,
                                bool may_ask);
  bool finds_message();
  void begin_waiting_at_fd();
  void tell_position(ipc::PeerEndpoint& peer);
  bool wait_for(std::chrono::nanoseconds timeout);
  Result<std::shared_ptr<TensorPool>> get_pool();
};

}  // namespace halyard
