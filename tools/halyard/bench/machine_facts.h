// SPDX-License-Identifier: Apache-2.0
// What a reader of times must know of the machine.
#pragma once

#include <string>
#include <string_view>

namespace halyard::tool {

struct MachineFacts {
  std::string cpu;                 ///< "unknown" if the system does not tell
  unsigned processors = 0;         ///< of the machine
  unsigned usable_processors = 0;  ///< that this process may use
  double load = 0;                 ///< average of the last minute: runnable threads
};

MachineFacts machine_facts();

/// The value of "model name" in the text of /proc/cpuinfo; empty if there is none, as on Arm.
std::string cpu_name(std::string_view cpuinfo);

/// "AMD EPYC 9R14, 2 processors, load 0.10", and a remark if other programs use the processors.
std::string describe_machine(const MachineFacts& machine);

}  // namespace halyard::tool
