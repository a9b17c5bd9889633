// SPDX-License-Identifier: Apache-2.0
// Processes of a pool know each other's counters; a process that enters introduces itself to all.
#include "ipc/pool/pool_part.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/best_effort.h"
#include "base/system/random.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "ipc/pool/borrowed_arena.h"

namespace halyard::ipc {
namespace {

struct Parts {
  RankedMutex<LockRank::pool_parts> mutex;
  std::map<std::uint32_t, std::weak_ptr<PoolPart>> parts;
};
constinit PerProcess<Parts> process_parts;

std::string to_text(const TensorPoolConfig& config) {
  std::string text = fmt::format("pool_size {}\nmax_slots {}\nslot_alignment {}\n",
                                 config.pool_size, config.max_slots, config.slot_alignment);
  if (config.frame) text += fmt::format("frame {}\n", config.frame->to_text());
  return text;
}

Status check_same(const TensorPoolConfig& wanted, const TensorPoolConfig& found) {
  const auto check = [](const char* what, std::uint64_t mine, std::uint64_t theirs) -> Status {
    if (mine == theirs) return {};
    return fail(Errc::exists, what, "wanted {}, found {}", mine, theirs);
  };
  HALYARD_RETURN_IF_ERROR(
      check("pool_size: must equal the pool's", wanted.pool_size, found.pool_size));
  HALYARD_RETURN_IF_ERROR(
      check("max_slots: must equal the pool's", wanted.max_slots, found.max_slots));
  HALYARD_RETURN_IF_ERROR(
      check("slot_alignment: must equal the pool's", wanted.slot_alignment, found.slot_alignment));
  if (!wanted.frame || wanted.frame == found.frame) return {};
  return fail(Errc::exists, "frame: must equal the pool's", "wanted {}, found {}",
              wanted.frame->describe(), found.frame ? found.frame->describe() : "none");
}

Arena::Config arena_config(const TensorPoolConfig& config) {
  Arena::Config arena;
  arena.max_bytes = config.pool_size;
  arena.slots = config.max_slots;
  arena.slot_alignment = config.slot_alignment;
  const bool all_at_once = config.prefault || config.lock_memory;
  const std::uint64_t usual = all_at_once ? config.pool_size : std::uint64_t{16} << 20U;
  arena.first_bytes =
      std::min(config.first_bytes != 0 ? config.first_bytes : usual, config.pool_size);
  arena.memory = {config.prefault, config.lock_memory, config.huge_pages};
  arena.scrubs = config.scrub == Scrub::on_free;
  return arena;
}

std::optional<std::uint32_t> index_of(const std::string& member) {
  if (member.size() < 34 || member[32] != '-') return std::nullopt;
  std::uint32_t index = 0;
  const char* const end = member.data() + member.size();
  const auto [stop, error] = std::from_chars(member.data() + 33, end, index);
  if (error != std::errc() || stop != end || index > 255) return std::nullopt;
  return index;
}

std::uint32_t first_free_index(const std::vector<std::string>& members) {
  const auto is_taken = [&](std::uint32_t i) {
    return std::any_of(members.begin(), members.end(),
                       [&](const std::string& member) { return index_of(member) == i; });
  };
  std::uint32_t index = 0;
  while (is_taken(index))
    ++index;
  return index;
}

// The configuration of a new part: that of `wanted`, with the pool's limits if the pool `is_there`.
// Errors: exists (the limits differ), corrupt, those of the entry.
Result<TensorPoolConfig> agree_on_pool(const RegistryEntry& entry, bool is_there,
                                       const TensorPoolConfig* wanted) {
  HALYARD_TRY(const auto text, entry.text());
  TensorPoolConfig config = wanted != nullptr ? *wanted : TensorPoolConfig{};
  if (!is_there) return config;
  if (!text) return fail(Errc::corrupt, "registry: the pool's limits are missing");
  HALYARD_TRY(const TensorPoolConfig found, read_pool(*text));
  if (wanted != nullptr) HALYARD_RETURN_IF_ERROR(check_same(*wanted, found));
  config.pool_size = found.pool_size;
  config.max_slots = found.max_slots;
  config.slot_alignment = found.slot_alignment;
  config.frame = found.frame;
  return config;
}

}  // namespace

Result<TensorPoolConfig> read_pool(const std::string& text) {
  TensorPoolConfig config;
  unsigned long long size = 0;
  if (std::sscanf(text.c_str(), "pool_size %llu\nmax_slots %u\nslot_alignment %u\n", &size,
                  &config.max_slots, &config.slot_alignment) != 3)
    return fail(Errc::corrupt, "registry: the pool's limits cannot be parsed");
  config.pool_size = size;
  constexpr std::string_view word = "\nframe ";
  if (const std::size_t at = text.find(word); at != std::string::npos) {
    const std::size_t begin = at + word.size();
    HALYARD_TRY(config.frame,
                FrameLayout::from_text(text.substr(begin, text.find('\n', begin) - begin)));
  }
  return config;
}

Result<std::shared_ptr<PoolPart>> PoolPart::get(std::uint32_t id, const TensorPoolConfig* wanted) {
  Parts& known = process_parts.get();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.parts, [](const auto& entry) { return entry.second.expired(); });
  if (auto part = known.parts[id].lock()) {
    if (wanted != nullptr) HALYARD_RETURN_IF_ERROR(check_same(*wanted, part->config()));
    return part;
  }
  HALYARD_TRY(auto part, enter(id, wanted));
  known.parts[id] = part;
  return part;
}

Result<std::shared_ptr<PoolPart>> PoolPart::find(std::uint64_t arena_id) {
  Parts& known = process_parts.get();
  const std::lock_guard lock(known.mutex);
  for (const auto& [id, place] : known.parts) {
    if (auto part = place.lock(); part && part->identity().arena_id == arena_id) return part;
  }
  return fail(Errc::not_found, "descriptor: its pool is closed");
}

PoolPart::PoolPart(std::shared_ptr<Node> node, const Identity& identity,
                   const TensorPoolConfig& config)
    : SlotHome(identity), node_(std::move(node)), config_(config) {}

std::string PoolPart::pool_key() const {
  return fmt::format("pool/{}", identity_.pool_id);
}

Result<std::shared_ptr<PoolPart>> PoolPart::make(const std::shared_ptr<Node>& node,
                                                 std::uint32_t id, std::uint32_t index,
                                                 const TensorPoolConfig& config) {
  Arena::Config arena = arena_config(config);
  arena.pool_id = id;
  arena.index = index;
  using Numbers = std::array<std::uint64_t, 2>;
  HALYARD_TRY(const Numbers random, random_value<Numbers>());
  arena.arena_id = random[0];
  // Even (the slot is free), and far below the largest value.
  arena.first_generation = (random[1] >> 2U) & ~std::uint64_t{1};
  std::shared_ptr<PoolPart> part(
      new PoolPart(node, {node->id(), arena.arena_id, id, index}, config));
  HALYARD_TRY(auto own, Arena::create(fmt::format("halyard pool {}", id), arena));
  part->service_ = std::make_shared<PoolService>(std::move(own));
  part->service_->arena().on_room(
      [service = part->service_.get(), node = node.get()] { service->tell_room(*node); });
  part->service_->arena().on_dirty([node = node.get()] { node->look_soon(); });
  return part;
}

Status PoolPart::become_member(const RegistryEntry& entry) {
  node_->add(pool_key(), service_);
  node_->add(arena_key(identity_.arena_id), service_);
  const std::string member = fmt::format("{}-{}", to_string(node_->id()), identity_.index);
  HALYARD_RETURN_IF_ERROR(entry.add(member));
  member_ = member;
  return {};
}

Result<std::shared_ptr<PoolPart>> PoolPart::enter(std::uint32_t id,
                                                  const TensorPoolConfig* wanted) {
  const Deadline deadline(answer_timeout);
  HALYARD_TRY(const std::shared_ptr<Node> node, Node::get());
  node->clean_registry();
  const std::string name = std::to_string(id);
  std::shared_ptr<PoolPart> part;
  std::vector<std::string> members;
  {
    auto entry = node->registry().enter("pools", name, wanted == nullptr, deadline);
    if (!entry && wanted == nullptr && entry.error().code == Errc::not_found)
      return fail(Errc::not_found, "pool: no process has it open", "{}", id);
    if (!entry) return entry.error();
    HALYARD_TRY(members, node->living_members(*entry));
    if (members.empty() && wanted == nullptr) {
      entry->remove_folder();
      return fail(Errc::not_found, "pool: no process has it open", "{}", id);
    }
    if (members.size() >= max_members) {
      return fail(Errc::exhausted, "pool: too many processes have it open", "{} of {}",
                  members.size(), max_members);
    }
    HALYARD_TRY(const TensorPoolConfig config, agree_on_pool(*entry, !members.empty(), wanted));
    HALYARD_TRY(part, make(node, id, first_free_index(members), config));
    if (members.empty()) {
      HALYARD_RETURN_IF_ERROR(entry->set_text(to_text(config)));
      part->made_pool_ = true;
    }
    // From now on new processes join this one. This process itself joins those that were there
    // before.
    HALYARD_RETURN_IF_ERROR(part->become_member(*entry));
  }
  HALYARD_RETURN_IF_ERROR(part->join(members, deadline));
  return part;
}

Status PoolPart::join(const std::vector<std::string>& members, const Deadline& deadline) {
  const PoolMember mine = service_->member();
  const int state = service_->arena().control().fd.get();
  for (const std::string& member : members) {
    const auto node = node_id_from(member);
    if (!node || *node == node_->id()) continue;
    auto answers = node_->ask(*node, pool_key(), static_cast<std::uint32_t>(PoolRequest::join),
                              mine, std::span(&state, 1), deadline);
    // The process has ended meanwhile.
    if (!answers && answers.error().code == Errc::not_found) continue;
    if (!answers) return answers.error();
    for (const Parcel& answer : *answers) {
      const auto other = answer.as<PoolMember>();
      if (!other || answer.fds.empty())
        return fail(Errc::malformed, "peer: its description of its part of the pool is not valid");
      HALYARD_RETURN_IF_ERROR(service_->add_neighbour(*node, *other, answer.fds[0]));
    }
  }
  return {};
}

PoolPart::~PoolPart() {
  if (!service_ || !is_of_this_process()) return;
  const Deadline soon(std::chrono::milliseconds(200));
  best_effort([&] { node_->remove(pool_key(), service_.get()); });
  best_effort([&] { node_->remove(arena_key(identity_.arena_id), service_.get()); });
  best_effort([&] {
    std::vector<NodeId> others;
    service_->each_neighbour([&](const auto& neighbour) { others.push_back(neighbour.node); });
    for (const NodeId& other : others) {
      static_cast<void>(node_
                            ->ask(other, pool_key(), static_cast<std::uint32_t>(PoolRequest::leave),
                                  service_->member(), {}, soon)
                            .has_value());
    }
  });
  if (member_.empty()) return;
  best_effort(
      [&] { node_->registry().leave("pools", std::to_string(identity_.pool_id), member_, soon); });
}

[[gnu::hot]] Result<std::shared_ptr<SlotBuffer>> PoolPart::allocate(std::size_t bytes) {
  const auto leased = service_->arena().allocate(bytes);
  if (!leased) return leased.error();
  const Arena::Lease& lease = *leased;
  service_->collect_sent_buffers();
  return SlotBuffer::make(shared_from_this(),
                          SlotBuffer::Place{lease.slot, lease.generation, lease.offset},
                          lease.bytes, true);
}

Result<std::shared_ptr<SlotBuffer>> PoolPart::allocate_for(std::size_t bytes,
                                                           std::chrono::nanoseconds timeout) {
  auto found = allocate(bytes);
  if (found || found.error().code != Errc::exhausted || bytes > config_.pool_size) return found;
  const Deadline deadline(timeout);
  service_->begin_wait(*node_);
  while (!found && found.error().code == Errc::exhausted && !deadline.is_over()) {
    service_->wait(deadline.left().value_or(std::chrono::hours(1)));
    found = allocate(bytes);
  }
  service_->end_wait();
  if (!found && found.error().code == Errc::exhausted) {
    return make_error(Errc::timeout, "pool: no slot or memory became free in time",
                      found.error().message());
  }
  return found;
}

[[gnu::hot]] Result<std::shared_ptr<SlotBuffer>> PoolPart::attach(std::uint32_t slot,
                                                                  std::uint64_t generation) {
  Arena& arena = service_->arena();
  if (!is_of_this_process())
    return fail(Errc::unsupported, "pool: belongs to the process that forked this one");
  if (slot >= arena.config().slots) {
    return fail(Errc::malformed, "descriptor: no such slot", "{} of {}", slot,
                arena.config().slots);
  }
  if (!arena.try_retain(slot, generation))
    return fail(Errc::not_found, "descriptor: its tensor is gone");
  const Arena::Lease lease = arena.lease(slot);
  return SlotBuffer::make(shared_from_this(), SlotBuffer::Place{slot, generation, lease.offset},
                          lease.bytes, false);
}

}  // namespace halyard::ipc
