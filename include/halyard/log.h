// SPDX-License-Identifier: Apache-2.0
// Log: one sink that the user installs. Without one the library is silent. And what makes text from
// outside fit to be printed.
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

/// Receives every message at or above the level in force; `target` is the layer ("codec", "image").
/// Called from any thread, never from two at once. What it logs itself is dropped.
using LogSink = std::function<void(LogLevel level, std::string_view target, std::string_view text)>;

/// Installs the sink; an empty one silences the library again. Returns the one that was there. Once
/// in a process a sink gets an error, from "base", where HALYARD_LOG holds no level and
/// set_log_level() was not called. Thread-safe: when it returns, the old sink is no longer running.
LogSink set_log_sink(LogSink sink);

/// The level in force: HALYARD_LOG where it is set, else warn. At trace, the sink gets a message at
/// the end of each span (halyard/trace.h), with the time it took. Thread-safe.
void set_log_level(LogLevel level) noexcept;
LogLevel log_level() noexcept;

/// Sends one message, as the library does. Thread-safe.
void log(LogLevel level, std::string_view target, std::string_view text);

/// Text from outside (file names, labels, metadata, messages that quote them) as one line that a
/// terminal shows and does not obey. What could move the cursor, start an escape sequence, end the
/// line or turn the direction of reading is written as an escape: C0 controls as \x1b; DEL, C1
/// controls, line and paragraph separators and directional marks as \u009b; bytes that are not
/// UTF-8 as \xff. All else stays, backslashes too. A JSON text on one line stays a JSON text with
/// the same meaning.
std::string printable(std::string_view text);

}  // namespace halyard
HALYARD_EXPORTS_END
