// SPDX-License-Identifier: Apache-2.0
// Trace: spans with arguments, written as Chrome trace JSON (open it at ui.perfetto.dev).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {
namespace trace {

namespace detail {
/// Bits of `observers`: who receives spans.
inline constexpr std::uint8_t session_observer = 1;
inline constexpr std::uint8_t log_observer = 2;
extern std::atomic<std::uint8_t> observers;
}  // namespace detail

/// Starts a session that records every span of every thread until stop(). OutputFile
/// (halyard/output_file.h) writes the file: a part file is made at once, the path refers to the
/// trace after stop() has completed it, and devices and pipes are written to directly. A session
/// that is not stopped before the process ends leaves no file. Sessions may follow one another;
/// only one runs at a time. Thread-safe. Errors: busy (a session runs), those of
/// OutputFile::create().
Status start(const std::string& path);

/// Ends the session and writes the file. Spans that are still open are dropped. Without a session
/// it does nothing. Errors: those of OutputFile::commit(); then the old file at the path stays.
Status stop();

/// Whether a session runs. Costs one relaxed load.
inline bool is_active() noexcept {
  return (detail::observers.load(std::memory_order_relaxed) & detail::session_observer) != 0;
}

/// Names the calling thread in this and later sessions.
void set_thread_name(std::string_view name);

/// Records a value over time, drawn as a graph. `name` must be a literal.
void counter(const char* name, double value) noexcept;

/// A span from construction to destruction on the calling thread. Costs one relaxed load if no
/// session runs. If the log sink accepts LogLevel::trace (halyard/log.h), the end of the span also
/// sends it a message with the duration. `name` and keys must be literals ("layer.function").
/// Thread-bound.
class Span {
 public:
  explicit Span(const char* name) noexcept {
    if (detail::observers.load(std::memory_order_relaxed) != 0) begin(name);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (name_ != nullptr) end();
  }
  /// Adds an argument; at most eight, further ones are dropped. Does nothing if no session runs.
  Span& arg(const char* key, std::int64_t value) noexcept {
    if (name_ != nullptr) add(key, value);
    return *this;
  }
  Span& arg(const char* key, double value) noexcept {
    if (name_ != nullptr) add(key, value);
    return *this;
  }
  /// The text is copied; the first 47 bytes are kept.
  Span& arg(const char* key, std::string_view value) noexcept {
    if (name_ != nullptr) add(key, value);
    return *this;
  }
  template <class T>
  requires std::is_integral_v<T> Span& arg(const char* key, T value) noexcept {
    return arg(key, static_cast<std::int64_t>(value));
  }

 private:
  void begin(const char* name) noexcept;
  void end() noexcept;
  void add(const char* key, std::int64_t value) noexcept;
  void add(const char* key, double value) noexcept;
  void add(const char* key, std::string_view value) noexcept;
  const char* name_ = nullptr;
  std::uint32_t slot_ = 0;
  std::uint32_t session_ = 0;  ///< 0: not recorded in a session
  std::int64_t start_ns_ = 0;  ///< for the log; 0: no message
};

}  // namespace trace
}  // namespace halyard
HALYARD_EXPORTS_END
