// SPDX-License-Identifier: Apache-2.0
// stdio only: one call per line, so lines of several threads do not mix.
#include "report.h"

#include <cerrno>
#include <cstdio>

namespace halyard::tool {

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

int report(std::string_view what, std::string_view detail) {
  const std::string line = "halyard: " + printable(what) + ": " + printable(detail) + "\n";
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
  std::string text(line);
  text += '\n';
  std::fputs(text.c_str(), stdout);
}

Status finish_stdout() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return make_error(Errc::os, "standard output cannot be written", {}, errno);
  return {};
}

}  // namespace halyard::tool
