// SPDX-License-Identifier: Apache-2.0
// Plain text with a carriage return, which works on every terminal.
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "report.h"

namespace halyard::tool {

Progress::Progress(std::optional<std::size_t> total, bool is_wanted)
    : total_(total), is_active_(is_wanted && ::isatty(STDERR_FILENO) == 1) {}

std::string progress_line(std::size_t done, std::optional<std::size_t> total, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  if (!total || *total == 0) return fmt::format("{} frames  {:.1f}/s", done, rate);
  constexpr std::size_t width = 30;
  const std::size_t filled = std::min(width, width * done / *total);
  return fmt::format("[{:<30}] {}/{}  {:.1f}/s", std::string(filled, '='), done, *total, rate);
}

void Progress::update(std::size_t done) {
  update(done, {});
}

void Progress::update(std::size_t done, std::string_view status) {
  if (!is_active_) return;
  const auto now = Clock::now();
  if (is_shown_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  is_shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  redraw_line(progress_line(done, total_, seconds) + std::string(status));
}

void Progress::clear() {
  if (!is_shown_) return;
  is_shown_ = false;
  redraw_line({});
}

}  // namespace halyard::tool
