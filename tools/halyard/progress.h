// SPDX-License-Identifier: Apache-2.0
// Progress: one line on a terminal that overwrites itself; nothing on other outputs.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace halyard::tool {

/// Thread-bound. Draws at most ten times per second, on stderr, if stderr is a terminal.
class Progress {
 public:
  Progress(std::optional<std::size_t> total, bool is_wanted);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t done);
  /// update() with more about the frame, behind the rate.
  void update(std::size_t done, std::string_view status);
  /// Removes the line, so that other output can use the terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<std::size_t> total_;
  bool is_active_;
  bool is_shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// The text of the line, without control characters.
std::string progress_line(std::size_t done, std::optional<std::size_t> total, double seconds);

}  // namespace halyard::tool
