// SPDX-License-Identifier: Apache-2.0
// The program's output for users: exit codes, one line per error, plain lines on stdout. All
// printed text passes through here and through halyard::printable(); tools/check.py checks that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halyard/log.h"
#include "halyard/result.h"

namespace halyard::tool {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_interrupted = 130;

/// printable() for text of several lines. Line feeds are kept, so text from outside must not be
/// passed if it can contain line feeds.
std::string printable_lines(std::string_view text);

/// An address without its user and password; other text as it is.
std::string without_user(std::string_view text);

/// "halyard: <what>: <detail>" on stderr, without the password of an address in `what`; returns
/// exit_failure. Thread-safe.
int report(std::string_view what, const Error& error);
int report(std::string_view what, std::string_view detail);
/// As report(), for a wrong command line; returns exit_usage.
int report_usage(std::string_view what, std::string_view detail);

/// Writes one printable line to stdout. A failed write is remembered, see stdout_status().
void print_line(std::string_view line);
/// As print_line(), for several lines.
void print_lines(std::string_view text);
/// Several printable lines on stderr.
void print_remark(std::string_view text);
/// Overwrites the terminal's current line on stderr; empty text clears it.
void redraw_line(std::string_view text);

/// Switches to the terminal's alternate screen on stdout, without a cursor, and back.
void begin_screen();
void end_screen();
struct ScreenLine {
  std::string text;
  bool is_title = false;  ///< drawn in bold
};
/// Draws printable lines from the top of the screen, in one write. Text that does not fit is cut.
void draw_screen(const std::vector<ScreenLine>& lines, std::size_t columns, std::size_t rows);

/// The first failed write to stdout. Errors: os (closed, or a pipe or disk that accepts no more).
Status stdout_status();
/// Flushes stdout. Errors: as stdout_status().
Status finish_stdout();

}  // namespace halyard::tool
