// SPDX-License-Identifier: Apache-2.0
// What the processes that are killed and those that watch them agree on.
#pragma once

#include "halyard/topic.h"

namespace halyard::ipc::testing {

// A frame: 8 numbers that belong together, wherever it is read.
constexpr std::uint64_t mix(std::uint64_t number) {
  return (number ^ (number >> 29U)) * 0xBF58476D1CE4E5B9;
}
inline void fill(const TensorHandle& handle, std::uint64_t number) {
  const auto words = *handle.data_as<std::uint64_t>();
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = mix(number + i);
  words[0] = number;
}
inline bool is_whole(const TensorHandle& handle) {
  const auto words = handle.data_as<const std::uint64_t>();
  if (!words) return false;
  for (std::size_t i = 1; i < words->size(); ++i)
    if ((*words)[i] != mix((*words)[0] + i)) return false;
  return true;
}

inline TopicConfig small_topic() {
  TopicConfig config{.depth = 4, .pool = TensorPoolConfig::small()};
  config.pool->first_bytes = 1U << 16U;
  return config;
}

}  // namespace halyard::ipc::testing
