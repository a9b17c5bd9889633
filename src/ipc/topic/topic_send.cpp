// SPDX-License-Identifier: Apache-2.0
// Endpoints of topics: sending.
#include <algorithm>
#include <cstring>

#include "base/system/tsan.h"
#include "base/text/format_error.h"
#include "ipc/pool/pool_part.h"
#include "ipc/topic/remaining_frames.h"
#include "ipc/topic/topic_state.h"

namespace halyard {

using namespace ipc;  // NOLINT: this file is a front of that folder

namespace {

// The slot of a tensor that was allocated from a pool.
SlotBuffer& slot_in_pool(const Tensor& tensor) {
  return static_cast<SlotBuffer&>(*tensor.buffer());
}

}  // namespace

[[gnu::hot]] inline bool TopicEndpoint::State::may_send(std::size_t bytes,
                                                        const Tensor* frame) const noexcept {
  return is_of_this_process() && publishes && bytes == inline_bytes &&
         (frame != nullptr) == has_frame && (frame == nullptr || !frame->is_empty());
}

[[gnu::cold]] Error TopicEndpoint::State::why_not(std::size_t bytes, const Tensor* frame) const {
  if (!is_of_this_process())
    return fail(Errc::unsupported, "topic: belongs to the process that forked this one");
  if (!publishes) return fail(Errc::unsupported, "topic: this endpoint is only a subscriber");
  if (bytes != inline_bytes) {
    return fail(Errc::invalid_argument, "inline_bytes: must have the size of the type",
                "{}, the type has {}", bytes, inline_bytes);
  }
  if ((frame != nullptr) != has_frame) {
    return fail(Errc::invalid_argument, frame == nullptr
                                            ? "frame: is required, the message type has one"
                                            : "frame: must be absent, the message type has none");
  }
  return fail(Errc::invalid_argument, "frame: is an empty tensor");
}

Result<Tensor> TopicEndpoint::State::copy_to_pool(const Tensor& frame) {
  HALYARD_TRY(const auto pool, get_pool());
  Tensor copy;
  if (pool->config().frame) {
    HALYARD_TRY(copy, pool->alloc_frame());
    if (frame.is_image()) copy.set_colorimetry(frame.colorimetry());
  } else if (frame.is_image()) {
    HALYARD_TRY(copy,
                pool->alloc_image(frame.width(), frame.height(), *frame.format(), frame.dtype()));
    copy.set_colorimetry(frame.colorimetry());
  } else {
    HALYARD_TRY(copy, pool->alloc(frame.shape(), frame.dtype()));
    HALYARD_RETURN_IF_ERROR(copy.set_quantization(frame.quantization()));
    HALYARD_RETURN_IF_ERROR(copy.set_item_format(frame.item_format()));
  }
  copy.set_orientation(frame.orientation());
  copy.set_name(frame.name());
  HALYARD_RETURN_IF_ERROR(halyard::copy(frame, copy));
  count(own().header().copied);
  const std::lock_guard lock(stats_mutex);
  copied_bytes += frame.size_bytes();
  return copy;
}

// Introduces this process's memory to subscribers before the first frame in it, so that they can
// read the frame even if this process is killed right after.
[[gnu::hot]] inline void TopicEndpoint::State::offer(const SlotHome& home) {
  const bool is_known =
      home.identity().arena_id == offered_arena && offered_version == send_known.version;
  if (!is_known) offer_to_all(home);
}

[[gnu::noinline]] void TopicEndpoint::State::offer_to_all(const SlotHome& home) {
  const std::uint64_t arena = home.identity().arena_id;
  if (home.identity().node != node->id()) return;
  if (offered_version != send_known.version) {
    offered.clear();
    const auto has_left = [this](const auto& known) {
      return std::none_of(send_known.peers.begin(), send_known.peers.end(),
                          [&](const auto& peer) { return peer->node == known.second; });
    };
    std::erase_if(offers, has_left);
    std::erase_if(passed, has_left);
  }
  offered_version = send_known.version;
  offered_arena = arena;
  if (std::find(offered.begin(), offered.end(), arena) != offered.end()) return;
  offered.push_back(arena);
  const auto part = PoolPart::find(arena);
  const auto parcel = part ? (*part)->service().offer() : Result<Parcel>(part.error());
  if (!parcel) return;
  const int fds[] = {parcel->fds[0].get(), parcel->fds[1].get()};
  for (const auto& peer : send_known.peers) {
    if (peer->node == node->id() || !offers.emplace(arena, peer->node).second) continue;
    const auto answers =
        node->ask(peer->node, "topic/" + name, static_cast<std::uint32_t>(TopicRequest::offer),
                  std::span<const std::byte>(parcel->bytes), fds, Deadline(arena_timeout));
    if (!answers) continue;  // the peer will ask when it needs the memory
    for (const Parcel& answer : *answers)
      static_cast<void>((*part)->service().add_borrower(peer->node, answer).has_value());
  }
}

// Allocates a slot that lists the buffers, and holds them until no process has the frame. Empty: as
// many as the configuration allows are held.
Result<Tensor> TopicEndpoint::State::hold_buffers(
    std::vector<std::shared_ptr<Buffer>> dma_buffers) {
  HALYARD_TRY(const auto own_pool, get_pool());
  HALYARD_TRY(Tensor tensor, own_pool->alloc({sizeof(BufferList)}, DType::u8));
  const SlotBuffer& slot = slot_in_pool(tensor);
  const BufferList list = list_of(dma_buffers);
  std::memcpy(slot.bytes().data(), &list, sizeof(list));
  HALYARD_TRY(const auto part, PoolPart::find(slot.home()->identity().arena_id));
  PoolService& owner = part->service();
  if (config.max_shared_frames) {
    owner.collect_sent_buffers();
    if (owner.sent_buffers().count() >= *config.max_shared_frames) return Tensor();
  }
  owner.arena().set_wants_notice(slot.place().slot);
  for (const auto& buffer : dma_buffers)
    pass(*buffer);
  owner.sent_buffers().hold(slot.place().slot, slot.place().generation, std::move(dma_buffers));
  return tensor;
}

// Subscribers get the descriptor before the first frame in the buffer, as they do for arenas.
void TopicEndpoint::State::pass(const Buffer& buffer) {
  constexpr std::size_t max_passed = 4096;
  if (passed.size() >= max_passed) passed.clear();
  const int fd = buffer.fd();
  const BufferFacts buffer_facts{buffer.id(), buffer.size_bytes()};
  for (const auto& peer : send_known.peers) {
    if (peer->node == node->id() || !passed.emplace(buffer_facts.id, peer->node).second) continue;
    // A peer that does not take it now asks when it needs it.
    static_cast<void>(node->ask(peer->node, "topic/" + name,
                                static_cast<std::uint32_t>(TopicRequest::buffer), buffer_facts,
                                std::span(&fd, 1), Deadline(arena_timeout))
                          .has_value());
  }
}

// For a frame that is not in a pool: writes its head to sent_head. `kept` holds its slot.
[[gnu::noinline]] Status TopicEndpoint::State::put_outside_frame(const Tensor& frame,
                                                                 std::shared_ptr<Buffer>& kept) {
  auto dma_buffers = dma_buffers_of(frame);
  Tensor list;
  if (!dma_buffers.empty()) {
    HALYARD_TRY(list, hold_buffers(std::move(dma_buffers)));
  }
  if (list.is_empty()) {
    HALYARD_TRY(const Tensor copy, copy_to_pool(frame));
    kept = copy.buffer();
    return put_slot_frame(copy, slot_in_pool(copy));
  }
  kept = list.buffer();
  SlotBuffer& slot = slot_in_pool(list);
  slot.publish();
  tsan_release(slot.bytes().data());
  offer(*slot.home());
  HALYARD_TRY(sent_head, head_of(frame, slot, true));
  sent_form = {};
  sent_frame_bytes = frame.size_bytes();
  return {};
}

[[gnu::hot]] inline Status TopicEndpoint::State::put_slot_frame(const Tensor& frame,
                                                                SlotBuffer& slot) {
  slot.publish();
  // The ring orders writes before reads, but ThreadSanitizer does not see that two endpoints of one
  // process map it at two addresses.
  tsan_release(slot.bytes().data());
  const SlotHome& home = *slot.home();
  offer(home);
  if (sent_head.form == 0 || !sent_form.is_of(frame)) return put_new_form(frame, slot);
  // All other fields are those of the previous frame.
  sent_head.owner = home.identity().node;
  sent_head.arena_id = home.identity().arena_id;
  put_slot(sent_head.descriptor, slot, frame.offset_bytes());
  return {};
}

[[gnu::noinline]] Status TopicEndpoint::State::put_new_form(const Tensor& frame,
                                                            const SlotBuffer& slot) {
  HALYARD_TRY(sent_head, head_of(frame, slot));
  sent_head.form = ++forms;
  sent_form = TensorForm(frame);
  sent_frame_bytes = frame.size_bytes();
  return {};
}

// The record in which a subscriber stores how far it has read this publisher; null if there is none
// yet.
[[gnu::hot]] const ReaderRecord* TopicEndpoint::State::record_of(PeerEndpoint& peer) const {
  const std::uint64_t id = service->own().id;
  if (peer.its_record == nullptr ||
      peer.its_record->publisher.load(std::memory_order_acquire) != id)
    peer.its_record = find_record(peer, id);
  return peer.its_record;
}

// The record of a subscriber that has not read the oldest message of the window; null if all have.
[[gnu::hot]] const ReaderRecord* TopicEndpoint::State::find_full() {
  for (const auto& peer : send_known.peers) {
    const ReaderRecord* const record = record_of(*peer);
    if (record == nullptr) continue;
    const std::uint64_t read = record->position.load(std::memory_order_acquire);
    if (read <= head && head - read >= facts.depth) return record;
  }
  return nullptr;
}

// Releases frames that have left the window, and frames that all subscribers have read and no late
// subscriber can ask for. So the next frame gets memory that is warm, and few frames live at a
// time.
[[gnu::hot]] void TopicEndpoint::State::let_go_of_read_frames() {
  const auto before = [this](std::uint64_t count) { return head > count ? head - count : 0; };
  // The new message replaced the one that left the window.
  first_kept = std::max(first_kept, before(facts.depth));
  std::uint64_t read = before(facts.history);
  for (const auto& peer : send_known.peers) {
    if (read <= first_kept) break;
    const ReaderRecord* const record = record_of(*peer);
    read = std::min(read, record != nullptr ? record->position.load(std::memory_order_acquire) : 0);
  }
  for (; first_kept < read; ++first_kept)
    window[first_kept % facts.depth].reset();
}

[[gnu::noinline]] Status TopicEndpoint::State::find_room(std::chrono::nanoseconds timeout) {
  if (find_full() == nullptr) return {};
  auto found =
      facts.overflow == Overflow::block
          ? wait_for_room(timeout)
          : Status(fail(Errc::exhausted, "topic: a subscriber has not read the oldest message",
                        "depth {}", facts.depth));
  if (!found) count(own().header().refused);
  return found;
}

Status TopicEndpoint::State::wait_for_room(std::chrono::nanoseconds timeout) {
  // Readers may join and leave meanwhile.
  constexpr auto slice = std::chrono::milliseconds(20);
  const Deadline deadline(timeout);
  SharedWord& wants_room = own().header().wants_room;
  wants_room.store(1, std::memory_order_seq_cst);
  SharedWord::fence(std::memory_order_seq_cst);
  const ReaderRecord* full = find_full();
  while (full != nullptr && !deadline.is_over()) {
    const std::uint64_t seen = full->position.load(std::memory_order_seq_cst);
    if (head - seen >= facts.depth) {
      wait_at(full->position, static_cast<std::uint32_t>(seen),
              std::min<std::chrono::nanoseconds>(deadline.left().value_or(slice), slice));
    }
    refresh(send_known, true);
    full = find_full();
  }
  wants_room.store(0, std::memory_order_relaxed);
  if (full == nullptr) return {};
  return fail(Errc::timeout, "topic: a subscriber has not read in time", "depth {}", facts.depth);
}

// Other processors hold the cache lines that publishing writes, and it takes long to get them. They
// are requested while the frame's head is made.
[[gnu::hot]] inline void TopicEndpoint::State::claim_entry() const noexcept {
  __builtin_prefetch(&ring.state(head), 1);
  __builtin_prefetch(ring.words(head) + head_words, 1);
  __builtin_prefetch(ring.head, 1);
  __builtin_prefetch(&window[head % window.size()], 1);
}

// If the entry holds a frame of the same form, all lines but the first are there already. The other
// lines of an entry are cold, and other processors may hold them.
[[gnu::hot]] inline void TopicEndpoint::State::store_head(SharedWord* words) const {
  constexpr std::size_t form_word = offsetof(FrameHead, form) / sizeof(SharedWord);
  const std::uint64_t form_there = words[form_word].load(std::memory_order_relaxed);
  const auto head_bytes = std::as_bytes(std::span(&sent_head, 1));
  const bool is_same = sent_head.form != 0 && form_there == sent_head.form;
  store_bytes(words, is_same ? head_bytes.first(first_line_bytes) : head_bytes);
}

// The publisher publishes and then looks for waiting subscribers; a subscriber announces its wait
// and then looks for messages. So at least one sees the other.
[[gnu::hot]] inline void TopicEndpoint::State::wake_subscribers() {
  bool wakes_at_head = false;
  for (const auto& peer : send_known.peers) {
    const std::uint64_t waits = peer->view.header().waits.load(std::memory_order_seq_cst);
    if (waits == 0) continue;
    wakes_at_head |= (waits & EndpointHeader::waits_at_head) != 0;
    if ((waits & EndpointHeader::waits_at_fd) != 0) notify(peer->notifier);
  }
  if (wakes_at_head) wake_all(own().header().head);
}

[[gnu::hot]] Status TopicEndpoint::State::send(std::span<const std::byte> bytes,
                                               const Tensor* frame,
                                               std::chrono::nanoseconds timeout) {
  if (!may_send(bytes.size(), frame)) return why_not(bytes.size(), frame);
  std::shared_ptr<Buffer> kept;
  const std::lock_guard lock(send_mutex);
  refresh(send_known, true);
  if (may_have_no_room) HALYARD_RETURN_IF_ERROR(find_room(timeout));
  if (frame != nullptr) {
    claim_entry();
    if (SlotBuffer* const slot = slot_of(*frame); slot != nullptr) {
      kept = frame->buffer();
      HALYARD_RETURN_IF_ERROR(put_slot_frame(*frame, *slot));
    } else {
      HALYARD_RETURN_IF_ERROR(put_outside_frame(*frame, kept));
    }
    count(own().header().sent_bytes, sent_frame_bytes);
  }
  publish_with(ring, head, [&](SharedWord* words) {
    if (frame != nullptr) store_head(words);
    store_bytes(words + head_words, bytes);
  });
  if (frame != nullptr) kept.swap(window[head % window.size()]);
  ++head;
  wake_subscribers();
  // `kept` is now the frame that left the window. It is released after the new message is
  // published.
  if (frame != nullptr) let_go_of_read_frames();
  return {};
}

[[gnu::hot]] Status TopicEndpoint::send(std::span<const std::byte> inline_bytes,
                                        const Tensor* frame) {
  return state_->send(inline_bytes, frame, state_->config.block_timeout);
}
Status TopicEndpoint::send_for(std::span<const std::byte> inline_bytes, const Tensor* frame,
                               std::chrono::nanoseconds timeout) {
  return state_->send(inline_bytes, frame, timeout);
}

}  // namespace halyard
