// SPDX-License-Identifier: Apache-2.0
// Information about pools and topics: asks the members of each entry of the registry. Observers do
// not take the lock of an entry, which is for processes that enter. They read files that are
// replaced as a whole, and treat a member that has just left as absent.
#include "halyard/ipc_info.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>

#include "base/text/format_error.h"
#include "ipc/node/node.h"
#include "ipc/node/registry.h"
#include "ipc/pool/pool_look.h"
#include "ipc/pool/pool_part.h"
#include "ipc/topic/endpoint_memory.h"
#include "ipc/topic/topic_entry.h"
#include "ipc/topic/topic_service.h"

namespace halyard {

using namespace ipc;  // NOLINT: this file is a front of that folder

namespace {

constexpr auto observer_timeout = std::chrono::milliseconds(300);
constexpr auto relaxed = std::memory_order_relaxed;

// Saturating sum and product: values from other processes cannot make them overflow.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
  return a > maximum - b ? maximum : a + b;
}
std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > maximum / b ? maximum : a * b;
}
template <class Items, class Get>
std::uint64_t sum_of(const Items& items, const Get& get) noexcept {
  std::uint64_t all = 0;
  for (const auto& item : items)
    all = sum(all, get(item));
  return all;
}

std::set<NodeId> nodes_of(const std::vector<std::string>& members) {
  std::set<NodeId> nodes;
  for (const std::string& member : members)
    if (const auto node = node_id_from(member)) nodes.insert(*node);
  return nodes;
}

// The state of one call. Asks each process for its process id once.
class Observer {
 public:
  static Result<Observer> create() {
    HALYARD_TRY(auto node, Node::get());
    return Observer(std::move(node));
  }
  Node& node() const noexcept { return *node_; }

  IpcProcess process(const NodeId& node) {
    const auto known = pids_.find(node);
    if (known != pids_.end()) return {to_string(node), known->second};
    const auto pid = node_->pid_of(node);
    pids_.emplace(node, pid);
    return {to_string(node), pid};
  }

  // Asks the processes of the members; `read(node, answer)` interprets one answer. A process whose
  // answer fails is added to `unobserved`. Returns false if none of the processes lives.
  template <class Read>
  bool ask(const std::vector<std::string>& members, const std::string& key, std::uint32_t request,
           std::vector<UnobservedProcess>& unobserved, const Read& read) {
    bool lives = false;
    for (const NodeId& node : nodes_of(members)) {
      auto answers = node_->ask(node, key, request, std::span<const std::byte>(), {},
                                Deadline(observer_timeout));
      // The process has ended, or has left the entry.
      if (!answers && answers.error().code == Errc::not_found) continue;
      lives = true;
      Status status;
      if (!answers) status = answers.error();
      for (std::size_t i = 0; status && i < answers->size(); ++i)
        status = read(node, (*answers)[i]);
      if (!status) unobserved.push_back({process(node), status.error()});
    }
    return lives;
  }

 private:
  explicit Observer(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  std::shared_ptr<Node> node_;
  std::map<NodeId, std::optional<std::int32_t>> pids_;
};

// Whether the mapped memory is that of the part which its owner describes.
bool is_state_of(const ArenaHeader& header, const PoolLookHead& head, const PoolInfo& pool) {
  return header.magic == ArenaHeader::magic_value && header.version == ArenaHeader::version_value &&
         header.byte_order == ArenaHeader::byte_order_value && header.slots == head.slots &&
         head.slots == pool.max_slots && header.arena_id == head.arena_id &&
         header.index == head.index && header.pool_id == pool.id;
}

Status read_part(Observer& observer, const NodeId& node, const Parcel& answer, PoolInfo& pool) {
  HALYARD_TRY(const PoolLook look, pool_look_from(answer));
  if (answer.fds.size() != 1)
    return fail(Errc::malformed, "peer: its description of its part of the pool is not valid");
  HALYARD_TRY(const MappedMemory state,
              map_peer_memory(answer.fds[0], arena_state_bytes(look.head.slots)));
  const ArenaHeader& header = *arena_header(state.bytes());
  if (!is_state_of(header, look.head, pool))
    return fail(Errc::malformed, "peer: its part of the pool has another layout");
  PoolPartInfo part;
  part.owner = observer.process(node);
  part.index = look.head.index;
  // A process that tries to allocate adds to the counters first, so a sum may exceed the limits for
  // a moment.
  const auto bytes = [&](const SharedWord& word) {
    return std::min(word.load(relaxed), pool.pool_size);
  };
  part.used_slots = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(header.slots_used.load(relaxed), look.head.slots));
  part.used_bytes = bytes(header.bytes_used);
  part.reserved_bytes = bytes(header.bytes_reserved);
  part.peak_used_bytes = bytes(header.peak_bytes_used);
  part.failed_allocations = header.failed_allocations.load(relaxed);
  part.waits_for_room = header.wants_room.load(relaxed) == 1;
  part.held_slots = static_cast<std::uint32_t>(look.head.own.slots);
  part.held_bytes = std::min(look.head.own.bytes, pool.pool_size);
  for (const HolderRecord& holder : look.holders) {
    part.borrowers.push_back({observer.process(holder.node),
                              static_cast<std::uint32_t>(holder.holding.slots),
                              std::min(holder.holding.bytes, pool.pool_size)});
  }
  pool.parts.push_back(std::move(part));
  return {};
}

Result<PoolInfo> read_pool_entry(Observer& observer, std::uint32_t id) {
  const auto gone = [&] { return fail(Errc::not_found, "pool: no process has it open", "{}", id); };
  const auto entry = observer.node().registry().look("pools", std::to_string(id));
  if (!entry && entry.error().code == Errc::not_found) return gone();
  if (!entry) return entry.error();
  HALYARD_TRY(const auto members, entry->members());
  HALYARD_TRY(const auto text, entry->text());
  PoolInfo pool;
  pool.id = id;
  if (text) {
    HALYARD_TRY(const TensorPoolConfig config, read_pool(*text));
    pool.pool_size = config.pool_size;
    pool.max_slots = config.max_slots;
    pool.slot_alignment = config.slot_alignment;
    pool.frame = config.frame;
  }
  const bool lives = observer.ask(members, fmt::format("pool/{}", id),
                                  static_cast<std::uint32_t>(PoolRequest::look), pool.unobserved,
                                  [&](const NodeId& node, const Parcel& answer) {
                                    return read_part(observer, node, answer, pool);
                                  });
  if (!lives) return gone();
  if (!text) return fail(Errc::corrupt, "registry: the pool's limits are missing");
  std::sort(pool.parts.begin(), pool.parts.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  return pool;
}

std::vector<TopicReader> read_readers(const EndpointView& view) {
  std::vector<TopicReader> readers;
  for (std::uint32_t i = 0; i < view.layout().readers; ++i) {
    const ReaderRecord& record = view.records()[i];
    const std::uint64_t publisher = record.publisher.load(std::memory_order_acquire);
    if (publisher == 0) continue;
    // `waiting` holds the position until count_waiting() knows the publisher's head.
    readers.push_back({publisher, record.received.load(relaxed), record.lost.load(relaxed),
                       record.position.load(relaxed)});
  }
  return readers;
}

Status read_endpoint(Observer& observer, const NodeId& node, const Parcel& answer,
                     TopicInfo& topic) {
  const auto facts = answer.as<EndpointFacts>();
  if (!facts || facts->id == 0 || facts->role < 1 || facts->role > 3 || answer.fds.size() != 2)
    return fail(Errc::malformed, "peer: its description of its endpoint is not valid");
  HALYARD_TRY(const MappedMemory memory, map_peer_memory(answer.fds[0], sizeof(EndpointHeader)));
  HALYARD_TRY(const EndpointView view,
              view_of_peer(memory, (facts->role & 1U) != 0, entry_words(topic.type),
                           topic.type.layout_hash));
  const EndpointHeader& header = view.header();
  TopicEndpointInfo endpoint;
  endpoint.process = observer.process(node);
  endpoint.id = facts->id;
  endpoint.role = static_cast<TopicRole>(facts->role);
  endpoint.when = std::chrono::steady_clock::now();
  endpoint.sent = header.head.load(relaxed);
  endpoint.sent_bytes =
      sum(header.sent_bytes.load(relaxed), product(endpoint.sent, topic.type.inline_bytes));
  endpoint.refused = header.refused.load(relaxed);
  endpoint.copied = header.copied.load(relaxed);
  endpoint.waits_for_message = header.waits.load(relaxed) != 0;
  endpoint.waits_for_room = header.wants_room.load(relaxed) != 0;
  endpoint.readers = read_readers(view);
  topic.endpoints.push_back(std::move(endpoint));
  return {};
}

// Replaces the position of each reader by the number of messages that wait for it.
void count_waiting(TopicInfo& topic) {
  std::map<std::uint64_t, std::uint64_t> heads;
  for (const auto& endpoint : topic.endpoints)
    if (endpoint.publishes()) heads[endpoint.id] = endpoint.sent;
  for (auto& endpoint : topic.endpoints) {
    for (TopicReader& reader : endpoint.readers) {
      const auto head = heads.find(reader.publisher);
      const std::uint64_t done = std::exchange(reader.waiting, 0);
      if (head != heads.end() && head->second > done)
        reader.waiting = std::min<std::uint64_t>(head->second - done, topic.depth);
    }
  }
}

Result<TopicInfo> read_topic_entry(Observer& observer, const std::string& name) {
  const auto gone = [&] {
    return fail(Errc::not_found, "topic: nobody has joined it", "\"{}\"", name);
  };
  const auto entry = observer.node().registry().look("topics", folder_name(name));
  if (!entry && entry.error().code == Errc::not_found) return gone();
  if (!entry) return entry.error();
  HALYARD_TRY(const auto members, entry->members());
  HALYARD_TRY(const auto text, entry->text());
  TopicInfo topic;
  topic.name = name;
  if (text) {
    HALYARD_TRY(const TopicFacts facts, read_topic(*text));
    topic.type = facts.type;
    topic.depth = facts.depth;
    topic.overflow = facts.overflow;
    topic.history = facts.history;
    topic.max_endpoints = facts.max_endpoints;
    topic.pool_id = facts.pool_id;
  }
  const bool lives =
      observer.ask(members, "topic/" + name, static_cast<std::uint32_t>(TopicRequest::look),
                   topic.unobserved, [&](const NodeId& node, const Parcel& answer) {
                     return read_endpoint(observer, node, answer, topic);
                   });
  if (!lives) return gone();
  if (!text) return fail(Errc::corrupt, "registry: the topic's configuration is missing");
  count_waiting(topic);
  std::sort(topic.endpoints.begin(), topic.endpoints.end(), [](const auto& a, const auto& b) {
    return std::tie(a.process.pid, a.process.node, a.id) <
           std::tie(b.process.pid, b.process.node, b.id);
  });
  return topic;
}

std::optional<std::uint32_t> pool_id_from(const std::string& folder) {
  std::uint32_t id = 0;
  const char* const end = folder.data() + folder.size();
  const auto [stop, error] = std::from_chars(folder.data(), end, id);
  if (error != std::errc() || stop != end || std::to_string(id) != folder) return std::nullopt;
  return id;
}

// Leaves out entries that have been removed meanwhile and entries that cannot be read.
template <class T, class Read>
Result<std::vector<T>> read_all(Observer& observer, std::string_view kind, const Read& read) {
  HALYARD_TRY(const auto folders, observer.node().registry().names(kind));
  std::vector<T> all;
  for (const std::string& folder : folders) {
    Result<T> one = read(folder);
    if (one) all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace

std::uint64_t PoolInfo::used_slots() const noexcept {
  return sum_of(parts, [](const auto& part) { return part.used_slots; });
}
std::uint64_t PoolInfo::used_bytes() const noexcept {
  return sum_of(parts, [](const auto& part) { return part.used_bytes; });
}
std::uint64_t PoolInfo::reserved_bytes() const noexcept {
  return sum_of(parts, [](const auto& part) { return part.reserved_bytes; });
}
std::uint64_t PoolInfo::failed_allocations() const noexcept {
  return sum_of(parts, [](const auto& part) { return part.failed_allocations; });
}
std::uint64_t TopicEndpointInfo::received() const noexcept {
  return sum_of(readers, [](const auto& reader) { return reader.received; });
}
std::uint64_t TopicEndpointInfo::lost() const noexcept {
  return sum_of(readers, [](const auto& reader) { return reader.lost; });
}
std::size_t TopicInfo::publishers() const noexcept {
  return sum_of(endpoints, [](const auto& endpoint) { return endpoint.publishes() ? 1U : 0U; });
}
std::size_t TopicInfo::subscribers() const noexcept {
  return sum_of(endpoints, [](const auto& endpoint) { return endpoint.subscribes() ? 1U : 0U; });
}

Result<std::vector<PoolInfo>> list_pools() {
  HALYARD_TRY(Observer observer, Observer::create());
  HALYARD_TRY(
      auto pools, read_all<PoolInfo>(observer, "pools", [&](const std::string& folder) {
        const auto id = pool_id_from(folder);
        return id ? read_pool_entry(observer, *id)
                  : Result<PoolInfo>(fail(Errc::not_found, "registry: the folder is not a pool's"));
      }));
  std::sort(pools.begin(), pools.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return pools;
}

Result<PoolInfo> pool_info(std::uint32_t id) {
  HALYARD_TRY(Observer observer, Observer::create());
  return read_pool_entry(observer, id);
}

Result<std::vector<TopicInfo>> list_topics() {
  HALYARD_TRY(Observer observer, Observer::create());
  HALYARD_TRY(auto topics, read_all<TopicInfo>(observer, "topics", [&](const std::string& folder) {
                const std::string name = topic_name(folder);
                const Status is_name = check_topic_name(name);
                return is_name ? read_topic_entry(observer, name)
                               : Result<TopicInfo>(is_name.error());
              }));
  std::sort(topics.begin(), topics.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return topics;
}

Result<TopicInfo> topic_info(std::string_view name) {
  HALYARD_RETURN_IF_ERROR(check_topic_name(name));
  HALYARD_TRY(Observer observer, Observer::create());
  return read_topic_entry(observer, std::string(name));
}

}  // namespace halyard
