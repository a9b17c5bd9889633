// SPDX-License-Identifier: Apache-2.0
// Keys are read without Enter and are not echoed; Ctrl-C stays a signal.
#include "terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <thread>

#include "report.h"

namespace halyard::tool {

bool Terminal::is_there() noexcept {
  return ::isatty(STDOUT_FILENO) == 1;
}

Terminal::Terminal() {
  has_keys_ = ::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    has_keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  begin_screen();
}

Terminal::~Terminal() {
  end_screen();
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Terminal::Size Terminal::size() noexcept {
  winsize seen = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &seen) != 0 || seen.ws_col == 0 || seen.ws_row == 0)
    return {};
  return {seen.ws_col, seen.ws_row};
}

std::optional<char> Terminal::key(std::chrono::milliseconds timeout) {
  if (!has_keys_) {
    std::this_thread::sleep_for(timeout);
    return std::nullopt;
  }
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, static_cast<int>(timeout.count())) != 1) return std::nullopt;
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) == 1) return key;
  // The other end of standard input is closed.
  has_keys_ = false;
  return std::nullopt;
}

}  // namespace halyard::tool
