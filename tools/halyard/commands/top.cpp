// SPDX-License-Identifier: Apache-2.0
// halyard top: shows pools, topics and who holds slots, and redraws each second.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "commands/commands.h"
#include "halyard/ipc_info.h"
#include "interrupt.h"
#include "options/values.h"
#include "output/ipc_text.h"
#include "report.h"
#include "terminal.h"

namespace halyard::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Row = std::vector<std::string>;

struct TopCommand {
  bool is_once = false;
  bool is_json = false;
  double interval_s = 1;
};

struct Sample {
  std::vector<PoolInfo> pools;
  std::vector<TopicInfo> topics;
};

Result<Sample> take_sample() {
  Sample sample;
  HALYARD_TRY(sample.topics, list_topics());
  HALYARD_TRY(sample.pools, list_pools());
  return sample;
}

/// For example "[====      ]".
std::string bar(double share, int width) {
  const int filled =
      std::clamp(static_cast<int>(std::lround(share * width)), share > 0 ? 1 : 0, width);
  return fmt::format("[{:<{}}]", std::string(static_cast<std::size_t>(filled), '='), width);
}

void add_lines(const std::vector<Row>& rows, const std::string& columns,
               std::vector<ScreenLine>& lines) {
  bool is_first = true;
  for (const std::string& line : table(rows, columns))
    lines.push_back({"  " + line, std::exchange(is_first, false)});
}

void add_pools(const Sample& sample, std::vector<ScreenLine>& lines) {
  if (sample.pools.empty()) {
    lines.push_back({"No pools: no process has one open."});
    return;
  }
  std::vector<Row> rows = {
      {"POOL", "MEMORY", "USED", "SIZE", "RESERVED", "SLOTS", "PROCS", "FAILED", "TOPIC"}};
  for (const PoolInfo& pool : sample.pools) {
    const double share =
        pool.pool_size == 0 ? 0 : double(pool.used_bytes()) / double(pool.pool_size);
    rows.push_back({std::to_string(pool.id), bar(share, 10), bytes_text(double(pool.used_bytes())),
                    bytes_text(double(pool.pool_size)), bytes_text(double(pool.reserved_bytes())),
                    fmt::format("{}/{}", pool.used_slots(), pool.max_slots),
                    std::to_string(pool.parts.size() + pool.unobserved.size()),
                    std::to_string(pool.failed_allocations()), topic_of(pool, sample.topics)});
  }
  add_lines(rows, "rlrrrrrrl", lines);
}

Row endpoint_row(const TopicEndpointInfo& endpoint, const EndpointRate* rate) {
  const bool sends = is_active_publisher(endpoint);
  const bool reads = endpoint.subscribes();
  std::uint64_t waiting = 0;
  for (const TopicReader& reader : endpoint.readers)
    waiting += reader.waiting;
  const auto shown = [](bool is_shown, const auto& make) {
    return is_shown ? std::string(make()) : std::string("-");
  };
  std::string state = endpoint.waits_for_room ? "waits for room" : "";
  if (endpoint.refused != 0) state += fmt::format(" {} refused", endpoint.refused);
  return {
      pid_text(endpoint.process),
      role_text(endpoint.role),
      shown(sends && rate, [&] { return rate_text(rate->sent_per_s()); }),
      shown(sends && rate, [&] { return bytes_text(rate->bytes_per_s()) + "/s"; }),
      shown(sends, [&] { return std::to_string(endpoint.sent); }),
      shown(reads && rate, [&] { return rate_text(rate->received_per_s()); }),
      shown(reads && rate, [&] { return rate_text(rate->lost_per_s()); }),
      shown(reads, [&] { return std::to_string(endpoint.lost()); }),
      shown(reads, [&] { return std::to_string(waiting); }),
      state,
  };
}

void add_topics(const Sample& sample, const Rates& rates, std::vector<ScreenLine>& lines) {
  if (sample.topics.empty()) {
    lines.push_back({"No topics: no process has joined one."});
    return;
  }
  // All topics are in one table, so that their columns are aligned.
  std::vector<Row> rows = {
      {"PID", "ROLE", "SENT", "BYTES", "IN ALL", "RECEIVED", "LOST", "IN ALL", "WAITING", ""}};
  for (const TopicInfo& topic : sample.topics)
    for (const TopicEndpointInfo& endpoint : topic.endpoints)
      rows.push_back(endpoint_row(endpoint, rates.of(endpoint)));
  const auto texts = table(rows, "rlrrrrrrrl");
  lines.push_back({"  " + texts[0], true});
  std::size_t next = 1;
  for (const TopicInfo& topic : sample.topics) {
    lines.push_back(
        {fmt::format("{}: {}, depth {}, {}, {}, {}", topic.name, topic.type.name, topic.depth,
                     to_string(topic.overflow), count_text(topic.publishers(), "publisher"),
                     count_text(topic.subscribers(), "subscriber"))});
    for (std::size_t i = 0; i < topic.endpoints.size(); ++i)
      lines.push_back({"  " + texts[next++]});
  }
}

void add_holders(const Sample& sample, std::vector<ScreenLine>& lines) {
  std::vector<Row> rows = {{"HOLDER", "SLOTS", "BYTES", "OF POOL", "PART", "OWNER"}};
  for (const PoolInfo& pool : sample.pools) {
    for (const PoolPartInfo& part : pool.parts) {
      const auto add = [&](const IpcProcess& process, std::uint32_t slots, std::uint64_t bytes) {
        if (slots == 0) return;
        rows.push_back({pid_text(process), std::to_string(slots), bytes_text(double(bytes)),
                        std::to_string(pool.id), std::to_string(part.index), pid_text(part.owner)});
      };
      add(part.owner, part.held_slots, part.held_bytes);
      for (const PoolBorrower& borrower : part.borrowers)
        add(borrower.process, borrower.slots, borrower.bytes);
    }
  }
  if (rows.size() == 1) {
    if (!sample.pools.empty()) lines.push_back({"Nobody holds a slot."});
    return;
  }
  add_lines(rows, "rrrrrr", lines);
}

void add_unobserved(const Sample& sample, std::vector<ScreenLine>& lines) {
  const auto add = [&](const std::string& what, const std::vector<UnobservedProcess>& processes) {
    for (const UnobservedProcess& process : processes)
      lines.push_back({fmt::format("{}: pid {} was not observed: {}", what,
                                   pid_text(process.process), process.error.message())});
  };
  for (const PoolInfo& pool : sample.pools)
    add(fmt::format("pool {}", pool.id), pool.unobserved);
  for (const TopicInfo& topic : sample.topics)
    add(topic.name, topic.unobserved);
}

std::size_t count_processes(const Sample& sample) {
  std::set<std::string> nodes;
  for (const PoolInfo& pool : sample.pools)
    for (const PoolPartInfo& part : pool.parts)
      nodes.insert(part.owner.node);
  for (const TopicInfo& topic : sample.topics)
    for (const TopicEndpointInfo& endpoint : topic.endpoints)
      nodes.insert(endpoint.process.node);
  return nodes.size();
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  ::localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

std::vector<ScreenLine> screen_of(const Sample& sample, const Rates& rates) {
  const std::size_t processes = count_processes(sample);
  std::vector<ScreenLine> lines;
  lines.push_back({fmt::format("halyard top  {}  {}, {}, {} process{}", time_of_day(),
                               count_text(sample.pools.size(), "pool"),
                               count_text(sample.topics.size(), "topic"), processes,
                               processes == 1 ? "" : "es"),
                   true});
  lines.push_back({""});
  add_pools(sample, lines);
  lines.push_back({""});
  add_topics(sample, rates, lines);
  lines.push_back({""});
  add_holders(sample, lines);
  add_unobserved(sample, lines);
  return lines;
}

/// Waits until `when` and reads keys. Returns false if the program must end.
bool wait_for_next(Terminal* terminal, Clock::time_point when) {
  constexpr std::chrono::milliseconds slice(50);
  while (!InterruptGuard::is_requested()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now());
    if (left.count() <= 0) return true;
    if (terminal == nullptr) {
      std::this_thread::sleep_for(std::min(left, slice));
    } else if (const auto key = terminal->key(std::min(left, slice)); key == 'q' || key == 'Q') {
      return false;
    }
  }
  return false;
}

void draw(const std::vector<ScreenLine>& lines) {
  const Terminal::Size size = Terminal::size();
  std::vector<ScreenLine> shown = lines;
  shown[0].text += "  (q quits)";
  if (shown.size() > size.rows) {
    const std::size_t more = shown.size() - size.rows + 1;
    shown.resize(size.rows);
    shown.back() = {fmt::format("... {} below", count_text(more, "line"))};
  }
  draw_screen(shown, size.columns, size.rows);
}

void show(const TopCommand& command, bool has_terminal, const Sample& sample, const Rates& rates) {
  if (command.is_json) {
    const Json json = describe(sample.pools, sample.topics, rates);
    command.is_once ? print_lines(dump_lines(json)) : print_line(dump_line(json));
    return;
  }
  const auto lines = screen_of(sample, rates);
  if (has_terminal) return draw(lines);
  for (const ScreenLine& line : lines)
    print_line(line.text);
}

int watch(const TopCommand& command) {
  const bool is_drawn = !command.is_once && !command.is_json;
  if (is_drawn && !Terminal::is_there()) {
    return report_usage("top", "standard output is not a terminal: give --once or --json");
  }
  auto before = take_sample();
  if (!before) return report("top", before.error());
  const InterruptGuard guard;
  std::unique_ptr<Terminal> terminal;
  if (is_drawn) terminal = std::make_unique<Terminal>();
  if (is_drawn) show(command, true, *before, {});
  const auto interval = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(command.interval_s));
  for (auto next = Clock::now() + interval;; next = std::max(next + interval, Clock::now())) {
    if (!wait_for_next(terminal.get(), next)) break;
    auto now = take_sample();
    if (!now) {
      terminal.reset();
      return report("top", now.error());
    }
    show(command, is_drawn, *now, Rates(before->topics, now->topics));
    if (!finish_stdout() || command.is_once) return exit_ok;
    before = std::move(now);
  }
  return InterruptGuard::is_requested() ? exit_interrupted : exit_ok;
}

}  // namespace

CommandSpec top_command() {
  auto command = std::make_shared<TopCommand>();
  CommandSpec spec{
      "top", "Pools and topics, live: use, rates, losses, holders",
      "q or Ctrl-C ends it. It observes and joins nothing. Rates are those of the last interval.\n"
      "--once waits one interval and prints once; --json prints a line for each interval.\n"
      "\n"
      "Examples:\n"
      "  halyard top\n"
      "  halyard top --once --json"};
  spec.option("--once", &command->is_once, "Print once, without a terminal");
  spec.option("--json", &command->is_json, "JSON on standard output");
  spec.parsed("--interval", command->interval_s, parse_seconds, "seconds, 0.01..1e6",
              "Seconds between two looks; default: 1");
  spec.action = [command] { return watch(*command); };
  return spec;
}

}  // namespace halyard::tool
