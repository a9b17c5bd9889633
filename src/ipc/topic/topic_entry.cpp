// SPDX-License-Identifier: Apache-2.0
// The text of a topic in the registry, and the files of its endpoints.
#include "ipc/topic/topic_entry.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <set>

#include "base/best_effort.h"
#include "base/system/random.h"
#include "base/text/format_error.h"
#include "ipc/topic/frame_message.h"

namespace halyard::ipc {
namespace {

constexpr std::uint32_t max_depth = 4096;
constexpr std::uint32_t max_max_endpoints = 1024;
constexpr std::uint32_t max_inline_bytes = 1U << 20U;

Status check_count(const char* what, const std::optional<std::uint32_t>& value, std::uint32_t low,
                   std::uint32_t high) {
  if (!value || (*value >= low && *value <= high)) return {};
  return fail(Errc::invalid_argument, what, "{}, must be {}..{}", *value, low, high);
}

template <class V>
Status check_same_fact(const char* what, const std::optional<V>& wanted, const V& found) {
  if (!wanted || *wanted == found) return {};
  if constexpr (std::is_same_v<V, Overflow>) {
    return fail(Errc::exists, what, "wanted {}, found {}", to_string(*wanted), to_string(found));
  } else {
    return fail(Errc::exists, what, "wanted {}, found {}", *wanted, found);
  }
}

Status check_type(const MessageType& wanted, const MessageType& found) {
  if (wanted.name != found.name) {
    return fail(Errc::exists, "message type: must equal the topic's", "wanted {}, found {}",
                wanted.name, found.name);
  }
  if (wanted.inline_bytes != found.inline_bytes) {
    return fail(Errc::exists, "message size: must equal the topic's", "wanted {}, found {}",
                wanted.inline_bytes, found.inline_bytes);
  }
  if (wanted.layout_hash != found.layout_hash || wanted.has_frame != found.has_frame) {
    return fail(Errc::exists, "message layout: must equal the topic's",
                "wanted {:016x}, found {:016x}", wanted.layout_hash, found.layout_hash);
  }
  if (wanted.members_hash != found.members_hash && wanted.members_hash != 0 &&
      found.members_hash != 0) {
    return fail(Errc::exists, "message members: must equal those of the topic's struct",
                "{}, wanted {:016x}, found {:016x}", wanted.name, wanted.members_hash,
                found.members_hash);
  }
  return {};
}

std::string to_text(const TopicFacts& facts) {
  return fmt::format(
      "type {}\nlayout {:016x}\nmembers {:016x}\ninline_bytes {}\nhas_frame {}\ndepth {}\n"
      "overflow {}\nhistory {}\nmax_endpoints {}\npool {}\n",
      facts.type.name, facts.type.layout_hash, facts.type.members_hash, facts.type.inline_bytes,
      facts.type.has_frame ? 1 : 0, facts.depth, static_cast<int>(facts.overflow), facts.history,
      facts.max_endpoints, facts.pool_id);
}

}  // namespace

std::uint32_t message_words(const MessageType& type) noexcept {
  const std::uint32_t head = type.has_frame ? sizeof(FrameHead) / sizeof(std::uint64_t) : 0;
  return head + (type.inline_bytes + 7) / 8;
}

std::uint32_t entry_words(const MessageType& type) noexcept {
  return (1 + message_words(type) + 7) / 8 * 8;
}

Status check_topic_config(const TopicConfig& config) {
  HALYARD_RETURN_IF_ERROR(check_count("depth: outside its limits", config.depth, 1, max_depth));
  HALYARD_RETURN_IF_ERROR(check_count("history: outside its limits", config.history, 0,
                                      config.depth.value_or(max_depth)));
  HALYARD_RETURN_IF_ERROR(
      check_count("max_endpoints: outside its limits", config.max_endpoints, 1, max_max_endpoints));
  if (config.overflow && static_cast<unsigned>(*config.overflow) > 2)
    return fail(Errc::invalid_argument, "overflow: is not a known value");
  const auto role = static_cast<unsigned>(config.role);
  if (role < 1 || role > 3)
    return fail(Errc::invalid_argument, "role: must be publisher, subscriber or both");
  return {};
}

Result<TopicFacts> read_topic(const std::string& text) {
  TopicFacts facts;
  char name[201] = {};
  unsigned long long layout = 0;
  unsigned long long members = 0;
  unsigned has_frame = 0;
  unsigned overflow = 0;
  const int found = std::sscanf(
      text.c_str(),
      "type %200[^\n]\nlayout %llx\nmembers %llx\ninline_bytes %u\nhas_frame %u\ndepth %u\n"
      "overflow %u\nhistory %u\nmax_endpoints %u\npool %u\n",
      name, &layout, &members, &facts.type.inline_bytes, &has_frame, &facts.depth, &overflow,
      &facts.history, &facts.max_endpoints, &facts.pool_id);
  const bool is_whole = found == 10 && has_frame <= 1 && overflow <= 2 && facts.depth >= 1 &&
                        facts.depth <= max_depth && facts.history <= facts.depth &&
                        facts.max_endpoints >= 1 && facts.max_endpoints <= max_max_endpoints &&
                        facts.type.inline_bytes <= max_inline_bytes;
  if (!is_whole) return fail(Errc::corrupt, "registry: the topic's configuration cannot be parsed");
  facts.type.name = name;
  facts.type.layout_hash = layout;
  facts.type.members_hash = members;
  facts.type.has_frame = has_frame != 0;
  facts.overflow = static_cast<Overflow>(overflow);
  return facts;
}

Result<TopicFacts> agree_on_topic(const RegistryEntry& entry, bool is_there,
                                  const std::optional<MessageType>& type,
                                  const TopicConfig& config) {
  if (is_there) {
    HALYARD_TRY(const auto text, entry.text());
    if (!text) return fail(Errc::corrupt, "registry: the topic's configuration is missing");
    HALYARD_TRY(const TopicFacts found, read_topic(*text));
    if (type) HALYARD_RETURN_IF_ERROR(check_type(*type, found.type));
    HALYARD_RETURN_IF_ERROR(
        check_same_fact("depth: must equal the topic's", config.depth, found.depth));
    HALYARD_RETURN_IF_ERROR(
        check_same_fact("overflow: must equal the topic's", config.overflow, found.overflow));
    HALYARD_RETURN_IF_ERROR(
        check_same_fact("history: must equal the topic's", config.history, found.history));
    HALYARD_RETURN_IF_ERROR(check_same_fact("max_endpoints: must equal the topic's",
                                            config.max_endpoints, found.max_endpoints));
    return found;
  }
  if (!type) return fail(Errc::not_found, "topic: nobody has joined it");
  if (type->name.empty() || type->name.size() > 200 || type->name.find('\n') != std::string::npos)
    return fail(Errc::invalid_argument, "message type: its name must have 1..200 bytes");
  if (type->inline_bytes > max_inline_bytes) {
    return fail(Errc::invalid_argument,
                "message size: larger ones need a MessageSerializer or a frame",
                "{} bytes, at most {}", type->inline_bytes, max_inline_bytes);
  }
  TopicFacts facts;
  facts.type = *type;
  facts.depth = config.depth.value_or(facts.depth);
  facts.overflow = config.overflow.value_or(facts.overflow);
  facts.history = config.history.value_or(facts.history);
  facts.max_endpoints = config.max_endpoints.value_or(facts.max_endpoints);
  if (facts.history > facts.depth) {
    return fail(Errc::invalid_argument, "history: must be at most depth", "{}, depth is {}",
                facts.history, facts.depth);
  }
  // Numbers that people choose are small: the top bit avoids them. Each topic has its own pool.
  HALYARD_TRY(const std::uint64_t number, random_value<std::uint64_t>());
  facts.pool_id = static_cast<std::uint32_t>(number) | 0x8000'0000U;
  HALYARD_RETURN_IF_ERROR(entry.set_text(to_text(facts)));
  return facts;
}

Result<TopicService::Own> make_endpoint(const TopicFacts& facts, const TopicConfig& config) {
  TopicService::Own own;
  own.publishes = (static_cast<unsigned>(config.role) & 1U) != 0;
  own.subscribes = (static_cast<unsigned>(config.role) & 2U) != 0;
  own.history = facts.history;
  own.max_endpoints = facts.max_endpoints;
  do {
    HALYARD_TRY(own.id, random_value<std::uint64_t>());
  } while (own.id == 0);
  EndpointLayout layout;
  layout.readers = own.subscribes ? facts.max_endpoints : 0;
  layout.entries = own.publishes ? std::bit_ceil(facts.depth) : 0;
  layout.entry_words = entry_words(facts.type);
  HALYARD_TRY(own.memory, create_own_memory("halyard endpoint", layout.size_bytes()));
  HALYARD_TRY(own.notifier, Notifier::create());
  std::byte* const begin = own.memory.mapped.bytes().data();
  auto* const header = new (begin) EndpointHeader;
  header->id = own.id;
  header->layout_hash = facts.type.layout_hash;
  header->role = static_cast<std::uint32_t>(config.role);
  header->message_words = message_words(facts.type);
  header->entry_words = layout.entry_words;
  header->entries = layout.entries;
  header->depth = facts.depth;
  header->readers = layout.readers;
  for (std::uint32_t i = 0; i < layout.readers; ++i)
    new (begin + layout.records_offset() + i * sizeof(ReaderRecord)) ReaderRecord;
  const std::size_t words = std::size_t{layout.entries} * layout.entry_words;
  for (std::size_t i = 0; i < words; ++i)
    new (begin + layout.ring_offset() + i * sizeof(SharedWord)) SharedWord;
  own.view = EndpointView(own.memory.mapped.bytes(), layout);
  return own;
}

Status check_room(const std::vector<std::string>& members, const TopicService::Own& own,
                  std::uint32_t max_endpoints) {
  std::uint32_t publishers = 0;
  std::uint32_t subscribers = 0;
  for (const std::string& member : members) {
    const char role = member.back();
    publishers += role == 'p' || role == 'b' ? 1 : 0;
    subscribers += role == 's' || role == 'b' ? 1 : 0;
  }
  if (own.publishes && publishers >= max_endpoints) {
    return fail(Errc::exhausted, "topic: has the maximum number of publishers",
                "max_endpoints is {}", max_endpoints);
  }
  if (own.subscribes && subscribers >= max_endpoints) {
    return fail(Errc::exhausted, "topic: has the maximum number of subscribers",
                "max_endpoints is {}", max_endpoints);
  }
  return {};
}

std::string member_name(const NodeId& node, const TopicService::Own& own) {
  const char role = own.publishes && own.subscribes ? 'b' : own.publishes ? 'p' : 's';
  return fmt::format("{}-{:016x}-{}", to_string(node), own.id, role);
}

Status add_itself(const Node& node, TopicService& service) {
  const TopicService::Own& own = service.own();
  if (!own.publishes || !own.subscribes) return {};
  HALYARD_TRY(const Parcel introduction, service.introduction());
  HALYARD_TRY(auto peer, open_peer(node.id(), introduction, own.view));
  return service.add(std::move(peer), true);
}

Status join_all(Node& node, TopicService& service, const std::string& topic,
                const std::vector<std::string>& members, const Deadline& deadline) {
  std::set<NodeId> nodes;
  for (const std::string& member : members)
    if (const auto id = node_id_from(member)) nodes.insert(*id);
  const EndpointFacts facts = service.facts();
  const int fds[] = {service.own().memory.fd.get(), service.own().notifier.sender().get()};
  for (const NodeId& id : nodes) {
    auto answers = node.ask(id, "topic/" + topic, static_cast<std::uint32_t>(TopicRequest::join),
                            facts, fds, deadline);
    // The process has ended or left meanwhile.
    if (!answers && answers.error().code == Errc::not_found) continue;
    if (!answers) return answers.error();
    for (const Parcel& answer : *answers) {
      HALYARD_TRY(auto peer, open_peer(id, answer, service.own().view));
      if (peer->id == service.own().id) continue;
      HALYARD_RETURN_IF_ERROR(service.add(std::move(peer), true));
    }
  }
  return {};
}

void leave_all(Node& node, TopicService& service, const std::string& topic,
               const std::string& member) noexcept {
  const Deadline soon(std::chrono::milliseconds(200));
  service.read_all();
  best_effort([&] { node.remove("topic/" + topic, &service); });
  best_effort([&] {
    std::set<NodeId> nodes;
    for (const auto& peer : service.peers())
      if (!peer->has_left) nodes.insert(peer->node);
    for (const NodeId& id : nodes) {
      static_cast<void>(node.ask(id, "topic/" + topic,
                                 static_cast<std::uint32_t>(TopicRequest::leave), service.facts(),
                                 {}, soon)
                            .has_value());
    }
  });
  if (member.empty()) return;
  best_effort([&] { node.registry().leave("topics", folder_name(topic), member, soon); });
}

}  // namespace halyard::ipc
