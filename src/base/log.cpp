// SPDX-License-Identifier: Apache-2.0
// The log sink and its level.
#include "halyard/log.h"

#include <array>
#include <atomic>
#include <utility>

#include "base/env.h"
#include "base/fork.h"
#include "halyard/threads.h"

namespace halyard {
namespace {

constexpr int from_environment = -1;
std::atomic<int> level_in_force{from_environment};

struct Sink {
  ForkMutex mutex;
  LogSink call;
};

// Never destroyed: threads may log while the process ends.
Sink& sink() {
  static std::atomic<Sink*> once{nullptr};
  return made_once(once, [] { return new Sink; });
}

}  // namespace

std::string_view to_string(LogLevel level) noexcept {
  constexpr std::array<std::string_view, 6> names = {"off",  "error", "warn",
                                                     "info", "debug", "trace"};
  const auto index = static_cast<std::size_t>(level);
  return index < names.size() ? names[index] : std::string_view("unknown");
}

LogSink set_log_sink(LogSink replacement) {
  // Where a thread of the parent was writing, its sink is used by nobody any more.
  const ForkLock lock(sink().mutex);
  return std::exchange(sink().call, std::move(replacement));
}

void set_log_level(LogLevel level) noexcept {
  level_in_force.store(static_cast<int>(level), std::memory_order_relaxed);
}

LogLevel log_level() noexcept {
  const int level = level_in_force.load(std::memory_order_relaxed);
  if (level == from_environment) return environment().log.value_or(LogLevel::warn);
  return static_cast<LogLevel>(level);
}

void log(LogLevel level, std::string_view target, std::string_view text) {
  if (level == LogLevel::off || level > log_level()) return;
  const ForkLock lock(sink().mutex);
  if (lock && sink().call) sink().call(level, target, text);
}

}  // namespace halyard
