// SPDX-License-Identifier: Apache-2.0
// Log: one sink that the user installs; without a sink the library is silent. Also printable(),
// which makes text from outside safe to print.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

enum class LogLevel : std::uint8_t { off = 0, error = 1, warn = 2, info = 3, debug = 4, trace = 5 };

/// "off", "error", "warn", "info", "debug", "trace".
std::string_view to_string(LogLevel level) noexcept;

/// Receives every message at or above the current level in importance; `target` is the layer
/// ("codec", "image"). Called from any thread, never from two at once. Messages that the sink
/// itself logs are dropped. The library may hold locks then: call nothing else of it that locks.
using LogSink = std::function<void(LogLevel level, std::string_view target, std::string_view text)>;

/// Installs the sink; an empty one silences the library again. Returns the previous sink. If
/// HALYARD_LOG is not a level and set_log_level() was not called, the new sink gets one error from
/// "base", once per process. Thread-safe: when the function returns, the old sink is no longer
/// running.
LogSink set_log_sink(LogSink sink);

/// The current level; the default is HALYARD_LOG if it is set, else warn. At trace, the sink gets a
/// message at the end of each span (halyard/trace.h), with its duration. Thread-safe.
void set_log_level(LogLevel level) noexcept;
LogLevel log_level() noexcept;

/// Sends one message to the sink, as the library does. Thread-safe.
void log(LogLevel level, std::string_view target, std::string_view text);

/// Returns text from outside (file names, labels, metadata, messages that quote them) as one line
/// that is safe to print on a terminal. Characters that could move the cursor, start an escape
/// sequence, end the line or change the reading direction are replaced by escapes: C0 controls as
/// in \x1b; DEL, C1 controls, line and paragraph separators and directional marks as in \u009b;
/// bytes that are not UTF-8 as in \xff. All other text is unchanged, backslashes too. A JSON text
/// on one line stays a JSON text with the same meaning.
std::string printable(std::string_view text);

}  // namespace halyard
HALYARD_EXPORTS_END
