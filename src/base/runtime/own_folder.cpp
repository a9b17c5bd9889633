// SPDX-License-Identifier: Apache-2.0
// Reads /proc/self/maps.
#include "base/runtime/own_folder.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

namespace halyard {
namespace {

std::string_view part(std::string_view& text, char end) {
  const std::size_t length = text.find(end);
  const std::string_view found = text.substr(0, length);
  text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  return found;
}

/// The file name in a line of /proc/self/maps whose range has `address`; empty for other lines.
std::string_view file_at(std::string_view line, std::uintptr_t address) {
  std::array<std::uintptr_t, 2> range{};
  for (const char end : {'-', ' '}) {
    const std::string_view number = part(line, end);
    auto& bound = range[end == ' ' ? 1 : 0];
    std::from_chars(number.data(), number.data() + number.size(), bound, 16);
  }
  const std::size_t slash = line.find('/');
  if (address < range[0] || address >= range[1] || slash == std::string_view::npos) return {};
  return line.substr(slash);
}

}  // namespace

// The kernel has the absolute path; the loader may have a relative one, or argv[0].
std::string own_folder() {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> maps(std::fopen("/proc/self/maps", "re"));
  const auto address = reinterpret_cast<std::uintptr_t>(&own_folder);
  std::array<char, 4352> line{};  // a path of PATH_MAX bytes and the fields before it
  while (maps && std::fgets(line.data(), static_cast<int>(line.size()), maps.get()) != nullptr) {
    const std::string_view file = file_at(line.data(), address);
    if (!file.empty()) return std::string(file.substr(0, file.rfind('/')));
  }
  return {};
}

}  // namespace halyard
