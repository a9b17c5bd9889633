// SPDX-License-Identifier: Apache-2.0
// Endpoints of topics: receiving, and waiting for messages.
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/system/tsan.h"
#include "base/text/format_error.h"
#include "ipc/pool/pool_part.h"
#include "ipc/topic/topic_state.h"

namespace halyard {

using namespace ipc;  // NOLINT: this file is a front of that folder

namespace {

// How long frames of a publisher are not waited for after one did not arrive in time.
constexpr auto silence_time = std::chrono::seconds(5);

// Whether a frame was refused because its publisher describes it wrongly. Other causes: it has left
// the window (not_found), its process was killed or stopped while it freed the slot (busy), has
// ended, or does not answer (timeout), or this process has run out of a resource.
bool is_nonsense(Errc code) {
  switch (code) {
    case Errc::not_found:
    case Errc::busy:
    case Errc::timeout:
    case Errc::exhausted:
    case Errc::no_memory:
    case Errc::os:
      return false;
    default:
      return true;
  }
}

std::uint32_t slot_index(const FrameHead& head) {
  return head.descriptor.slot_id & 0xFFFFFFU;
}

// Waits until this endpoint is woken or the time is over: at the head of the publisher `peer` while
// its lower half is `seen`, or at the descriptor if `peer` is null.
void wait_at_head_or_fd(const PeerEndpoint* peer, std::uint32_t seen, const Notifier& notifier,
                        std::chrono::nanoseconds timeout) {
  if (peer != nullptr) {
    wait_at(peer->view.header().head, seen, timeout);
  } else {
    pollfd poll = {notifier.fd(), POLLIN, 0};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    ::poll(&poll, 1, static_cast<int>(ms));
  }
}

}  // namespace

[[gnu::hot]] inline Result<std::shared_ptr<SlotBuffer>> TopicEndpoint::State::take_slot(
    const FrameHead& head, bool may_ask) {
  // `last_arena` is an arena of another process, never of this one.
  if (!last_arena || last_arena->identity().arena_id != head.arena_id)
    return take_slot_elsewhere(head, may_ask);
  return last_arena->borrow(slot_index(head), head.descriptor.generation(), may_ask);
}

[[gnu::noinline]] Result<std::shared_ptr<SlotBuffer>> TopicEndpoint::State::take_slot_elsewhere(
    const FrameHead& head, bool may_ask) {
  const std::uint64_t generation = head.descriptor.generation();
  if (head.owner == node->id()) {
    HALYARD_TRY(const auto part, PoolPart::find(head.arena_id));
    HALYARD_TRY(auto own, part->attach(slot_index(head), generation));
    tsan_acquire(own->bytes().data());
    return own;
  }
  const auto known = std::find_if(arenas.begin(), arenas.end(), [&](const auto& arena) {
    return arena->identity().arena_id == head.arena_id;
  });
  if (known != arenas.end()) {
    last_arena = *known;
  } else {
    if (!may_ask) return fail(Errc::timeout, "peer: did not answer an earlier request");
    HALYARD_TRY(last_arena,
                BorrowedArena::get(node, head.owner, head.arena_id, Deadline(arena_timeout)));
    keep(last_arena);
  }
  return last_arena->borrow(slot_index(head), generation, may_ask);
}

[[gnu::hot]] inline Status TopicEndpoint::State::take_frame(PeerEndpoint& peer, Tensor& frame) {
  using Clock = std::chrono::steady_clock;
  const FrameHead& head = received_head;
  const bool may_ask =
      peer.silent_until == Clock::time_point() || Clock::now() >= peer.silent_until;
  auto slot = take_slot(head, may_ask);
  if (!slot) {
    if (may_ask && slot.error().code == Errc::timeout)
      peer.silent_until = Clock::now() + silence_time;
    return std::move(slot).error();
  }
  if (head.form == 0 || head.form != peer.form_number)
    return take_new_form(peer, *std::move(slot), may_ask, frame);
  const std::uint64_t offset = head.descriptor.offset - (*slot)->place().offset;
  return peer.form.put_over(*std::move(slot), offset, frame);
}

[[gnu::noinline]] Status TopicEndpoint::State::take_new_form(PeerEndpoint& peer,
                                                             std::shared_ptr<SlotBuffer> slot,
                                                             bool may_ask, Tensor& frame) {
  const FrameHead& head = received_head;
  const bool is_dma = head.is_dma();
  HALYARD_TRY(frame, is_dma ? take_dma_frame(head, std::move(slot), may_ask)
                            : tensor_of(head, std::move(slot)));
  peer.form_number = is_dma ? 0 : head.form;
  if (peer.form_number != 0) peer.form = TensorForm(frame);
  return {};
}

// For a frame of a known form, the first line of the head is enough.
[[gnu::hot]] void TopicEndpoint::State::load(const SharedWord* words, std::uint64_t known_form,
                                             std::span<std::byte> bytes) {
  if (facts.type.has_frame) {
    const auto head_bytes = std::as_writable_bytes(std::span(&received_head, 1));
    load_bytes(words, head_bytes.first(first_line_bytes));
    if (known_form == 0 || received_head.form != known_form) {
      load_bytes(words + first_line_bytes / sizeof(SharedWord),
                 head_bytes.subspan(first_line_bytes));
    }
  }
  load_bytes(words + head_words, bytes);
}

Result<Tensor> TopicEndpoint::State::take_dma_frame(const FrameHead& head,
                                                    std::shared_ptr<SlotBuffer> slot,
                                                    bool may_ask) {
  HALYARD_TRY(const BufferList list, read_list(slot->bytes()));
  std::array<std::shared_ptr<Buffer>, std::size(list.buffers)> held;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    HALYARD_TRY(auto buffer,
                buffers.get(*node, head.owner, head.arena_id, list.buffers[i], may_ask));
    held[i] = with_slot(std::move(buffer), slot);
  }
  return tensor_of(head, std::span(held).first(list.count));
}

[[gnu::hot]] void TopicEndpoint::State::tell_position(PeerEndpoint& peer) {
  ReaderRecord& record = *peer.record;
  record.received.store(peer.received, std::memory_order_relaxed);
  record.lost.store(peer.place.lost, std::memory_order_relaxed);
  record.position.store(peer.place.next, std::memory_order_release);
  if (facts.overflow != Overflow::block) return;
  SharedWord::fence(std::memory_order_seq_cst);
  if (peer.view.header().wants_room.load(std::memory_order_relaxed) != 0) wake_all(record.position);
}

// Reads one message of one publisher, if one is available.
[[gnu::hot]] bool TopicEndpoint::State::read_from(PeerEndpoint& peer, std::span<std::byte> bytes,
                                                  Tensor* frame) {
  const auto ring = peer.view.readable_ring();
  const std::uint64_t window = std::min<std::uint64_t>(facts.depth, ring.capacity);
  const std::uint64_t lost_before = peer.place.lost;
  bool found = false;
  // The limit of tries: a publisher that sends malformed messages faster than they are read does
  // not keep others from being read.
  for (std::uint64_t tries = 0; tries <= window; ++tries) {
    if (config.latest_only) peer.place.catch_up(ring, 1);
    const auto copy = [&](const SharedWord* words) { load(words, peer.form_number, bytes); };
    const Read read = peer.place.read_with(ring, window, copy);
    if (read != Read::message) break;
    if (facts.type.has_frame) {
      const auto taken = take_frame(peer, *frame);
      if (!taken) {
        ++peer.place.lost;
        note(taken.error(), is_nonsense(taken.error().code));
        peer.place.catch_up(ring, window);
        continue;
      }
    }
    found = true;
    break;
  }
  if (found) ++peer.received;
  lost += peer.place.lost - lost_before;
  if (found || peer.place.lost != lost_before) tell_position(peer);
  return found;
}

[[gnu::hot]] TopicEndpoint::Incoming TopicEndpoint::State::recv(std::span<std::byte> bytes,
                                                                Tensor* frame) {
  Incoming incoming;
  const bool is_right =
      bytes.size() == facts.type.inline_bytes && (frame != nullptr || !facts.type.has_frame);
  if (!is_of_this_process() || !is_right) return incoming;
  const std::lock_guard lock(receive_mutex);
  // A thread that receives is awake.
  if (fd_is_used) own().header().waits.store(0, std::memory_order_relaxed);
  for (bool is_again = false;; is_again = true) {
    refresh_receiver();
    auto& peers = receive_known.peers;
    std::vector<std::shared_ptr<PeerEndpoint>> drained;
    // Begins with the publisher after the one that was read last, so that all are read equally
    // often.
    if (next_peer >= peers.size()) next_peer = 0;
    std::size_t at = next_peer;
    for (std::size_t i = 0; i < peers.size() && !incoming.has_message; ++i) {
      PeerEndpoint& peer = *peers[at];
      const bool has_left = peer.has_left.load(std::memory_order_acquire);
      incoming.has_message = read_from(peer, bytes, frame);
      if (!incoming.has_message && has_left) drained.push_back(peers[at]);
      if (++at == peers.size()) at = 0;
      if (incoming.has_message) next_peer = at;
    }
    for (const auto& peer : drained)
      received_before += peer->received;
    if (!drained.empty()) service->remove(drained);
    if (!incoming.has_message && !gone.empty()) drop_gone();
    if (incoming.has_message || !fd_is_used || is_again) break;
    begin_waiting_at_fd();
  }
  incoming.lost = lost - std::exchange(told_lost, lost);
  return incoming;
}

[[gnu::hot]] TopicEndpoint::Incoming TopicEndpoint::recv(std::span<std::byte> inline_bytes,
                                                         Tensor* frame) {
  return state_->recv(inline_bytes, frame);
}

// Must be called with receive_mutex locked.
[[gnu::hot]] bool TopicEndpoint::State::finds_message() {
  refresh_receiver();
  return std::any_of(receive_known.peers.begin(), receive_known.peers.end(), [](const auto& peer) {
    const auto ring = peer->view.readable_ring();
    return ring.state(peer->place.next).load(std::memory_order_seq_cst) >=
           state_when_there(peer->place.next);
  });
}

// Arms the descriptor: it stays quiet until a message arrives. The caller must look for messages
// once more after this call.
void TopicEndpoint::State::begin_waiting_at_fd() {
  service->own().notifier.clear();
  own().header().waits.store(EndpointHeader::waits_at_fd, std::memory_order_seq_cst);
  SharedWord::fence(std::memory_order_seq_cst);
}

bool TopicEndpoint::has_message() {
  State& state = *state_;
  if (!state.is_of_this_process()) return false;
  const std::lock_guard lock(state.receive_mutex);
  if (state.finds_message()) return true;
  if (!state.fd_is_used) return false;
  state.begin_waiting_at_fd();
  if (!state.finds_message()) return false;
  notify(state.service->own().notifier.sender());
  return true;
}

bool TopicEndpoint::State::wait_for(std::chrono::nanoseconds timeout) {
  if (!is_of_this_process()) return false;
  constexpr auto slice = std::chrono::milliseconds(100);
  constexpr int spins = 200;
  const Deadline deadline(timeout);
  SharedWord& waits = own().header().waits;
  for (;;) {
    std::shared_ptr<PeerEndpoint> waited_at;  // stays mapped meanwhile
    std::uint32_t seen = 0;
    {
      const std::lock_guard lock(receive_mutex);
      for (int i = 0; i < spins; ++i) {
        if (finds_message()) return true;
        SharedWord::pause();
      }
      if (deadline.is_over()) return false;
      // With one publisher: waits at its head. With several: at the descriptor, which all can wake.
      const bool is_one = receive_known.peers.size() == 1 && !fd_is_used;
      waits.store(is_one ? EndpointHeader::waits_at_head : EndpointHeader::waits_at_fd,
                  std::memory_order_seq_cst);
      if (is_one) {
        waited_at = receive_known.peers[0];
        seen = static_cast<std::uint32_t>(
            waited_at->view.header().head.load(std::memory_order_seq_cst));
      } else {
        service->own().notifier.clear();
      }
      SharedWord::fence(std::memory_order_seq_cst);
      if (finds_message()) {
        if (!fd_is_used) waits.store(0, std::memory_order_relaxed);
        if (fd_is_used) notify(service->own().notifier.sender());
        return true;
      }
    }
    const auto left = std::min<std::chrono::nanoseconds>(deadline.left().value_or(slice), slice);
    wait_at_head_or_fd(waited_at.get(), seen, service->own().notifier, left);
    if (!fd_is_used) waits.store(0, std::memory_order_relaxed);
  }
}

bool TopicEndpoint::wait_for(std::chrono::nanoseconds timeout) {
  return state_->wait_for(timeout);
}

int TopicEndpoint::fd() {
  const std::lock_guard lock(state_->receive_mutex);
  if (!state_->fd_is_used) {
    state_->fd_is_used = true;
    state_->begin_waiting_at_fd();
    // Nobody would report the messages that came before.
    if (state_->finds_message()) notify(state_->service->own().notifier.sender());
  }
  return state_->service->own().notifier.fd();
}

}  // namespace halyard
