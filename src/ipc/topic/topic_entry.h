// SPDX-License-Identifier: Apache-2.0
// Entering and leaving a topic: what its endpoints agree on, and who they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halyard/result.h"
#include "halyard/topic.h"
#include "ipc/node/node.h"
#include "ipc/node/registry.h"
#include "ipc/topic/topic_service.h"

namespace halyard::ipc {

/// What all endpoints of a topic agree on.
struct TopicFacts {
  MessageType type;
  std::uint32_t depth = 16;
  Overflow overflow = Overflow::drop_oldest;
  std::uint32_t history = 0;
  std::uint32_t max_endpoints = 64;
  std::uint32_t pool_id = 0;
};

/// Words of a message, its frame's head included.
std::uint32_t message_words(const MessageType& type) noexcept;

/// Words from one entry of a ring to the next: whole cache lines, so that a message touches no line
/// of another one.
std::uint32_t entry_words(const MessageType& type) noexcept;

/// Errors: invalid_argument, naming the member and its limit.
Status check_topic_config(const TopicConfig& config);

/// What the topic has, when `is_there`; else what `type` and `config` say, which is then written
/// down. Errors: exists (they differ), not_found (not there, and no type is given), those of the
/// entry.
Result<TopicFacts> agree_on_topic(const RegistryEntry& entry, bool is_there,
                                  const std::optional<MessageType>& type,
                                  const TopicConfig& config);
/// What an entry says. Errors: corrupt.
Result<TopicFacts> read_topic(const std::string& text);

/// An endpoint that nobody knows yet.
Result<TopicService::Own> make_endpoint(const TopicFacts& facts, const TopicConfig& config);

/// Errors: exhausted (one publisher, or one subscriber, more than there may be).
Status check_room(const std::vector<std::string>& members, const TopicService::Own& own,
                  std::uint32_t max_endpoints);
/// The name of an endpoint's file: node, endpoint, role.
std::string member_name(const NodeId& node, const TopicService::Own& own);

/// Makes an endpoint that sends and receives one of its own peers, so that it gets what it sends.
Status add_itself(const Node& node, TopicService& service);
/// Introduces an endpoint to those that were there before. Errors: those of Node::ask().
Status join_all(Node& node, TopicService& service, const std::string& topic,
                const std::vector<std::string>& members, const Deadline& deadline);
void leave_all(Node& node, TopicService& service, const std::string& topic,
               const std::string& member) noexcept;

}  // namespace halyard::ipc
