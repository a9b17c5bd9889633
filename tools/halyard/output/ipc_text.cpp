// SPDX-License-Identifier: Apache-2.0
// Type names come from other processes; they are escaped when lines are printed.
#include "output/ipc_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace halyard::tool {
namespace {

void add_unobserved(const std::vector<UnobservedProcess>& processes, Json& out) {
  out["unobserved"] = Json::array();
  for (const UnobservedProcess& process : processes) {
    Json entry = describe(process.process);
    entry["error"] = process.error.message();
    out["unobserved"].push_back(std::move(entry));
  }
}

Json describe_part(const PoolPartInfo& part) {
  Json out = describe(part.owner);
  out["index"] = part.index;
  out["used_slots"] = part.used_slots;
  out["used_bytes"] = part.used_bytes;
  out["reserved_bytes"] = part.reserved_bytes;
  out["peak_used_bytes"] = part.peak_used_bytes;
  out["failed_allocations"] = part.failed_allocations;
  out["waits_for_room"] = part.waits_for_room;
  out["held_slots"] = part.held_slots;
  out["held_bytes"] = part.held_bytes;
  out["borrowers"] = Json::array();
  for (const PoolBorrower& borrower : part.borrowers) {
    Json entry = describe(borrower.process);
    entry["slots"] = borrower.slots;
    entry["bytes"] = borrower.bytes;
    out["borrowers"].push_back(std::move(entry));
  }
  return out;
}

Json describe_endpoint(const TopicEndpointInfo& endpoint, const EndpointRate* rate) {
  Json out = describe(endpoint.process);
  out["endpoint"] = id_text(endpoint.id);
  out["role"] = role_text(endpoint.role);
  out["sent"] = endpoint.sent;
  out["sent_bytes"] = endpoint.sent_bytes;
  out["refused"] = endpoint.refused;
  out["copied"] = endpoint.copied;
  out["received"] = endpoint.received();
  out["lost"] = endpoint.lost();
  out["waits_for_message"] = endpoint.waits_for_message;
  out["waits_for_room"] = endpoint.waits_for_room;
  if (rate != nullptr) {
    out["sent_per_s"] = rate->sent_per_s();
    out["sent_bytes_per_s"] = rate->bytes_per_s();
    out["received_per_s"] = rate->received_per_s();
    out["lost_per_s"] = rate->lost_per_s();
  }
  out["readers"] = Json::array();
  for (const TopicReader& reader : endpoint.readers)
    out["readers"].push_back({{"publisher", id_text(reader.publisher)},
                              {"received", reader.received},
                              {"lost", reader.lost},
                              {"waiting", reader.waiting}});
  return out;
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  // A value that rounds to 1024.0 is shown in the next unit.
  while (bytes >= (unit == 0 ? 1024 : 1023.95) && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string rate_text(double per_second) {
  return fmt::format("{:.1f}/s", per_second);
}

std::string count_text(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string pid_text(const IpcProcess& process) {
  return process.pid ? std::to_string(*process.pid) : "unknown";
}

std::string id_text(std::uint64_t id) {
  return fmt::format("{:016x}", id);
}

std::string role_text(TopicRole role) {
  switch (role) {
    case TopicRole::publisher:
      return "publisher";
    case TopicRole::subscriber:
      return "subscriber";
    case TopicRole::both:
      break;
  }
  return "both";
}

std::string hex_text(const std::vector<std::byte>& bytes, std::size_t max_bytes) {
  std::string text;
  const std::size_t shown = std::min(bytes.size(), max_bytes);
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  if (shown < bytes.size()) text += fmt::format(" and {} more bytes", bytes.size() - shown);
  return text;
}

std::vector<std::string> table(const std::vector<std::vector<std::string>>& rows,
                               const std::string& columns) {
  std::vector<std::size_t> widths(columns.size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size() && i < columns.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size() && i < columns.size(); ++i) {
      if (i != 0) line += "  ";
      line += columns[i] == 'r' ? fmt::format("{:>{}}", row[i], widths[i])
                                : fmt::format("{:<{}}", row[i], widths[i]);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string topic_of(const PoolInfo& pool, const std::vector<TopicInfo>& topics) {
  const auto found = std::find_if(topics.begin(), topics.end(),
                                  [&](const TopicInfo& topic) { return topic.pool_id == pool.id; });
  return found != topics.end() ? found->name : std::string();
}

Json describe(const IpcProcess& process) {
  Json out;
  out["pid"] = process.pid ? Json(*process.pid) : Json();
  out["node"] = process.node;
  return out;
}

Json describe(const PoolInfo& pool) {
  Json out;
  out["id"] = pool.id;
  out["pool_size"] = pool.pool_size;
  out["max_slots"] = pool.max_slots;
  out["slot_alignment"] = pool.slot_alignment;
  out["frame"] = pool.frame ? Json(pool.frame->describe()) : Json();
  out["used_slots"] = pool.used_slots();
  out["used_bytes"] = pool.used_bytes();
  out["reserved_bytes"] = pool.reserved_bytes();
  out["failed_allocations"] = pool.failed_allocations();
  out["parts"] = Json::array();
  for (const PoolPartInfo& part : pool.parts)
    out["parts"].push_back(describe_part(part));
  add_unobserved(pool.unobserved, out);
  return out;
}

Json describe(const TopicInfo& topic, const Rates& rates) {
  Json out;
  out["name"] = topic.name;
  out["type"] = topic.type.name;
  out["layout"] = id_text(topic.type.layout_hash);
  out["has_frame"] = topic.type.has_frame;
  out["inline_bytes"] = topic.type.inline_bytes;
  out["depth"] = topic.depth;
  out["overflow"] = to_string(topic.overflow);
  out["history"] = topic.history;
  out["max_endpoints"] = topic.max_endpoints;
  out["pool"] = topic.pool_id;
  out["publishers"] = topic.publishers();
  out["subscribers"] = topic.subscribers();
  out["endpoints"] = Json::array();
  for (const TopicEndpointInfo& endpoint : topic.endpoints)
    out["endpoints"].push_back(describe_endpoint(endpoint, rates.of(endpoint)));
  add_unobserved(topic.unobserved, out);
  return out;
}

Json describe(const std::vector<PoolInfo>& pools, const std::vector<TopicInfo>& topics,
              const Rates& rates) {
  Json out{{"pools", Json::array()}, {"topics", Json::array()}};
  for (const PoolInfo& pool : pools)
    out["pools"].push_back(describe(pool));
  for (const TopicInfo& topic : topics)
    out["topics"].push_back(describe(topic, rates));
  return out;
}

std::string dump_line(const Json& json) {
  return json_text(json_document(json));
}

std::string dump_lines(const Json& json) {
  return json_text(json_document(json), 2);
}

}  // namespace halyard::tool
