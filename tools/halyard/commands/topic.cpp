// SPDX-License-Identifier: Apache-2.0
// halyard topic: the topics of this machine, their messages and their rates.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands/commands.h"
#include "commands/topic_echo.h"
#include "halyard/ipc_info.h"
#include "interrupt.h"
#include "options/values.h"
#include "output/ipc_text.h"
#include "report.h"

namespace halyard::tool {
namespace {

using Clock = std::chrono::steady_clock;

int list(const WatchOptions& options) {
  const auto topics = list_topics();
  if (!topics) return report("topic ls", topics.error());
  if (options.is_json) {
    Json out = {{"topics", Json::array()}};
    for (const TopicInfo& topic : *topics)
      out["topics"].push_back(describe(topic, {}));
    print_lines(dump_lines(out));
    return exit_ok;
  }
  if (topics->empty()) {
    print_line("no topics: no process has joined one");
    return exit_ok;
  }
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "TYPE", "DEPTH", "OVERFLOW", "PUBLISHERS", "SUBSCRIBERS", "SENT"}};
  for (const TopicInfo& topic : *topics) {
    std::uint64_t sent = 0;
    for (const TopicEndpointInfo& endpoint : topic.endpoints)
      sent += endpoint.sent;
    rows.push_back({topic.name, topic.type.name, std::to_string(topic.depth),
                    std::string(to_string(topic.overflow)), std::to_string(topic.publishers()),
                    std::to_string(topic.subscribers()), std::to_string(sent)});
  }
  for (const std::string& line : table(rows, "llrlrrr"))
    print_line(line);
  return exit_ok;
}

std::string state_text(const TopicEndpointInfo& endpoint) {
  std::string text;
  if (endpoint.waits_for_message) text = "waits for a message";
  if (endpoint.waits_for_room) text += text.empty() ? "waits for room" : ", waits for room";
  return text;
}

void print_endpoints(const TopicInfo& topic) {
  std::vector<std::vector<std::string>> rows = {{"PID", "ENDPOINT", "ROLE", "SENT", "BYTES",
                                                 "REFUSED", "COPIED", "RECEIVED", "LOST", "WAITING",
                                                 "STATE"}};
  for (const TopicEndpointInfo& endpoint : topic.endpoints) {
    std::uint64_t waiting = 0;
    for (const TopicReader& reader : endpoint.readers)
      waiting += reader.waiting;
    const auto of_publisher = [&](const std::string& text) {
      return endpoint.publishes() ? text : std::string("-");
    };
    const auto of_subscriber = [&](std::uint64_t count) {
      return endpoint.subscribes() ? std::to_string(count) : std::string("-");
    };
    rows.push_back({pid_text(endpoint.process), id_text(endpoint.id), role_text(endpoint.role),
                    of_publisher(std::to_string(endpoint.sent)),
                    of_publisher(bytes_text(double(endpoint.sent_bytes))),
                    of_publisher(std::to_string(endpoint.refused)),
                    of_publisher(std::to_string(endpoint.copied)),
                    of_subscriber(endpoint.received()), of_subscriber(endpoint.lost()),
                    of_subscriber(waiting), state_text(endpoint)});
  }
  print_line("");
  for (const std::string& line : table(rows, "rllrrrrrrrl"))
    print_line("  " + line);
}

int show(const WatchOptions& options) {
  const auto topic = topic_info(options.topic);
  if (!topic) return report("topic info", topic.error());
  if (options.is_json) {
    print_lines(dump_lines(describe(*topic, {})));
    return exit_ok;
  }
  const std::string beside = bytes_text(topic->type.inline_bytes);
  print_line(topic->name);
  print_line(fmt::format("  type           {}", topic->type.name));
  print_line(fmt::format("  message        {}",
                         topic->type.has_frame ? "a frame, and " + beside + " beside it" : beside));
  print_line(
      fmt::format("  depth          {} of each publisher", count_text(topic->depth, "message")));
  print_line(fmt::format("  overflow       {}", to_string(topic->overflow)));
  print_line(fmt::format("  history        {} for a late subscriber",
                         count_text(topic->history, "message")));
  print_line(fmt::format("  max_endpoints  {0} publishers, {0} subscribers", topic->max_endpoints));
  print_line(fmt::format("  pool           {}", topic->pool_id));
  print_endpoints(*topic);
  for (const UnobservedProcess& process : topic->unobserved)
    print_line(fmt::format("  pid {} was not observed: {}", pid_text(process.process),
                           process.error.message()));
  return exit_ok;
}

/// Sleeps. Returns false if interrupted.
bool pause_until(Clock::time_point when) {
  while (!InterruptGuard::is_requested()) {
    const auto left = when - Clock::now();
    if (left <= Clock::duration::zero()) return true;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, std::chrono::milliseconds(50)));
  }
  return false;
}

std::string hz_text(const EndpointRate& rate) {
  return fmt::format("{:.2f} Hz, {} in {:.2f} s", rate.sent_per_s(),
                     count_text(rate.sent, "message"), rate.seconds);
}

std::string bw_text(const EndpointRate& rate) {
  const double each = rate.sent == 0 ? 0 : double(rate.sent_bytes) / double(rate.sent);
  return fmt::format("{}/s, {} a message, {:.2f} Hz", bytes_text(rate.bytes_per_s()),
                     bytes_text(each), rate.sent_per_s());
}

void print_window_json(const TopicInfo& topic, const Rates& rates) {
  Json out = {{"topic", topic.name}, {"publishers", Json::array()}};
  for (const TopicEndpointInfo& endpoint : topic.endpoints) {
    const EndpointRate* const rate = rates.of(endpoint);
    if (rate == nullptr || !is_active_publisher(endpoint)) continue;
    Json entry = describe(endpoint.process);
    entry["endpoint"] = id_text(endpoint.id);
    entry["seconds"] = rate->seconds;
    entry["messages"] = rate->sent;
    entry["bytes"] = rate->sent_bytes;
    entry["hz"] = rate->sent_per_s();
    entry["bytes_per_s"] = rate->bytes_per_s();
    out["publishers"].push_back(std::move(entry));
  }
  print_line(dump_line(out));
}

using RateText = std::string (*)(const EndpointRate&);

void print_window(const TopicInfo& topic, const Rates& rates, RateText text) {
  bool is_empty = true;
  for (const TopicEndpointInfo& endpoint : topic.endpoints) {
    const EndpointRate* const rate = rates.of(endpoint);
    if (rate == nullptr || !is_active_publisher(endpoint)) continue;
    is_empty = false;
    print_line(fmt::format("pid {}: {}", pid_text(endpoint.process), text(*rate)));
  }
  if (is_empty) print_line("no publisher");
}

/// Prints the rates of one window after the other.
int watch(const WatchOptions& options, const std::string& command, RateText text) {
  using Seconds = std::chrono::duration<double>;
  const InterruptGuard guard;
  auto before = topic_info(options.topic);
  if (!before) return report(command, before.error());
  const auto begin = Clock::now();
  double window_s = options.window_s;
  if (options.duration_s) window_s = std::min(window_s, *options.duration_s);
  for (std::uint64_t shown = 1;; ++shown) {
    const auto next = begin + std::chrono::duration_cast<Clock::duration>(
                                  Seconds(window_s * static_cast<double>(shown)));
    if (!pause_until(next)) return exit_interrupted;
    auto now = topic_info(options.topic);
    if (!now) return report(command, now.error());
    const Rates rates({*before}, {*now});
    options.is_json ? print_window_json(*now, rates) : print_window(*now, rates, text);
    if (!finish_stdout()) return exit_ok;
    const double left_s = options.duration_s.value_or(1e9) - Seconds(next - begin).count();
    if ((options.count && shown >= *options.count) || left_s < window_s / 2) return exit_ok;
    before = std::move(now);
  }
}

constexpr const char* seconds_rule = "seconds, 0.01..1e6";

void add_limits(CommandSpec& spec, WatchOptions& options, const char* count_help) {
  spec.option("-n,--count", &options.count, count_help).positive();
  spec.parsed("--duration", options.duration_s, parse_seconds, seconds_rule,
              "Seconds after which it ends");
}

void add_windows(CommandSpec& spec, WatchOptions& options) {
  add_limits(spec, options, "Windows after which it ends");
  spec.parsed("--window", options.window_s, parse_seconds, seconds_rule,
              "Seconds that a rate is taken over; default: 1");
}

constexpr const char* topic_examples =
    "echo joins the topic as a subscriber: where overflow is block or drop_newest, publishers "
    "wait\n"
    "for it too. All others observe: they join nothing. Ctrl-C ends echo, hz and bw.\n"
    "With --json echo, hz and bw print one JSON object a line.\n"
    "\n"
    "Examples:\n"
    "  halyard topic ls\n"
    "  halyard topic echo camera/left --count 3\n"
    "  halyard topic hz camera/left --duration 5 --json";

}  // namespace

CommandSpec topic_command() {
  auto options = std::make_shared<WatchOptions>();
  CommandSpec topic{"topic", "Topics, what they carry, and how fast", topic_examples};
  using Run = int (*)(const WatchOptions&);
  const auto add = [&](const char* name, const char* text, Run run) -> CommandSpec& {
    CommandSpec& spec = topic.commands.emplace_back(CommandSpec{name, text});
    spec.option("--json", &options->is_json, "JSON on standard output");
    spec.action = [options, run] { return run(*options); };
    return spec;
  };
  const auto add_named = [&](const char* name, const char* text, Run run) -> CommandSpec& {
    CommandSpec& spec = add(name, text, run);
    spec.option("name", &options->topic, "The topic's name").required();
    return spec;
  };
  add("topic ls", "All topics that a process has joined", list);
  add_named("topic info", "One topic: its type, its limits and its endpoints", show);
  add_limits(add_named("topic echo", "Join a topic and print what it carries", echo), *options,
             "Messages after which it ends");
  const auto hz = [](const WatchOptions& chosen) { return watch(chosen, "topic hz", hz_text); };
  const auto bw = [](const WatchOptions& chosen) { return watch(chosen, "topic bw", bw_text); };
  add_windows(add_named("topic hz", "Messages in a second, of each publisher", hz), *options);
  add_windows(add_named("topic bw", "Bytes in a second, of each publisher", bw), *options);
  return topic;
}

}  // namespace halyard::tool
