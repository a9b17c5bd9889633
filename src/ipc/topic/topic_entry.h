// SPDX-License-Identifier: Apache-2.0
// Entering and leaving a topic: what its endpoints agree on, and which endpoints it has.
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

/// The number of words of a message, including its frame's head.
std::uint32_t message_words(const MessageType& type) noexcept;

/// The number of words from one entry of a ring to the next: whole cache lines, so that messages do
/// not share lines.
std::uint32_t entry_words(const MessageType& type) noexcept;

/// Errors: invalid_argument, with the member and its limit.
Status check_topic_config(const TopicConfig& config);

/// The topic's facts, if `is_there`; else those of `type` and `config`, which are then written to
/// the entry. Errors: exists (they differ), not_found (the topic does not exist, and no type is
/// given), those of the entry.
Result<TopicFacts> agree_on_topic(const RegistryEntry& entry, bool is_there,
                                  const std::optional<MessageType>& type,
                                  const TopicConfig& config);
/// The facts in an entry's text. Errors: corrupt.
Result<TopicFacts> read_topic(const std::string& text);

/// Makes an endpoint that no other one knows yet.
Result<TopicService::Own> make_endpoint(const TopicFacts& facts, const TopicConfig& config);

/// Checks the limit of endpoints. Errors: exhausted (too many publishers or subscribers).
Status check_room(const std::vector<std::string>& members, const TopicService::Own& own,
                  std::uint32_t max_endpoints);
/// The name of an endpoint's file: node, endpoint, role.
std::string member_name(const NodeId& node, const TopicService::Own& own);

/// Makes an endpoint that sends and receives one of its own peers, so that it receives what it
/// sends.
Status add_itself(const Node& node, TopicService& service);
/// Introduces an endpoint to the members. Errors: those of Node::ask().
Status join_all(Node& node, TopicService& service, const std::string& topic,
                const std::vector<std::string>& members, const Deadline& deadline);
void leave_all(Node& node, TopicService& service, const std::string& topic,
               const std::string& member) noexcept;

}  // namespace halyard::ipc
