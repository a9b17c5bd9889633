// SPDX-License-Identifier: Apache-2.0
// halyard pool: the pools that processes share, who holds slots in them, and what ended processes
// left in the registry.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "halyard/ipc_info.h"
#include "output/ipc_text.h"
#include "report.h"

namespace halyard::tool {
namespace {

struct PoolCommand {
  std::uint32_t id = 0;
  bool is_json = false;
};

void print_columns(const std::vector<std::vector<std::string>>& rows, const std::string& columns,
                   const char* indent = "") {
  for (const std::string& line : table(rows, columns))
    print_line(indent + line);
}

int list(const PoolCommand& command) {
  const auto pools = list_pools();
  if (!pools) return report("pool ls", pools.error());
  if (command.is_json) {
    Json out = {{"pools", Json::array()}};
    for (const PoolInfo& pool : *pools)
      out["pools"].push_back(describe(pool));
    print_lines(dump_lines(out));
    return exit_ok;
  }
  if (pools->empty()) {
    print_line("no pools: no process has one open");
    return exit_ok;
  }
  const auto topics = list_topics().value_or(std::vector<TopicInfo>());
  const bool has_frames = std::any_of(pools->begin(), pools->end(),
                                      [](const PoolInfo& pool) { return pool.frame.has_value(); });
  std::vector<std::vector<std::string>> rows = {
      {"ID", "SLOTS", "USED", "SIZE", "RESERVED", "PROCESSES", "FAILED", "TOPIC"}};
  if (has_frames) rows.front().push_back("FRAMES");
  for (const PoolInfo& pool : *pools) {
    rows.push_back({std::to_string(pool.id),
                    fmt::format("{}/{}", pool.used_slots(), pool.max_slots),
                    bytes_text(double(pool.used_bytes())), bytes_text(double(pool.pool_size)),
                    bytes_text(double(pool.reserved_bytes())),
                    std::to_string(pool.parts.size() + pool.unobserved.size()),
                    std::to_string(pool.failed_allocations()), topic_of(pool, topics)});
    if (has_frames) rows.back().push_back(pool.frame ? pool.frame->describe() : "");
  }
  print_columns(rows, "rrrrrrrll");
  return exit_ok;
}

void print_parts(const PoolInfo& pool) {
  std::vector<std::vector<std::string>> rows = {
      {"PART", "PID", "SLOTS", "USED", "RESERVED", "PEAK", "FAILED", "HELD BY OWNER", "STATE"}};
  for (const PoolPartInfo& part : pool.parts) {
    rows.push_back(
        {std::to_string(part.index), pid_text(part.owner), std::to_string(part.used_slots),
         bytes_text(double(part.used_bytes)), bytes_text(double(part.reserved_bytes)),
         bytes_text(double(part.peak_used_bytes)), std::to_string(part.failed_allocations),
         fmt::format("{} ({})", count_text(part.held_slots, "slot"),
                     bytes_text(double(part.held_bytes))),
         part.waits_for_room ? "waits for room" : ""});
  }
  print_line("");
  print_columns(rows, "rrrrrrrrl", "  ");
}

void print_borrowers(const PoolInfo& pool) {
  std::vector<std::vector<std::string>> rows = {{"BORROWER PID", "PART", "SLOTS", "BYTES"}};
  for (const PoolPartInfo& part : pool.parts) {
    for (const PoolBorrower& borrower : part.borrowers) {
      rows.push_back({pid_text(borrower.process), std::to_string(part.index),
                      std::to_string(borrower.slots), bytes_text(double(borrower.bytes))});
    }
  }
  if (rows.size() == 1) return;
  print_line("");
  print_columns(rows, "rrrr", "  ");
}

int show(const PoolCommand& command) {
  const auto pool = pool_info(command.id);
  if (!pool) return report("pool stats", pool.error());
  if (command.is_json) {
    print_lines(dump_lines(describe(*pool)));
    return exit_ok;
  }
  const auto percent = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * double(part) / double(whole);
  };
  print_line(fmt::format("pool {}", pool->id));
  print_line(fmt::format("  slots      {} of {} used ({:.1f} %)", pool->used_slots(),
                         pool->max_slots, percent(pool->used_slots(), pool->max_slots)));
  print_line(fmt::format(
      "  memory     {} of {} used ({:.1f} %), {} reserved", bytes_text(double(pool->used_bytes())),
      bytes_text(double(pool->pool_size)), percent(pool->used_bytes(), pool->pool_size),
      bytes_text(double(pool->reserved_bytes()))));
  print_line(fmt::format("  alignment  {} of each slot", bytes_text(pool->slot_alignment)));
  if (pool->frame) print_line(fmt::format("  frames     {}", pool->frame->describe()));
  print_line(fmt::format("  processes  {}", pool->parts.size() + pool->unobserved.size()));
  print_parts(*pool);
  print_borrowers(*pool);
  for (const UnobservedProcess& process : pool->unobserved)
    print_line(fmt::format("  pid {} was not observed: {}", pid_text(process.process),
                           process.error.message()));
  return exit_ok;
}

int collect(const PoolCommand& command) {
  const auto removed = collect_garbage();
  if (!removed) return report("pool gc", removed.error());
  if (command.is_json) {
    const Json out = {{"sockets", removed->sockets},
                      {"members", removed->members},
                      {"files", removed->files},
                      {"entries", removed->entries},
                      {"skipped", removed->skipped}};
    print_lines(dump_lines(out));
    return exit_ok;
  }
  if (removed->sockets + removed->members + removed->files + removed->entries == 0) {
    print_line("nothing to remove");
  } else {
    print_line(fmt::format(
        "removed: {} and {} of ended processes, {}, {}", count_text(removed->sockets, "socket"),
        count_text(removed->members, "member"), count_text(removed->files, "unfinished file"),
        count_text(removed->entries, "pool or topic without processes")));
  }
  if (removed->skipped != 0)
    print_line(fmt::format("left alone: {} that a process is entering", removed->skipped));
  return exit_ok;
}

constexpr const char* pool_examples =
    "A process whose id the kernel does not tell (another PID namespace) is \"unknown\".\n"
    "\n"
    "Examples:\n"
    "  halyard pool ls\n"
    "  halyard pool stats 7 --json\n"
    "  halyard pool gc";

}  // namespace

CommandSpec pool_command() {
  auto options = std::make_shared<PoolCommand>();
  CommandSpec pool{"pool", "Pools that processes share, and who holds what", pool_examples};
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const PoolCommand&)) -> CommandSpec& {
    CommandSpec& spec = pool.commands.emplace_back(CommandSpec{name, text});
    spec.option("--json", &options->is_json, "JSON on standard output");
    spec.action = [options, run] { return run(*options); };
    return spec;
  };
  add("pool ls", "All pools that a process has open", list);
  add("pool stats", "One pool: its processes, what they use, and who borrows from them", show)
      .option("id", &options->id, "The pool's number")
      .required();
  add("pool gc", "Remove what ended processes left in the registry of pools and topics", collect);
  return pool;
}

}  // namespace halyard::tool
