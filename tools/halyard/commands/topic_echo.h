// SPDX-License-Identifier: Apache-2.0
// halyard topic echo: prints the content of a topic, message by message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halyard::tool {

/// When a command that runs without end stops, and how it prints.
struct WatchOptions {
  std::string topic;
  std::optional<std::uint64_t> count;  ///< messages, or lines
  std::optional<double> duration_s;
  double window_s = 1;
  bool is_json = false;
};

/// Joins as a subscriber with the topic's own type. Returns the exit code.
int echo(const WatchOptions& options);

}  // namespace halyard::tool
