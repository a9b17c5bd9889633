// SPDX-License-Identifier: Apache-2.0
// StreamMessage: what the viewers of a stream get, shared by all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace halyard::tool {

struct StreamMessage {
  enum class Role : std::uint8_t {
    whole,   ///< complete by itself: it replaces what a viewer has not begun to take
    first,   ///< a viewer can begin here, after `head`
    follows  ///< of use only after the message before it
  };
  using Bytes = std::shared_ptr<const std::string>;

  Bytes bytes;
  Role role = Role::whole;
  /// Of the stream that a `first` message belongs to; equal for all messages of one stream.
  Bytes head = nullptr;
};

/// Bytes that may wait for one viewer; beyond them it begins again at the next `first` message.
inline constexpr std::size_t max_waiting_bytes = std::size_t{1} << 20U;

}  // namespace halyard::tool
