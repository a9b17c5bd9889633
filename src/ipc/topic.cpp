// SPDX-License-Identifier: Apache-2.0
// Endpoints of topics: sending and receiving. Who else is there: topic_service.h.
#include "halyard/topic.h"

#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>

#include "base/fork.h"
#include "base/format_error.h"
#include "ipc/borrowed_arena.h"
#include "ipc/frame_message.h"
#include "ipc/pool_part.h"
#include "ipc/short_lock.h"
#include "ipc/topic_entry.h"
#include "ipc/topic_service.h"

namespace halyard {

using namespace ipc;  // NOLINT: this file is the front of that folder

std::string_view to_string(Overflow overflow) noexcept {
  constexpr std::string_view names[] = {"drop_oldest", "drop_newest", "block"};
  const auto index = static_cast<std::size_t>(overflow);
  return index < std::size(names) ? names[index] : "unknown";
}

namespace {

constexpr auto answer_timeout = std::chrono::milliseconds(2000);
// While somebody waits for a peer that is stopped, frames are late: better to lose them.
constexpr auto arena_timeout = std::chrono::milliseconds(500);
// After that, frames of the same publisher are not waited for.
constexpr auto silence_time = std::chrono::seconds(5);

// Published frames of endpoints that are gone, which others may still want to read. They stay: the
// end of the process takes them, and what is mapped elsewhere stays readable there.
struct Remaining {
  std::vector<std::shared_ptr<Buffer>> frames;
  std::shared_ptr<TopicService> service;
  std::shared_ptr<Node> node;
  std::uint64_t head = 0;

  // Whether all that subscribe have read all.
  bool is_read() const {
    for (const auto& peer : service->peers()) {
      if (!peer->subscribes || peer->has_left || !node->is_alive(peer->node)) continue;
      const ReaderRecord* const record = find_record(*peer, service->own().id);
      if (record != nullptr && record->position.load(std::memory_order_acquire) < head)
        return false;
    }
    return true;
  }
  static const ReaderRecord* find_record(const PeerEndpoint& peer, std::uint64_t publisher) {
    const ReaderRecord* const records = peer.view.records();
    for (std::uint32_t i = 0; i < peer.view.layout().readers; ++i)
      if (records[i].publisher.load(std::memory_order_acquire) == publisher) return &records[i];
    return nullptr;
  }
};
struct AllRemaining {
  std::mutex mutex;
  std::vector<Remaining> list;
};
constinit PerProcess<AllRemaining> all_remaining;

void let_go_of_what_is_read() {
  std::vector<Remaining> read;
  AllRemaining& all = all_remaining.get();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.list, [&](Remaining& remaining) {
    if (!remaining.is_read()) return false;
    read.push_back(std::move(remaining));
    return true;
  });
}

// Whether a frame cannot be had for what its publisher says of it. Else it has left the window
// (not_found), its process has ended, was killed or stopped while it freed the slot (busy), does
// not answer (timeout), or this process has too little of something.
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

}  // namespace

struct TopicEndpoint::State {
  std::string name;
  TopicFacts facts;
  TopicConfig config;  // this endpoint's own choices
  std::shared_ptr<Node> node;
  std::shared_ptr<TopicService> service;
  std::string member;  // the name of its file
  std::uint32_t process = fork_generation();
  std::uint32_t head_words = 0;  // of a frame's head, before the inline bytes

  // The peers as a thread that sends, or receives, knows them.
  struct Known {
    std::uint64_t version = 0;
    std::vector<std::shared_ptr<PeerEndpoint>> peers;
  };

  ShortLock send_mutex;  // of what follows
  Known send_known;
  std::uint64_t head = 0;
  std::vector<std::shared_ptr<Buffer>> window;  // frames of the last `depth` messages
  std::uint64_t first_kept = 0;                 // the oldest message whose frame is kept
  std::vector<std::uint64_t> out;
  // Who knows this process's arenas: for one peers' version, the arenas that all have been offered.
  std::uint64_t offered_version = 0;
  std::vector<std::uint64_t> offered;
  std::set<std::pair<std::uint64_t, NodeId>> offers;

  ShortLock receive_mutex;  // of what follows
  Known receive_known;
  std::vector<std::uint64_t> in;
  std::size_t next_peer = 0;
  std::uint64_t lost = 0;
  std::uint64_t told_lost = 0;
  std::uint64_t received_before = 0;  // from publishers that are gone
  std::shared_ptr<BorrowedArena> last_arena;
  std::vector<std::shared_ptr<BorrowedArena>> arenas;
  std::vector<NodeId> gone;  // processes whose arenas go when all is read
  std::atomic<bool> fd_is_used{false};

  std::mutex pool_mutex;
  std::shared_ptr<TensorPool> pool;

  std::mutex stats_mutex;
  std::uint64_t copied_bytes = 0;
  std::uint64_t corrupt = 0;
  Error last_error;

  const EndpointView& own() const noexcept { return service->own().view; }
  bool is_of_this_process() const noexcept { return process == fork_generation(); }
  static void count(SharedWord& word, std::uint64_t more = 1) noexcept {
    word.store(word.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void refresh(Known& known, bool subscribers) const {
    const std::uint64_t now = service->version();
    if (known.version == now) return;
    known.peers = service->peers();
    std::erase_if(known.peers, [&](const auto& peer) {
      return subscribers ? !peer->subscribes || peer->has_left : peer->record == nullptr;
    });
    known.version = now;
  }
  void refresh_receiver() {
    const std::uint64_t before = receive_known.version;
    refresh(receive_known, false);
    if (receive_known.version == before) return;
    for (auto& arena : service->take_arenas())
      keep(std::move(arena));
    for (const NodeId& node_gone : service->take_gone())
      gone.push_back(node_gone);
  }
  void keep(std::shared_ptr<BorrowedArena> arena) {
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
    arenas.push_back(std::move(arena));
  }
  // All is read: nothing names frames of processes that have ended any more.
  void drop_gone() {
    const auto is_gone = [this](const std::shared_ptr<BorrowedArena>& arena) {
      return arena && std::find(gone.begin(), gone.end(), arena->identity().node) != gone.end();
    };
    if (is_gone(last_arena)) last_arena.reset();
    std::erase_if(arenas, is_gone);
    gone.clear();
  }
  void note(const Error& error, bool is_corrupt) {
    const std::lock_guard lock(stats_mutex);
    // One that has left the window says less than what came before.
    if (error.code != Errc::not_found || last_error.code == Errc::ok) last_error = error;
    if (is_corrupt) ++corrupt;
  }

  ~State();
  Status check_sender(std::size_t bytes, const Tensor* frame) const;
  Status send(std::span<const std::byte> bytes, const Tensor* frame,
              std::chrono::nanoseconds timeout);
  void offer(const SlotHome& home);
  Status put_frame(const Tensor& frame, std::shared_ptr<Buffer>& kept);
  Result<Tensor> copy_to_pool(const Tensor& frame);
  const ReaderRecord* record_of(PeerEndpoint& peer) const;
  const ReaderRecord* find_full();
  void let_go_of_read_frames();
  Status wait_for_room(std::chrono::nanoseconds timeout);
  void wake_subscribers();

  Incoming recv(std::span<std::byte> bytes, Tensor* frame);
  bool read_from(PeerEndpoint& peer, std::span<std::byte> bytes, Tensor* frame);
  Result<Tensor> take_frame(PeerEndpoint& peer);
  Result<std::shared_ptr<SlotBuffer>> take_slot(const FrameHead& head, bool may_ask);
  bool finds_message();
  void begin_waiting_at_fd();
  void tell_position(PeerEndpoint& peer);
  bool wait_for(std::chrono::nanoseconds timeout);
  Result<std::shared_ptr<TensorPool>> get_pool();
};

TopicEndpoint::TopicEndpoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
TopicEndpoint::~TopicEndpoint() = default;

Result<std::unique_ptr<TopicEndpoint>> TopicEndpoint::create(std::string_view name,
                                                             const std::optional<MessageType>& type,
                                                             const TopicConfig& config) {
  let_go_of_what_is_read();
  HALYARD_CHECK(check_topic_name(name));
  HALYARD_CHECK(check_topic_config(config));
  const Deadline deadline(answer_timeout);
  auto state = std::make_unique<State>();
  state->name = name;
  state->config = config;
  HALYARD_TRY(state->node, Node::get());
  std::vector<std::string> members;
  {
    const std::string folder = folder_name(name);
    HALYARD_TRY(auto entry,
                state->node->registry().enter("topics", folder, !type.has_value(), deadline));
    HALYARD_TRY(members, state->node->living_members(entry));
    HALYARD_TRY(state->facts, agree_on_topic(entry, !members.empty(), type, config));
    HALYARD_TRY(auto own, make_endpoint(state->facts, config));
    state->service = std::make_shared<TopicService>(state->node, std::move(own));
    const TopicService::Own& made = state->service->own();
    HALYARD_CHECK(check_room(members, made, state->facts.max_endpoints));
    state->node->add("topic/" + state->name, state->service);
    const std::string member = member_name(state->node->id(), made);
    auto added = entry.add(member);
    if (!added) {
      state->node->remove("topic/" + state->name, state->service.get());
      return added.error();
    }
    state->member = member;
  }
  const TopicFacts& facts = state->facts;
  state->head_words = facts.type.has_frame ? sizeof(FrameHead) / sizeof(std::uint64_t) : 0;
  state->window.resize(facts.type.has_frame ? facts.depth : 0);
  state->out.resize(message_words(facts.type));
  state->in.resize(state->out.size());
  HALYARD_CHECK(join_all(*state->node, *state->service, state->name, members, deadline));
  return std::unique_ptr<TopicEndpoint>(new TopicEndpoint(std::move(state)));
}

TopicEndpoint::State::~State() {
  if (!service || !is_of_this_process()) return;
  leave_all(*node, *service, name, member);
  static_cast<void>(service->take_arenas().size());
  // What was sent is still to be read by those who are there.
  Remaining remaining{{}, service, node, head};
  for (auto& frame : window)
    if (frame) remaining.frames.push_back(std::move(frame));
  if (!remaining.frames.empty() && !remaining.is_read()) {
    AllRemaining& all = all_remaining.get();
    const std::lock_guard lock(all.mutex);
    all.list.push_back(std::move(remaining));
  }
  let_go_of_what_is_read();
}

const std::string& TopicEndpoint::name() const noexcept {
  return state_->name;
}
const MessageType& TopicEndpoint::type() const noexcept {
  return state_->facts.type;
}

Status TopicEndpoint::State::check_sender(std::size_t bytes, const Tensor* frame) const {
  if (!is_of_this_process())
    return fail(Errc::unsupported, "topic: belongs to the process that forked this one");
  if (!service->own().publishes)
    return fail(Errc::unsupported, "topic: this endpoint is a subscriber alone");
  if (bytes != facts.type.inline_bytes) {
    return fail(Errc::invalid_argument, "inline_bytes: must be as many as the type has",
                "{}, the type has {}", bytes, facts.type.inline_bytes);
  }
  if ((frame != nullptr) != facts.type.has_frame) {
    return fail(Errc::invalid_argument,
                frame == nullptr ? "frame: the type has one" : "frame: the type has none");
  }
  if (frame != nullptr && frame->is_empty())
    return fail(Errc::invalid_argument, "frame: is an empty tensor");
  return {};
}

Result<Tensor> TopicEndpoint::State::copy_to_pool(const Tensor& frame) {
  HALYARD_TRY(const auto pool, get_pool());
  Tensor copy;
  if (frame.is_image()) {
    HALYARD_TRY(copy,
                pool->alloc_image(frame.width(), frame.height(), *frame.format(), frame.dtype()));
    copy.set_colorimetry(frame.colorimetry());
  } else {
    HALYARD_TRY(copy, pool->alloc(frame.shape(), frame.dtype()));
    HALYARD_CHECK(copy.set_quantization(frame.quantization()));
    HALYARD_CHECK(copy.set_item_format(frame.item_format()));
  }
  copy.set_name(frame.name());
  HALYARD_CHECK(halyard::copy(frame, copy));
  count(own().header().copied);
  const std::lock_guard lock(stats_mutex);
  copied_bytes += frame.size_bytes();
  return copy;
}

// Subscribers get to know this process's memory before the first frame in it: they can read it also
// when this process is killed right after.
void TopicEndpoint::State::offer(const SlotHome& home) {
  const std::uint64_t arena = home.identity().arena_id;
  if (home.identity().node != node->id()) return;
  if (offered_version != send_known.version) {
    offered.clear();
    std::erase_if(offers, [this](const auto& known) {
      return std::none_of(send_known.peers.begin(), send_known.peers.end(),
                          [&](const auto& peer) { return peer->node == known.second; });
    });
  }
  offered_version = send_known.version;
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
    if (!answers) continue;  // it asks itself when it needs to
    for (const Parcel& answer : *answers)
      static_cast<void>((*part)->service().add_borrower(peer->node, answer).has_value());
  }
}

// Writes the frame's head to `out`; `kept` holds its slot.
Status TopicEndpoint::State::put_frame(const Tensor& frame, std::shared_ptr<Buffer>& kept) {
  Tensor copy;
  const Tensor* sent = &frame;
  SlotBuffer* slot = slot_of(frame);
  if (slot == nullptr) {
    HALYARD_TRY(copy, copy_to_pool(frame));
    sent = &copy;
    slot = slot_of(copy);
  }
  slot->publish();
  offer(*slot->home());
  HALYARD_TRY(const FrameHead head, head_of(*sent, *slot));
  std::memcpy(out.data(), &head, sizeof(head));
  kept = sent->buffer();
  return {};
}

// Where a subscriber says how far it has read this publisher; null: it does not say yet.
const ReaderRecord* TopicEndpoint::State::record_of(PeerEndpoint& peer) const {
  const std::uint64_t id = service->own().id;
  if (peer.its_record == nullptr ||
      peer.its_record->publisher.load(std::memory_order_acquire) != id)
    peer.its_record = Remaining::find_record(peer, id);
  return peer.its_record;
}

// A subscriber's record that has not read the oldest message of the window; null: all have.
const ReaderRecord* TopicEndpoint::State::find_full() {
  for (const auto& peer : send_known.peers) {
    const ReaderRecord* const record = record_of(*peer);
    if (record == nullptr) continue;
    const std::uint64_t read = record->position.load(std::memory_order_acquire);
    if (read <= head && head - read >= facts.depth) return record;
  }
  return nullptr;
}

// Frames that have left the window, and those that all have read and no late subscriber can ask
// for: so the next frame finds memory that is warm, and few frames live at a time.
void TopicEndpoint::State::let_go_of_read_frames() {
  const auto before = [this](std::uint64_t count) { return head > count ? head - count : 0; };
  // The new message has taken the place of the one that left the window.
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

Status TopicEndpoint::State::wait_for_room(std::chrono::nanoseconds timeout) {
  // Readers may come and go meanwhile.
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

Status TopicEndpoint::State::send(std::span<const std::byte> bytes, const Tensor* frame,
                                  std::chrono::nanoseconds timeout) {
  HALYARD_CHECK(check_sender(bytes.size(), frame));
  std::shared_ptr<Buffer> kept;
  const std::lock_guard lock(send_mutex);
  refresh(send_known, true);
  if (facts.overflow != Overflow::drop_oldest && find_full() != nullptr) {
    auto room_found =
        facts.overflow == Overflow::block
            ? wait_for_room(timeout)
            : Status(fail(Errc::exhausted, "topic: a subscriber has not read the oldest message",
                          "depth {}", facts.depth));
    if (!room_found) {
      count(own().header().refused);
      return room_found;
    }
  }
  if (frame != nullptr) {
    HALYARD_CHECK(put_frame(*frame, kept));
    count(own().header().sent_bytes, frame->size_bytes());
  }
  if (!bytes.empty()) std::memcpy(out.data() + head_words, bytes.data(), bytes.size());
  publish(own().ring(), head, std::span<const std::uint64_t>(out));
  if (frame != nullptr) kept.swap(window[head % facts.depth]);
  ++head;
  wake_subscribers();
  // What the new message pushes out of the window goes after it is there: `kept` is that.
  if (frame != nullptr) let_go_of_read_frames();
  return {};
}

// Publishing and then looking here, waiting and then looking there: one of the two sees the other.
void TopicEndpoint::State::wake_subscribers() {
  bool wakes_at_head = false;
  for (const auto& peer : send_known.peers) {
    const std::uint64_t waits = peer->view.header().waits.load(std::memory_order_seq_cst);
    if (waits == 0) continue;
    wakes_at_head |= (waits & EndpointHeader::waits_at_head) != 0;
    if ((waits & EndpointHeader::waits_at_fd) != 0) notify(peer->notifier);
  }
  if (wakes_at_head) wake_all(own().header().head);
}

Status TopicEndpoint::send(std::span<const std::byte> inline_bytes, const Tensor* frame) {
  return state_->send(inline_bytes, frame, state_->config.block_timeout);
}
Status TopicEndpoint::send_for(std::span<const std::byte> inline_bytes, const Tensor* frame,
                               std::chrono::nanoseconds timeout) {
  return state_->send(inline_bytes, frame, timeout);
}

Result<std::shared_ptr<SlotBuffer>> TopicEndpoint::State::take_slot(const FrameHead& head,
                                                                    bool may_ask) {
  const std::uint32_t slot = head.descriptor.slot_id & 0xFFFFFFU;
  const std::uint64_t generation = head.descriptor.generation();
  if (head.owner == node->id()) {
    HALYARD_TRY(const auto part, PoolPart::find(head.arena_id));
    return part->attach(slot, generation);
  }
  if (!last_arena || last_arena->identity().arena_id != head.arena_id) {
    const auto known = std::find_if(arenas.begin(), arenas.end(), [&](const auto& arena) {
      return arena->identity().arena_id == head.arena_id;
    });
    if (known != arenas.end()) {
      last_arena = *known;
    } else {
      if (!may_ask) return fail(Errc::timeout, "peer: did not answer before");
      HALYARD_TRY(last_arena,
                  BorrowedArena::get(node, head.owner, head.arena_id, Deadline(arena_timeout)));
      keep(last_arena);
    }
  }
  return last_arena->borrow(slot, generation, may_ask);
}

Result<Tensor> TopicEndpoint::State::take_frame(PeerEndpoint& peer) {
  using Clock = std::chrono::steady_clock;
  FrameHead head;
  std::memcpy(static_cast<void*>(&head), in.data(), sizeof(head));
  const bool was_silent = peer.silent_until != Clock::time_point();
  const bool may_ask = !was_silent || Clock::now() >= peer.silent_until;
  auto slot = take_slot(head, may_ask);
  if (!slot && may_ask && slot.error().code == Errc::timeout)
    peer.silent_until = Clock::now() + silence_time;
  if (!slot) return slot.error();
  return tensor_of(head, *std::move(slot));
}

void TopicEndpoint::State::tell_position(PeerEndpoint& peer) {
  ReaderRecord& record = *peer.record;
  record.received.store(peer.received, std::memory_order_relaxed);
  record.lost.store(peer.place.lost, std::memory_order_relaxed);
  record.position.store(peer.place.next, std::memory_order_release);
  if (facts.overflow != Overflow::block) return;
  SharedWord::fence(std::memory_order_seq_cst);
  if (peer.view.header().wants_room.load(std::memory_order_relaxed) != 0) wake_all(record.position);
}

// One message of one publisher, if there is one that can be had.
bool TopicEndpoint::State::read_from(PeerEndpoint& peer, std::span<std::byte> bytes,
                                     Tensor* frame) {
  const auto ring = peer.view.readable_ring();
  const std::uint64_t window = std::min<std::uint64_t>(facts.depth, ring.capacity);
  const std::uint64_t lost_before = peer.place.lost;
  bool found = false;
  // One that sends nonsense faster than it is read does not keep others from being read.
  for (std::uint64_t tries = 0; tries <= window; ++tries) {
    if (config.latest_only) peer.place.catch_up(ring, 1);
    const Read read = peer.place.read(ring, window, std::span<std::uint64_t>(in));
    if (read != Read::message) break;
    if (facts.type.has_frame) {
      auto taken = take_frame(peer);
      if (!taken) {
        ++peer.place.lost;
        note(taken.error(), is_nonsense(taken.error().code));
        peer.place.catch_up(ring, window);
        continue;
      }
      *frame = *std::move(taken);
    }
    found = true;
    break;
  }
  if (found) {
    ++peer.received;
    if (!bytes.empty()) std::memcpy(bytes.data(), in.data() + head_words, bytes.size());
  }
  lost += peer.place.lost - lost_before;
  if (found || peer.place.lost != lost_before) tell_position(peer);
  return found;
}

TopicEndpoint::Incoming TopicEndpoint::State::recv(std::span<std::byte> bytes, Tensor* frame) {
  Incoming incoming;
  const bool is_right =
      bytes.size() == facts.type.inline_bytes && (frame != nullptr || !facts.type.has_frame);
  if (!is_of_this_process() || !is_right) return incoming;
  const std::lock_guard lock(receive_mutex);
  // Whoever receives is awake.
  if (fd_is_used) own().header().waits.store(0, std::memory_order_relaxed);
  for (bool is_again = false;; is_again = true) {
    refresh_receiver();
    auto& peers = receive_known.peers;
    std::vector<std::shared_ptr<PeerEndpoint>> drained;
    for (std::size_t i = 0; i < peers.size() && !incoming.has_message; ++i) {
      PeerEndpoint& peer = *peers[(next_peer + i) % peers.size()];
      const bool has_left = peer.has_left.load(std::memory_order_acquire);
      incoming.has_message = read_from(peer, bytes, frame);
      if (incoming.has_message) {
        next_peer = (next_peer + i + 1) % peers.size();
      } else if (has_left) {
        drained.push_back(peers[(next_peer + i) % peers.size()]);
      }
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

TopicEndpoint::Incoming TopicEndpoint::recv(std::span<std::byte> inline_bytes, Tensor* frame) {
  return state_->recv(inline_bytes, frame);
}

// Under the receive mutex.
bool TopicEndpoint::State::finds_message() {
  refresh_receiver();
  return std::any_of(receive_known.peers.begin(), receive_known.peers.end(), [](const auto& peer) {
    const auto ring = peer->view.readable_ring();
    return ring.state(peer->place.next).load(std::memory_order_seq_cst) >=
           state_when_there(peer->place.next);
  });
}

// The descriptor says nothing from here on until something comes; one looks once more after it.
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
      // With one publisher, at its word; with several, at the descriptor that all can wake.
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
    if (waited_at) {
      wait_at(waited_at->view.header().head, seen, left);
    } else {
      pollfd poll = {service->own().notifier.fd(), POLLIN, 0};
      const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
      ::poll(&poll, 1, static_cast<int>(ms));
    }
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
    // What has come before nobody would be told of.
    if (state_->finds_message()) notify(state_->service->own().notifier.sender());
  }
  return state_->service->own().notifier.fd();
}

Result<std::shared_ptr<TensorPool>> TopicEndpoint::State::get_pool() {
  if (!is_of_this_process())
    return fail(Errc::unsupported, "topic: belongs to the process that forked this one");
  const std::lock_guard lock(pool_mutex);
  if (pool) return pool;
  if (!config.pool) {
    if (auto found = TensorPool::open(facts.pool_id)) return pool = *found;
  }
  HALYARD_TRY(pool, TensorPool::create(facts.pool_id, config.pool.value_or(TensorPoolConfig{})));
  return pool;
}

Result<std::shared_ptr<TensorPool>> TopicEndpoint::pool() {
  return state_->get_pool();
}

void TopicEndpoint::count_malformed(const Error& error) {
  state_->note(error, true);
}

TopicStats TopicEndpoint::stats() {
  TopicStats stats;
  State& state = *state_;
  const auto read = [](const SharedWord& word) { return word.load(std::memory_order_relaxed); };
  const EndpointHeader& own = state.own().header();
  stats.depth = state.facts.depth;
  stats.history = state.facts.history;
  stats.max_endpoints = state.facts.max_endpoints;
  stats.overflow = state.facts.overflow;
  stats.sent = read(own.head);
  stats.refused = read(own.refused);
  stats.copied = read(own.copied);
  for (const auto& peer : state.service->peers()) {
    if (peer->has_left) continue;
    stats.publishers += peer->publishes ? 1 : 0;
    stats.subscribers += peer->subscribes ? 1 : 0;
  }
  {
    const std::lock_guard lock(state.receive_mutex);
    state.refresh_receiver();
    stats.lost = state.lost;
    stats.received = state.received_before;
    for (const auto& peer : state.receive_known.peers)
      stats.received += peer->received;
  }
  const std::lock_guard lock(state.stats_mutex);
  stats.copied_bytes = state.copied_bytes;
  stats.corrupt = state.corrupt;
  stats.last_error = state.last_error;
  return stats;
}

}  // namespace halyard
