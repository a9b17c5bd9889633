// SPDX-License-Identifier: Apache-2.0
// The log sink and its level.
#include "halyard/log.h"

#include <array>
#include <atomic>
#include <utility>

#include "base/env.h"
#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

constexpr int from_environment = -1;
std::atomic<int> level_in_force{from_environment};

std::atomic<bool> has_sink{false};
thread_local bool is_in_sink = false;

// Spans are observed only if a sink is set and the level is trace.
void watch_spans() noexcept {
  const bool listens = has_sink.load(std::memory_order_relaxed) && log_level() == LogLevel::trace;
  if (listens) {
    trace::detail::observers.fetch_or(trace::detail::log_observer, std::memory_order_relaxed);
  } else {
    trace::detail::observers.fetch_and(static_cast<std::uint8_t>(~trace::detail::log_observer),
                                       std::memory_order_relaxed);
  }
}

void report_unknown_level() {
  static std::atomic<bool> is_told{false};
  const auto& unknown = environment().unknown_log;
  if (!unknown || level_in_force.load(std::memory_order_relaxed) != from_environment ||
      is_told.exchange(true))
    return;
  log(LogLevel::error, "base",
      "HALYARD_LOG must be off, error, warn, info, debug or trace: " + printable(*unknown) +
          ", warn is used");
}

struct Sink {
  RankedForkMutex<LockRank::log_sink> mutex;
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
  // If a thread of the parent process held the lock at fork(), nobody uses the old sink any more.
  LogSink old;
  const bool listens = replacement != nullptr;
  {
    const RankedForkLock lock(sink().mutex);
    old = std::exchange(sink().call, std::move(replacement));
    has_sink.store(listens, std::memory_order_relaxed);
  }
  watch_spans();
  if (listens) report_unknown_level();
  return old;
}

void set_log_level(LogLevel level) noexcept {
  level_in_force.store(static_cast<int>(level), std::memory_order_relaxed);
  watch_spans();
}

LogLevel log_level() noexcept {
  const int level = level_in_force.load(std::memory_order_relaxed);
  if (level == from_environment) return environment().log.value_or(LogLevel::warn);
  return static_cast<LogLevel>(level);
}

void log(LogLevel level, std::string_view target, std::string_view text) {
  if (level == LogLevel::off || level > log_level() || is_in_sink) return;
  const RankedForkLock lock(sink().mutex);
  if (!lock || !sink().call) return;
  struct Inside {
    Inside() { is_in_sink = true; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { is_in_sink = false; }
  } inside;
  sink().call(level, target, text);
}

}  // namespace halyard
