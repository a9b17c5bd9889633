// SPDX-License-Identifier: Apache-2.0
// Records spans per thread and writes the Chrome trace file. Each thread appends to its own log
// under that log's mutex, which only start() and stop() take too.
#include "halyard/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/system/fork.h"
#include "base/system/per_thread.h"
#include "base/system/ranked_mutex.h"
#include "base/text/cut_text.h"
#include "base/text/format_error.h"
#include "halyard/log.h"
#include "halyard/output_file.h"

namespace halyard::trace {

namespace detail {
std::atomic<std::uint8_t> observers{0};
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t still_open = -1;
constexpr std::int64_t is_counter = -2;
constexpr std::size_t max_events_per_thread = std::size_t{1} << 21;
constexpr std::size_t max_args_per_event = 8;
constexpr std::size_t text_bytes = 48;

struct Arg {
  std::uint32_t event;
  const char* key;
  enum class Kind : std::uint8_t { integer, real, text } kind;
  std::int64_t integer;
  double real;
  std::array<char, text_bytes> text;
};

struct Event {
  const char* name;
  std::int64_t start_ns;
  std::int64_t duration_ns;  // or one of the marks above
  double value = 0;          // of a counter
  std::uint8_t arg_count = 0;
};

constexpr char in_fork[] = "trace: was locked by another thread when this process was forked";

struct ThreadLog {
  RankedForkMutex<LockRank::trace_log> mutex;
  std::string name;
  int id = 0;
  std::uint32_t session = 0;  // of the events below
  std::uint32_t written = 0;  // the last session that stop() wrote; events that come late are lost
  std::size_t dropped = 0;
  std::vector<Event> events;
  std::vector<Arg> args;  // in the order added; those of one event need not be adjacent
};

struct Recorder {
  RankedForkMutex<LockRank::trace_recorder> mutex;
  std::vector<std::shared_ptr<ThreadLog>> logs;
  bool is_running = false;         // also while start() opens the file
  std::optional<OutputFile> file;  // of the running session
  std::string path;
  Clock::time_point start;
  std::atomic<std::uint32_t> session{0};
  int next_thread_id = 1;
};

// Never destroyed: spans may end while the process ends.
Recorder& recorder() {
  static std::atomic<Recorder*> once{nullptr};
  return made_once(once, [] { return new Recorder; });
}

// The log of one thread. The recorder keeps it until it is written.
struct OwnLog {
  OwnLog() : log(std::make_shared<ThreadLog>()) {
    Recorder& r = recorder();
    const RankedForkLock lock(r.mutex);
    if (!lock) return;  // this thread's events appear in no trace
    r.logs.push_back(log);
    log->id = r.next_thread_id++;
  }
  std::shared_ptr<ThreadLog> log;
};

ThreadLog& this_thread() {
  return *PerThread<OwnLog>::get().log;
}

// Runs `with`, which records an event. If memory is short, the event is left out.
template <class Record>
void record(Record&& with) noexcept {
  try {
    with(this_thread());
  } catch (const std::bad_alloc&) {
  }
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

// Appends an event to the running session. The caller holds the log's mutex.
bool append(ThreadLog& log, std::uint32_t session, const Event& event) {
  if (log.written == session) return false;  // stop() came between is_active() and here
  if (log.session != session) {
    log.session = session;
    log.events.clear();
    log.args.clear();
    log.dropped = 0;
  }
  ++log.dropped;  // undone below if the event is added
  if (log.events.size() >= max_events_per_thread) return false;
  log.events.push_back(event);
  --log.dropped;
  return true;
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_arg(std::string& out, const Arg& arg) {
  append_json_text(out, arg.key);
  out += ':';
  if (arg.kind == Arg::Kind::integer) {
    out += fmt::format("{}", arg.integer);
  } else if (arg.kind == Arg::Kind::text) {
    append_json_text(out, arg.text.data());
  } else if (std::isfinite(arg.real)) {
    out += fmt::format("{:.9g}", arg.real);
  } else {
    append_json_text(out, fmt::format("{}", arg.real));
  }
}

// Writes "name": ..., "ph": ... up to the arguments, which it leaves out.
void append_event(std::string& out, const ThreadLog& log, const Event& event,
                  std::int64_t origin_ns) {
  out += "{\"name\":";
  append_json_text(out, event.name);
  const double start_us = static_cast<double>(event.start_ns - origin_ns) / 1e3;
  out += fmt::format(",\"pid\":1,\"tid\":{},\"ts\":{:.3f}", log.id, start_us);
  if (event.duration_ns == is_counter) {
    out += fmt::format(",\"ph\":\"C\",\"args\":{{\"value\":{:.9g}}}}}",
                       std::isfinite(event.value) ? event.value : 0.0);
    return;
  }
  out += fmt::format(",\"ph\":\"X\",\"dur\":{:.3f},\"args\":{{",
                     static_cast<double>(event.duration_ns) / 1e3);
}

void append_thread(std::string& out, ThreadLog& log, std::int64_t origin_ns) {
  out += fmt::format(
      "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{},\"args\":{{\"name\":", log.id);
  append_json_text(out, log.name.empty() ? fmt::format("thread {}", log.id) : log.name);
  out += "}},\n";
  std::stable_sort(log.args.begin(), log.args.end(),
                   [](const Arg& a, const Arg& b) { return a.event < b.event; });
  std::size_t next_arg = 0;
  for (std::size_t i = 0; i < log.events.size(); ++i) {
    const Event& event = log.events[i];
    const std::size_t first_arg = next_arg;
    while (next_arg < log.args.size() && log.args[next_arg].event == i)
      ++next_arg;
    if (event.duration_ns == still_open) continue;
    append_event(out, log, event, origin_ns);
    if (event.duration_ns != is_counter) {
      for (std::size_t a = first_arg; a < next_arg; ++a) {
        if (a != first_arg) out += ',';
        append_arg(out, log.args[a]);
      }
      out += "}}";
    }
    out += ",\n";
  }
}

// Returns the whole file as text. Takes each log's mutex and empties the log.
std::string collect(Recorder& r, std::uint32_t session) {
  const auto origin_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(r.start.time_since_epoch()).count();
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  std::size_t dropped = 0;
  for (const auto& log : r.logs) {
    const RankedForkLock lock(log->mutex);
    if (!lock) continue;
    log->written = session;
    if (log->session != session) continue;
    append_thread(out, *log, origin_ns);
    dropped += log->dropped;
    log->session = 0;
    log->events = {};
    log->args = {};
  }
  // Only this list holds the logs of threads that have ended.
  std::erase_if(r.logs, [](const auto& log) { return log.use_count() == 1; });
  out += fmt::format(
      "{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{{\"name\":\"halyard\"}}}}\n],"
      "\"otherData\":{{\"dropped_events\":{}}}}}\n",
      dropped);
  return out;
}

// Removes the part file of a session that is still running when the process ends.
struct SessionEnd {
  SessionEnd() = default;
  SessionEnd(const SessionEnd&) = delete;
  SessionEnd& operator=(const SessionEnd&) = delete;
  ~SessionEnd() {
    Recorder& r = recorder();
    const RankedForkLock lock(r.mutex);
    if (lock) r.file.reset();
  }
};

}  // namespace

Status start(const std::string& path) {
  Recorder& r = recorder();
  {
    const RankedForkLock lock(r.mutex);
    if (!lock) return fail(Errc::busy, in_fork);
    if (r.is_running) return fail(Errc::busy, "trace: a session is running already", "{}", r.path);
    r.is_running = true;
    r.path = path;
  }
  // The lock is not held here, because spans of new threads take it, and opening a pipe waits for
  // its reader.
  auto file = OutputFile::create(path);
  const RankedForkLock lock(r.mutex);
  if (!lock) return fail(Errc::busy, in_fork);
  if (!file) {
    r.is_running = false;
    return std::move(file).error();
  }
  static const SessionEnd end;
  r.file = *std::move(file);
  r.start = Clock::now();
  r.session.fetch_add(1, std::memory_order_relaxed);
  detail::observers.fetch_or(detail::session_observer, std::memory_order_release);
  return {};
}

Status stop() {
  Recorder& r = recorder();
  const RankedForkLock lock(r.mutex);
  if (!lock) return fail(Errc::busy, in_fork);
  if (!r.file) return {};
  detail::observers.fetch_and(static_cast<std::uint8_t>(~detail::session_observer),
                              std::memory_order_release);
  const std::string text = collect(r, r.session.load(std::memory_order_relaxed));
  OutputFile file = *std::exchange(r.file, std::nullopt);
  r.is_running = false;
  HALYARD_RETURN_IF_ERROR(file.write(text));
  return file.commit();
}

void set_thread_name(std::string_view name) {
  ThreadLog& log = this_thread();
  const RankedForkLock lock(log.mutex);
  if (!lock) return;
  log.name = name;
}

void counter(const char* name, double value) noexcept {
  if (!is_active()) return;
  record([&](ThreadLog& log) {
    const RankedForkLock lock(log.mutex);
    if (!lock) return;
    append(log, recorder().session.load(std::memory_order_relaxed),
           {name, now_ns(), is_counter, value, 0});
  });
}

namespace {

// Logs a span's duration: for "codec.decode" a message of layer "codec".
void log_span(const char* name, std::int64_t duration_ns) noexcept {
  try {
    const std::string_view whole = name;
    log(LogLevel::trace, whole.substr(0, whole.find('.')),
        fmt::format("{} {:.3f} ms", whole, static_cast<double>(duration_ns) / 1e6));
  } catch (...) {
    // A lost message is not a reason to end the program.
  }
}

}  // namespace

void Span::begin(const char* name) noexcept {
  // No call of log_level() here: it reads the environment at its first call, and memory may be
  // short.
  if ((detail::observers.load(std::memory_order_relaxed) & detail::log_observer) != 0) {
    start_ns_ = now_ns();
    name_ = name;
  }
  if (!is_active()) return;
  record([&](ThreadLog& log) {
    const RankedForkLock lock(log.mutex);
    if (!lock) return;
    const std::uint32_t session = recorder().session.load(std::memory_order_relaxed);
    if (!append(log, session, {name, now_ns(), still_open, 0, 0})) return;
    slot_ = static_cast<std::uint32_t>(log.events.size() - 1);
    session_ = session;
    name_ = name;
  });
}

void Span::end() noexcept {
  const std::int64_t end_ns = now_ns();
  if (start_ns_ != 0) log_span(name_, end_ns - start_ns_);
  if (session_ == 0) return;
  record([&](ThreadLog& log) {
    const RankedForkLock lock(log.mutex);
    if (!lock || log.session != session_) return;
    Event& event = log.events[slot_];
    event.duration_ns = end_ns - event.start_ns;
  });
}

namespace {

// Adds an argument to an open event of this thread.
void add_arg(std::uint32_t session, std::uint32_t slot, Arg arg) noexcept {
  record([&](ThreadLog& log) {
    const RankedForkLock lock(log.mutex);
    if (!lock || log.session != session) return;
    if (log.events[slot].arg_count >= max_args_per_event) return;
    arg.event = slot;
    log.args.push_back(arg);
    ++log.events[slot].arg_count;
  });
}

}  // namespace

void Span::add(const char* key, std::int64_t value) noexcept {
  if (session_ == 0) return;
  add_arg(session_, slot_, {0, key, Arg::Kind::integer, value, 0, {}});
}

void Span::add(const char* key, double value) noexcept {
  if (session_ == 0) return;
  add_arg(session_, slot_, {0, key, Arg::Kind::real, 0, value, {}});
}

void Span::add(const char* key, std::string_view value) noexcept {
  if (session_ == 0) return;
  Arg arg{0, key, Arg::Kind::text, 0, 0, {}};
  const std::string_view kept = cut_text(value, text_bytes - 1);
  std::memcpy(arg.text.data(), kept.data(), kept.size());
  add_arg(session_, slot_, arg);
}

}  // namespace halyard::trace
