// SPDX-License-Identifier: Apache-2.0
// Only stdio, one call per line, so that lines of several threads do not mix.
#include "report.h"

#include <atomic>
#include <cerrno>
#include <cstdio>

namespace halyard::tool {
namespace {

std::atomic<int> stdout_errno{0};

void remember_failure(int number) {
  int none = 0;
  stdout_errno.compare_exchange_strong(none, number != 0 ? number : EIO);
}

void put(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) remember_failure(errno);
}

/// The first `count` UTF-8 characters.
std::string cut(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins && count-- == 0) break;
  }
  return text.substr(0, end);
}

}  // namespace

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += printable(text.substr(0, end));
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string without_user(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::string(text);
  const std::size_t begin = scheme + 3;
  const std::size_t at = text.substr(0, text.find('/', begin)).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(text);
  return std::string(text.substr(0, begin)) + std::string(text.substr(at + 1));
}

int report(std::string_view what, std::string_view detail) {
  const std::string line =
      "halyard: " + printable(without_user(what)) + ": " + printable(detail) + "\n";
  std::fputs(line.c_str(), stderr);
  return exit_failure;
}

int report(std::string_view what, const Error& error) {
  return report(what, error.message());
}

int report_usage(std::string_view what, std::string_view detail) {
  report(what, detail);
  return exit_usage;
}

void print_line(std::string_view line) {
  put(printable(line) + "\n");
}

void print_lines(std::string_view text) {
  const bool is_open = text.empty() || text.back() != '\n';
  put(printable_lines(text) + (is_open ? "\n" : ""));
}

void print_remark(std::string_view text) {
  std::fputs((printable_lines(text) + "\n").c_str(), stderr);
}

void redraw_line(std::string_view text) {
  std::fputs(("\r\x1b[K" + printable(text)).c_str(), stderr);
  std::fflush(stderr);
}

void begin_screen() {
  put("\x1b[?1049h\x1b[?25l");
  std::fflush(stdout);
}

void end_screen() {
  put("\x1b[?25h\x1b[?1049l");
  std::fflush(stdout);
}

void draw_screen(const std::vector<ScreenLine>& lines, std::size_t columns, std::size_t rows) {
  std::string out = "\x1b[H";
  for (std::size_t i = 0; i < lines.size() && i < rows; ++i) {
    if (i != 0) out += "\r\n";
    if (lines[i].is_title) out += "\x1b[1m";
    out += cut(printable(lines[i].text), columns);
    if (lines[i].is_title) out += "\x1b[0m";
    out += "\x1b[K";
  }
  put(out + "\x1b[J");
  std::fflush(stdout);
}

Status stdout_status() {
  const int number = stdout_errno.load();
  if (number == 0) return {};
  return make_error(Errc::os, "cannot be written", {}, number);
}

Status finish_stdout() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) remember_failure(errno);
  return stdout_status();
}

}  // namespace halyard::tool
