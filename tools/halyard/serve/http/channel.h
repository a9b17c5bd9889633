// SPDX-License-Identifier: Apache-2.0
// Channel: the bytes of one connection, plain or through TLS. Never waits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "halyard/fd.h"

namespace halyard::tool {

/// What a call of a channel did.
struct ChannelResult {
  enum class State { moved, wants_read, wants_write, closed };
  State state = State::closed;
  std::size_t bytes = 0;  ///< if moved; above 0
};

/// Thread-bound.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual int fd() const noexcept = 0;
  /// Up to into.size() bytes; into is not empty.
  virtual ChannelResult read(std::span<char> into) = 0;
  /// A part of the bytes, which are not empty.
  virtual ChannelResult write(std::string_view bytes) = 0;
  /// Tells the peer that no more bytes follow.
  virtual void end_writing() noexcept = 0;
};

/// The socket must be non-blocking.
std::unique_ptr<Channel> plain_channel(Fd socket);

}  // namespace halyard::tool
