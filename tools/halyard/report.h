// SPDX-License-Identifier: Apache-2.0
// How the program speaks to a person: exit codes, one line per error, plain lines on stdout.
#pragma once

#include <string>
#include <string_view>

#include "halyard/result.h"

namespace halyard::tool {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_interrupted = 130;

/// Text with control characters replaced, so that an error stays one line whatever a file is
/// called.
std::string printable(std::string_view text);

/// "halyard: <what>: <detail>" on stderr; returns exit_failure. Thread-safe.
int report(std::string_view what, const Error& error);
int report(std::string_view what, std::string_view detail);
/// The same for a wrong command line; returns exit_usage.
int report_usage(std::string_view what, std::string_view detail);

/// Writes a line to stdout. A failed write is remembered, see finish_stdout().
void print_line(std::string_view line);
/// Flushes stdout. Errors: os (a pipe or disk that took no more).
Status finish_stdout();

}  // namespace halyard::tool
