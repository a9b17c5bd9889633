// SPDX-License-Identifier: Apache-2.0
// Endpoints of topics: joining, leaving, statistics. Sending is in topic_send.cpp, receiving in
// topic_receive.cpp, the list of other endpoints in topic_service.h.
#include "halyard/topic.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/best_effort.h"
#include "base/text/format_error.h"
#include "halyard/enumerators.h"
#include "ipc/topic/remaining_frames.h"
#include "ipc/topic/topic_state.h"

namespace halyard {

using namespace ipc;  // NOLINT: this file is a front of that folder

std::string_view to_string(Overflow overflow) noexcept {
  return enumerator_name(overflow, "unknown");
}

MessageType MessageType::plain(std::string_view name, std::size_t size, std::size_t alignment) {
  // A size of more than 32 bits exceeds the limit of any message, so it may be cut.
  constexpr std::size_t limit = std::numeric_limits<std::uint32_t>::max();
  return {std::string(name), detail::hash_of(name) + size * 31 + alignment,
          static_cast<std::uint32_t>(std::min(size, limit)), false};
}
// The inline part holds the number of bytes.
MessageType MessageType::serialized(std::string_view name) {
  return {std::string(name), detail::hash_of("bytes"), sizeof(std::uint64_t), true};
}

TopicEndpoint::TopicEndpoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
TopicEndpoint::~TopicEndpoint() = default;

// Makes the endpoint and enters it into the registry. Returns the members that were there before.
Result<std::vector<std::string>> TopicEndpoint::State::enter(const std::optional<MessageType>& type,
                                                             const Deadline& deadline) {
  HALYARD_TRY(const auto entry,
              node->registry().enter("topics", folder_name(name), !type.has_value(), deadline));
  HALYARD_TRY(std::vector<std::string> members, node->living_members(entry));
  HALYARD_TRY(facts, agree_on_topic(entry, !members.empty(), type, config));
  HALYARD_TRY(auto own, make_endpoint(facts, config));
  service = std::make_shared<TopicService>(node, std::move(own));
  const TopicService::Own& made = service->own();
  HALYARD_RETURN_IF_ERROR(check_room(members, made, facts.max_endpoints));
  node->add("topic/" + name, service);
  // Named before the file is made: nothing may fail between the two.
  member = member_name(node->id(), made);
  auto added = entry.add(member);
  if (!added) {
    member.clear();
    node->remove("topic/" + name, service.get());
    return added.error();
  }
  return members;
}

Result<std::unique_ptr<TopicEndpoint>> TopicEndpoint::create(std::string_view name,
                                                             const std::optional<MessageType>& type,
                                                             const TopicConfig& config) {
  let_go_of_remaining_frames();
  HALYARD_RETURN_IF_ERROR(check_topic_name(name));
  HALYARD_RETURN_IF_ERROR(check_topic_config(config));
  const Deadline deadline(answer_timeout);
  auto state = std::make_unique<State>();
  state->name = name;
  state->config = config;
  HALYARD_TRY(state->node, Node::get());
  state->node->clean_registry();
  HALYARD_TRY(const std::vector<std::string> members, state->enter(type, deadline));
  const TopicFacts& facts = state->facts;
  state->publishes = state->service->own().publishes;
  state->has_frame = facts.type.has_frame;
  state->may_have_no_room = facts.overflow != Overflow::drop_oldest;
  state->inline_bytes = facts.type.inline_bytes;
  state->head_words = facts.type.has_frame ? sizeof(FrameHead) / sizeof(std::uint64_t) : 0;
  state->ring = state->own().ring();
  state->window.resize(facts.type.has_frame ? facts.depth : 0);
  if (config.receives_own) HALYARD_RETURN_IF_ERROR(add_itself(*state->node, *state->service));
  HALYARD_RETURN_IF_ERROR(join_all(*state->node, *state->service, state->name, members, deadline));
  return std::unique_ptr<TopicEndpoint>(new TopicEndpoint(std::move(state)));
}

TopicEndpoint::State::~State() {
  if (!service || !is_of_this_process()) return;
  leave_all(*node, *service, name, member);
  static_cast<void>(service->take_offers().arenas.size());
  // Subscribers may still read what was sent.
  std::erase(window, nullptr);
  best_effort([&] {
    keep_until_read(std::move(window), service, node, head);
    let_go_of_remaining_frames();
  });
}

void TopicEndpoint::State::look_again(Known& known, bool subscribers) const {
  known.version = service->version();
  known.peers = service->peers();
  std::erase_if(known.peers, [&](const auto& peer) {
    return subscribers ? !peer->subscribes || peer->has_left : peer->record == nullptr;
  });
}

const std::string& TopicEndpoint::name() const noexcept {
  return state_->name;
}
const MessageType& TopicEndpoint::type() const noexcept {
  return state_->facts.type;
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
    if (peer->has_left || peer->id == state.service->own().id) continue;
    stats.publishers += peer->publishes ? 1 : 0;
    stats.subscribers += peer->subscribes ? 1 : 0;
  }
  {
    const std::lock_guard lock(state.receive_mutex);
    state.refresh_receiver();
    stats.lost = state.lost;
    stats.received = state.received_before;
    stats.buffers = state.buffers.count();
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
