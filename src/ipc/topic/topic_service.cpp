// SPDX-License-Identifier: Apache-2.0
// The other endpoints of a topic. An endpoint that joins introduces itself to those that are there;
// the lock of the registry's entry orders them.
#include "ipc/topic/topic_service.h"

#include <algorithm>
#include <chrono>

#include "base/system/futex.h"
#include "base/text/format_error.h"
#include "ipc/pool/borrowed_arena.h"

namespace halyard::ipc {

void wake_all(const SharedWord& word) noexcept {
  wake_all_at(&word);
}

void wait_at(const SharedWord& word, std::uint32_t seen,
             std::chrono::nanoseconds timeout) noexcept {
  static_assert(std::endian::native == std::endian::little, "the lower half comes first");
  wait_at_word(&word, seen, timeout);
}

Result<EndpointView> view_of_peer(const MappedMemory& memory, bool publishes,
                                  std::uint32_t entry_words, std::uint64_t layout_hash) {
  // The fields are copied once, so that what is checked is what is used.
  const auto& header =
      *std::launder(reinterpret_cast<const EndpointHeader*>(memory.bytes().data()));
  const EndpointLayout layout{header.readers, header.entries, header.entry_words};
  const std::uint64_t magic = header.magic;
  if (magic != EndpointHeader::magic_value || header.version != EndpointHeader::version_value ||
      header.byte_order != EndpointHeader::byte_order_value)
    return fail(Errc::version, "peer: its endpoint has another layout");
  constexpr std::uint32_t max_readers = 1024;
  constexpr std::uint32_t max_entries = 4096;
  const bool fits = layout.readers <= max_readers && layout.entries <= max_entries &&
                    layout.entry_words == entry_words &&
                    (layout.entries == 0 || std::has_single_bit(layout.entries)) &&
                    layout.size_bytes() <= memory.bytes().size();
  if (!fits || (publishes && layout.entries == 0) || header.layout_hash != layout_hash)
    return fail(Errc::malformed, "peer: the header of its endpoint's memory is not valid");
  return EndpointView(memory.bytes(), layout);
}

Result<std::shared_ptr<PeerEndpoint>> open_peer(const NodeId& node, const Parcel& parcel,
                                                const EndpointView& own) {
  const auto facts = parcel.as<EndpointFacts>();
  if (!facts || facts->id == 0 || facts->role < 1 || facts->role > 3 || parcel.fds.size() != 2)
    return fail(Errc::malformed, "peer: its description of its endpoint is not valid");
  auto peer = std::make_shared<PeerEndpoint>();
  peer->node = node;
  peer->id = facts->id;
  peer->publishes = (facts->role & 1U) != 0;
  peer->subscribes = (facts->role & 2U) != 0;
  HALYARD_TRY(peer->memory, map_peer_memory(parcel.fds[0], sizeof(EndpointHeader)));
  HALYARD_TRY(peer->notifier, parcel.fds[1].duplicate());
  HALYARD_TRY(peer->view, view_of_peer(peer->memory, peer->publishes, own.layout().entry_words,
                                       own.header().layout_hash));
  return peer;
}

EndpointFacts TopicService::facts() const noexcept {
  return {own_.id, (own_.publishes ? 1U : 0U) | (own_.subscribes ? 2U : 0U), 0};
}

Result<Parcel> TopicService::introduction() const {
  Parcel parcel = Parcel::of(facts());
  for (const Fd* fd : {&own_.memory.fd, &own_.notifier.sender()}) {
    HALYARD_TRY(Fd own, fd->duplicate());
    parcel.fds.push_back(std::move(own));
  }
  return parcel;
}

Result<Parcel> TopicService::answer(const NodeId& from, std::uint32_t request, Parcel body) {
  switch (static_cast<TopicRequest>(request)) {
    case TopicRequest::join: {
      HALYARD_TRY(auto peer, open_peer(from, body, own_.view));
      // This endpoint's own request, in a process that has several endpoints.
      if (peer->id == own_.id) return introduction();
      HALYARD_RETURN_IF_ERROR(add(std::move(peer), false));
      return introduction();
    }
    case TopicRequest::offer: {
      const auto node = node_.lock();
      if (!node || !own_.subscribes) return Parcel{};
      HALYARD_RETURN_IF_ERROR(check_offers(from));
      HALYARD_TRY(auto arena, BorrowedArena::accept(node, from, body));
      HALYARD_TRY(Parcel acceptance, arena->acceptance());
      const std::lock_guard lock(mutex_);
      arenas_.push_back(std::move(arena));
      version_.fetch_add(1, std::memory_order_release);
      return acceptance;
    }
    case TopicRequest::look:
      return introduction();
    case TopicRequest::buffer:
      HALYARD_RETURN_IF_ERROR(take_buffer(from, std::move(body)));
      return Parcel{};
    case TopicRequest::leave: {
      const auto facts = body.as<EndpointFacts>();
      if (!facts) return fail(Errc::malformed, "request: has a wrong size");
      const std::lock_guard lock(mutex_);
      for (const auto& peer : peers_)
        if (peer->node == from && peer->id == facts->id) mark_left(*peer);
      std::erase_if(peers_, [](const auto& peer) { return peer->has_left && !peer->record; });
      return Parcel{};
    }
  }
  return fail(Errc::malformed, "request: is unknown to a topic", "{}", request);
}

// Limits the offers of one process that have not been taken yet.
Status TopicService::check_offers(const NodeId& from) const {
  constexpr std::ptrdiff_t max_offers = 8;
  const std::lock_guard lock(mutex_);
  const auto of_it = std::count_if(arenas_.begin(), arenas_.end(), [&](const auto& arena) {
    return arena->identity().node == from;
  });
  if (of_it < max_offers) return {};
  return fail(Errc::exhausted, "topic: too many offers of memory are not taken yet");
}

Status TopicService::take_buffer(const NodeId& from, Parcel body) {
  constexpr std::ptrdiff_t max_buffers = 32;
  const auto facts = body.as<BufferFacts>();
  if (!facts || body.fds.size() != 1) return fail(Errc::malformed, "request: has a wrong size");
  if (!own_.subscribes) return {};
  const std::lock_guard lock(mutex_);
  const auto of_it = std::count_if(buffers_.begin(), buffers_.end(),
                                   [&](const auto& buffer) { return buffer.owner == from; });
  if (of_it >= max_buffers)
    return fail(Errc::exhausted, "topic: too many passed buffers are not taken yet");
  buffers_.push_back({from, *facts, std::move(body.fds[0])});
  version_.fetch_add(1, std::memory_order_release);
  return {};
}

void TopicService::mark_left(PeerEndpoint& peer) noexcept {
  peer.has_left.store(true, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
  wake();
}

void TopicService::forget(const NodeId& gone) {
  std::vector<std::shared_ptr<BorrowedArena>> not_wanted;
  const std::lock_guard lock(mutex_);
  for (const auto& peer : peers_)
    if (peer->node == gone) mark_left(*peer);
  gone_.push_back(gone);
  version_.fetch_add(1, std::memory_order_release);
  drop_old_offers(not_wanted);
  // The memory of publishers that have left is kept until it is read.
  std::erase_if(peers_, [](const auto& peer) { return peer->has_left && !peer->record; });
}

// Keeps the offers of only a few ended processes, in case this endpoint never receives.
void TopicService::drop_old_offers(std::vector<std::shared_ptr<BorrowedArena>>& dropped) {
  constexpr std::size_t max_gone = 8;
  constexpr std::size_t max_names = 4096;
  if (gone_.size() <= max_gone) return;
  const NodeId oldest = gone_[gone_.size() - 1 - max_gone];
  if (gone_.size() > max_names) gone_.erase(gone_.begin());
  std::erase_if(buffers_, [&](const auto& buffer) { return buffer.owner == oldest; });
  std::erase_if(arenas_, [&](auto& arena) {
    if (arena->identity().node != oldest) return false;
    dropped.push_back(std::move(arena));
    return true;
  });
}

Status TopicService::add(std::shared_ptr<PeerEndpoint> peer, bool is_late) {
  const std::lock_guard lock(mutex_);
  std::size_t others = 0;
  for (const auto& known : peers_) {
    if (known->id == peer->id) return {};
    others += known->has_left ? 0 : 1;
  }
  if (others >= std::size_t{2} * own_.max_endpoints) {
    return fail(Errc::exhausted, "topic: has the maximum number of endpoints", "{} others", others);
  }
  if (peer->publishes && own_.subscribes) HALYARD_RETURN_IF_ERROR(begin_reading(*peer, is_late));
  peers_.push_back(std::move(peer));
  version_.fetch_add(1, std::memory_order_release);
  wake();
  return {};
}

// If the publisher joined later, reads from its first message; else from its last `history` ones.
Status TopicService::begin_reading(PeerEndpoint& peer, bool is_late) {
  ReaderRecord* const records = own_.view.records();
  const std::uint32_t count = own_.view.layout().readers;
  const auto find_free = [&] {
    return std::find_if(records, records + count, [](const ReaderRecord& r) {
      return r.publisher.load(std::memory_order_relaxed) == 0;
    });
  };
  ReaderRecord* free = find_free();
  if (free == records + count && drop_left()) free = find_free();
  if (free == records + count) {
    return fail(Errc::exhausted, "topic: reads the maximum number of publishers", "{}", count);
  }
  const SharedWord& head = peer.view.header().head;
  const auto begin = [&] {
    const std::uint64_t published = head.load(std::memory_order_acquire);
    const std::uint64_t wanted = is_late ? own_.history : std::uint64_t{peer.view.layout().entries};
    return published > wanted ? published - wanted : 0;
  };
  peer.place = {};
  peer.place.next = begin();
  free->received.store(0, std::memory_order_relaxed);
  free->lost.store(0, std::memory_order_relaxed);
  free->position.store(peer.place.next, std::memory_order_relaxed);
  free->publisher.store(peer.id, std::memory_order_seq_cst);
  // From here on a publisher that waits for its readers knows this one.
  if (is_late) {
    peer.place.next = std::max(peer.place.next, begin());
    free->position.store(peer.place.next, std::memory_order_release);
  }
  peer.record = free;
  return {};
}

void TopicService::read_all() noexcept {
  ReaderRecord* const records = own_.view.records();
  for (std::uint32_t i = 0; i < own_.view.layout().readers; ++i)
    records[i].position.store(UINT64_MAX, std::memory_order_release);
}

// For an endpoint that has not received for a long time: drops the first publisher that has left.
// Its unread messages are lost.
bool TopicService::drop_left() noexcept {
  const auto left = std::find_if(peers_.begin(), peers_.end(), [](const auto& peer) {
    return peer->has_left && peer->record != nullptr;
  });
  if (left == peers_.end()) return false;
  (*left)->record->publisher.store(0, std::memory_order_release);
  peers_.erase(left);
  return true;
}

TopicService::Offers TopicService::take_offers() {
  const std::lock_guard lock(mutex_);
  return {std::exchange(arenas_, {}), std::exchange(buffers_, {}), std::exchange(gone_, {})};
}

std::vector<std::shared_ptr<PeerEndpoint>> TopicService::peers() const {
  const std::lock_guard lock(mutex_);
  return peers_;
}

void TopicService::remove(const std::vector<std::shared_ptr<PeerEndpoint>>& read) noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& peer : read) {
    if (peer->record != nullptr) peer->record->publisher.store(0, std::memory_order_release);
    peer->record = nullptr;
    std::erase(peers_, peer);
  }
  version_.fetch_add(1, std::memory_order_release);
}

// Makes threads that wait on this endpoint look at the peers again.
void TopicService::wake() noexcept {
  SharedWord::fence(std::memory_order_seq_cst);
  const std::uint64_t waits = own_.view.header().waits.load(std::memory_order_relaxed);
  if (waits == 0) return;
  notify(own_.notifier.sender());
  for (const auto& peer : peers_)
    if (peer->publishes) wake_all(peer->view.header().head);
}

}  // namespace halyard::ipc
