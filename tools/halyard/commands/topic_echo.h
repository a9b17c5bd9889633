// SPDX-License-Identifier: Apache-2.0
// halyard topic echo: what a topic carries, message by message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halyard::tool {

/// When a command that goes on for ever ends, and how it prints.
struct WatchOptions {
  std::string topic;
  std::optional<std::uint64_t> count;  ///< messages, or lines
  std::optional<double> duration_s;
  double window_s = 1;
  bool is_json = false;
};

/// Joins as a subscriber of whatever type the topic has. Its result is the exit code.
int echo(const WatchOptions& options);

}  // namespace halyard::tool
