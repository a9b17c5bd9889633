// SPDX-License-Identifier: Apache-2.0
// Terminal: an alternate screen on standard output and single keys from standard input. Both are
// restored at the end.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <optional>

namespace halyard::tool {

/// One object at a time.
class Terminal {
 public:
  /// Whether standard output is a terminal.
  static bool is_there() noexcept;
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    std::size_t columns = 80;
    std::size_t rows = 24;
  };
  static Size size() noexcept;
  /// The next key, if one comes in time. A signal ends the wait.
  std::optional<char> key(std::chrono::milliseconds timeout);

 private:
  bool has_keys_ = false;  ///< standard input is a terminal
  termios before_ = {};
};

}  // namespace halyard::tool
