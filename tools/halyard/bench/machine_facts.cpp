// SPDX-License-Identifier: Apache-2.0
#include "bench/machine_facts.h"

#include <fmt/format.h>
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace halyard::tool {
namespace {

std::string text_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of Arm and RISC-V boards the board is known, not the processor.
std::string find_cpu() {
  if (std::string name = cpu_name(text_of("/proc/cpuinfo")); !name.empty()) return name;
  std::string board = text_of("/proc/device-tree/model");
  while (!board.empty() && (board.back() == '\0' || board.back() == '\n'))
    board.pop_back();
  return board.empty() ? "unknown" : board;
}

}  // namespace

std::string cpu_name(std::string_view cpuinfo) {
  constexpr std::string_view key = "model name";
  while (!cpuinfo.empty()) {
    const std::size_t end = cpuinfo.find('\n');
    std::string_view line = cpuinfo.substr(0, end);
    cpuinfo = end == std::string_view::npos ? std::string_view() : cpuinfo.substr(end + 1);
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string_view::npos) continue;
    line.remove_prefix(colon + 1);
    while (line.starts_with(' '))
      line.remove_prefix(1);
    return std::string(line);
  }
  return {};
}

MachineFacts machine_facts() {
  MachineFacts out;
  out.cpu = find_cpu();
  out.processors = std::thread::hardware_concurrency();
  out.usable_processors = out.processors;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    out.usable_processors = static_cast<unsigned>(CPU_COUNT(&set));
  double load = 0;
  if (::getloadavg(&load, 1) == 1) out.load = load;
  return out;
}

std::string describe_machine(const MachineFacts& machine) {
  std::string out = fmt::format("{}, {} processors", machine.cpu, machine.processors);
  if (machine.usable_processors != machine.processors)
    out += fmt::format(" ({} for this process)", machine.usable_processors);
  out += fmt::format(", load {:.2f}", machine.load);
  if (2 * machine.load > machine.usable_processors)
    out += ": other programs use the processors, so times vary";
  return out;
}

}  // namespace halyard::tool
