// SPDX-License-Identifier: Apache-2.0
// Processes of a pool know each other's counters. A borrower's words are checked from the answer to
// its request on.
#include "ipc/pool/pool_service.h"

#include <algorithm>

#include "base/text/format_error.h"
#include "ipc/pool/pool_look.h"

namespace halyard::ipc {
namespace {

constexpr std::size_t max_borrowers_per_process = 8;

}  // namespace

PoolService::PoolService(std::unique_ptr<Arena> arena) : arena_(std::move(arena)) {}

PoolMember PoolService::member() const noexcept {
  const Arena::Config& config = arena_->config();
  return {config.arena_id, config.index, config.slots};
}

Status PoolService::add_neighbour(const NodeId& node, const PoolMember& member, const Fd& state) {
  if (member.slots == 0 || member.slots > (1U << 20U) || member.index > 255)
    return fail(Errc::malformed, "peer: its description of its part of the pool is not valid");
  auto neighbour = std::make_unique<Neighbour>();
  neighbour->node = node;
  neighbour->member = member;
  HALYARD_TRY(neighbour->state, map_peer_memory(state, arena_state_bytes(member.slots)));
  const std::lock_guard lock(mutex_);
  for (const auto& known : neighbours_)
    if (known->node == node && known->member.arena_id == member.arena_id) return {};
  // Some of them may have left without having reported it yet.
  if (neighbours_.size() >= 2 * max_members)
    return fail(Errc::exhausted, "pool: too many processes have it open");
  arena_->add_neighbour(&neighbour->header());
  neighbours_.push_back(std::move(neighbour));
  return {};
}

Result<Parcel> PoolService::answer(const NodeId& from, std::uint32_t request, Parcel body) {
  return request >= static_cast<std::uint32_t>(PoolRequest::join)
             ? answer_pool(from, request, body)
             : answer_arena(from, request, body);
}

Result<Parcel> PoolService::answer_pool(const NodeId& from, std::uint32_t request,
                                        const Parcel& body) {
  if (static_cast<PoolRequest>(request) == PoolRequest::look) return answer_look();
  const auto member = body.as<PoolMember>();
  if (!member) return fail(Errc::malformed, "request: has a wrong size");
  if (static_cast<PoolRequest>(request) == PoolRequest::leave) {
    const std::lock_guard lock(mutex_);
    std::erase_if(neighbours_, [&](const auto& neighbour) {
      const bool leaves = neighbour->node == from && neighbour->member.arena_id == member->arena_id;
      if (leaves) arena_->remove_neighbour(&neighbour->header());
      return leaves;
    });
    return Parcel{};
  }
  if (static_cast<PoolRequest>(request) != PoolRequest::join || body.fds.empty())
    return fail(Errc::malformed, "request: is unknown to a pool");
  HALYARD_RETURN_IF_ERROR(add_neighbour(from, *member, body.fds[0]));
  Parcel parcel = Parcel::of(this->member());
  HALYARD_TRY(Fd state, arena_->control().fd.duplicate());
  parcel.fds.push_back(std::move(state));
  return parcel;
}

// Counts slots that borrowers have given back as free.
Result<Parcel> PoolService::answer_look() const {
  arena_->collect_lent();
  const PoolMember mine = member();
  PoolLook look;
  look.head = {mine.arena_id, mine.index, mine.slots, held_by_owner(*arena_), 0, 0};
  {
    const std::lock_guard lock(mutex_);
    for (const auto& borrower : borrowers_) {
      const auto* const words = borrower->words();
      look.holders.push_back({borrower->node, held_by_borrower(*arena_, words)});
    }
  }
  Parcel parcel = to_parcel(look);
  HALYARD_TRY(Fd state, arena_->control().fd.duplicate());
  parcel.fds.push_back(std::move(state));
  return parcel;
}

ArenaFacts PoolService::facts() const noexcept {
  const Arena::Config& config = arena_->config();
  return {config.slots, config.pool_id, config.index, 0};
}

Result<Parcel> PoolService::offer() const {
  Parcel parcel = Parcel::of(ArenaOffer{arena_->config().arena_id, facts()});
  for (const OwnMemory* memory : {&arena_->control(), &arena_->memory()}) {
    HALYARD_TRY(Fd fd, memory->fd.duplicate());
    parcel.fds.push_back(std::move(fd));
  }
  return parcel;
}

Status PoolService::add_borrower(const NodeId& node, const Parcel& token_and_words) {
  const auto token = token_and_words.as<BorrowerToken>();
  if (!token || token_and_words.fds.size() != 1)
    return fail(Errc::malformed, "request: has a wrong size, or no descriptor");
  auto borrower = std::make_unique<Borrower>();
  borrower->node = node;
  borrower->number = token->number;
  HALYARD_TRY(borrower->mapped,
              map_peer_memory(token_and_words.fds[0], arena_->config().slots * sizeof(SharedWord)));
  const std::lock_guard lock(mutex_);
  std::size_t of_it = 0;
  for (const auto& known : borrowers_) {
    if (known->node == node && known->number == token->number) return {};
    of_it += known->node == node ? 1 : 0;
  }
  // A process needs one, and a second one while the first is replaced.
  if (of_it >= max_borrowers_per_process)
    return fail(Errc::exhausted, "pool: the process borrows too many times", "{} times", of_it);
  const auto* const words = borrower->words();
  if (token->number == 0 || !arena_->add_borrower(words, token->number)) {
    return fail(Errc::exhausted, "pool: too many processes borrow from it", "at most {}",
                ArenaHeader::max_borrowers);
  }
  borrowers_.push_back(std::move(borrower));
  return {};
}

Result<Parcel> PoolService::answer_arena(const NodeId& from, std::uint32_t request,
                                         const Parcel& body) {
  switch (static_cast<ArenaRequest>(request)) {
    case ArenaRequest::facts:
      return Parcel::of(facts());
    case ArenaRequest::borrow: {
      HALYARD_TRY(Parcel offered, offer());
      HALYARD_RETURN_IF_ERROR(add_borrower(from, body));
      offered.bytes.clear();
      return offered;
    }
    case ArenaRequest::buffer: {
      const auto wanted = body.as<BufferFacts>();
      if (!wanted) return fail(Errc::malformed, "request: has a wrong size");
      const auto buffer = sent_buffers_.find(wanted->id);
      if (!buffer) return fail(Errc::not_found, "buffer: no frame in use lies in it");
      Parcel parcel = Parcel::of(BufferFacts{buffer->id(), buffer->size_bytes()});
      HALYARD_TRY(Fd own, buffer->clone_fd());
      parcel.fds.push_back(std::move(own));
      return parcel;
    }
    case ArenaRequest::leave: {
      const auto token = body.as<BorrowerToken>();
      if (!token) return fail(Errc::malformed, "request: has a wrong size");
      const std::lock_guard lock(mutex_);
      std::erase_if(borrowers_, [&](const auto& borrower) {
        const bool leaves = borrower->node == from && borrower->number == token->number;
        if (leaves) {
          arena_->remove_borrower(borrower->words());
        }
        return leaves;
      });
      return Parcel{};
    }
  }
  return fail(Errc::malformed, "request: is unknown to an arena", "{}", request);
}

void PoolService::forget(const NodeId& gone) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(neighbours_, [&](const auto& neighbour) {
      if (neighbour->node != gone) return false;
      arena_->remove_neighbour(&neighbour->header());
      return true;
    });
    std::erase_if(borrowers_, [&](const auto& borrower) {
      if (borrower->node != gone) return false;
      arena_->remove_borrower(borrower->words());
      return true;
    });
  }
  look();
}

// Slots that have come back count as free from now on; waiting threads may try again.
void PoolService::look() {
  update_wants_room();
  arena_->collect_lent();
  collect_sent_buffers();
  while (arena_->scrub_some()) {
  }
  const std::lock_guard lock(mutex_);
  ++looks_;
  room_.notify_all();
}

// Borrowers notify this part of slots that come back as long as a thread waits, here or in another
// process.
void PoolService::update_wants_room() {
  const std::lock_guard lock(mutex_);
  const bool others_wait =
      std::any_of(neighbours_.begin(), neighbours_.end(), [](const auto& neighbour) {
        return neighbour->header().wants_room.load(std::memory_order_relaxed) == 1;
      });
  arena_->set_wants_room(waiters_ != 0 ? 1 : others_wait ? 2 : 0);
}

void PoolService::begin_wait(Node& node) {
  std::vector<NodeId> others;
  {
    const std::lock_guard lock(mutex_);
    ++waiters_;
    for (const auto& neighbour : neighbours_)
      others.push_back(neighbour->node);
  }
  update_wants_room();
  for (const NodeId& other : others)
    node.notify(other);
}

void PoolService::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  const std::uint64_t before = looks_;
  room_.wait_for(lock, std::min<std::chrono::nanoseconds>(at_most, std::chrono::milliseconds(20)),
                 [&] { return looks_ != before; });
}

void PoolService::end_wait() {
  {
    const std::lock_guard lock(mutex_);
    --waiters_;
  }
  update_wants_room();
}

void PoolService::tell_room(Node& node) {
  std::vector<NodeId> waiting;
  {
    const std::lock_guard lock(mutex_);
    ++looks_;
    room_.notify_all();
    for (const auto& neighbour : neighbours_)
      if (neighbour->header().wants_room.load(std::memory_order_relaxed) == 1)
        waiting.push_back(neighbour->node);
  }
  for (const NodeId& other : waiting)
    node.notify(other);
}

std::optional<std::pair<NodeId, std::uint64_t>> PoolService::owner_of(std::uint32_t index) const {
  const std::lock_guard lock(mutex_);
  for (const auto& neighbour : neighbours_)
    if (neighbour->member.index == index)
      return std::pair(neighbour->node, neighbour->member.arena_id);
  return std::nullopt;
}

}  // namespace halyard::ipc
