// SPDX-License-Identifier: Apache-2.0
// Picks the line of a runtime's exception text that states the reason.
#include "model/one_line.h"

namespace halyard::model {

std::string one_line(std::string_view text) {
  std::string_view best = "no reason given";
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
      line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r'))
      line.remove_suffix(1);
    const bool is_place = line.starts_with("Exception from ") || line.starts_with("Check '");
    if (!line.empty() && !is_place) best = line;
  }
  constexpr std::size_t limit = 200;
  return std::string(best.substr(0, limit));
}

}  // namespace halyard::model
