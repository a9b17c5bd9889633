// SPDX-License-Identifier: Apache-2.0
// Progress: one line on a terminal that overwrites itself; nothing anywhere else.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace halyard::tool {

/// Thread-bound. Draws at most ten times a second, on stderr, when stderr is a terminal.
class Progress {
 public:
  Progress(std::optional<std::size_t> total, bool is_wanted);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t done);
  /// Removes the line, for other output on the terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<std::size_t> total_;
  bool is_active_;
  bool is_shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// The line's text, without control characters; for the test.
std::string progress_line(std::size_t done, std::optional<std::size_t> total, double seconds);

}  // namespace halyard::tool
