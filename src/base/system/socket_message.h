// SPDX-License-Identifier: Apache-2.0
// Messages over Unix sockets with file descriptors beside them, and waiting with a deadline.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/local.h"
#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard {

/// When to stop waiting: never, for a negative timeout and for one that the clock cannot hold.
class HALYARD_LOCAL Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds timeout);
  /// For poll(): milliseconds, rounded up so that it does not spin; -1 for ever.
  int left_ms() const;
  /// None: for ever. Never negative.
  std::optional<std::chrono::nanoseconds> left() const;
  bool is_over() const { return left() == std::chrono::nanoseconds(0); }

 private:
  std::optional<std::chrono::steady_clock::time_point> when_;
};

/// Waits until the socket can go on (POLLIN, POLLOUT), or has something to say about why not.
/// Errors: timeout, os.
Status wait_for_socket(int socket, short events, const Deadline& deadline);

/// Most descriptors that a message of ours has.
inline constexpr std::size_t max_message_fds = 16;

/// Descriptors as they came, owned from the first moment on.
struct HALYARD_LOCAL ReceivedFds {
  // More than any message may bring, so that too many are seen.
  std::array<Fd, max_message_fds + 16> fds;
  std::size_t count = 0;
};

/// What one recvmsg() brought.
struct HALYARD_LOCAL ReceivedBytes {
  std::size_t bytes = 0;
  bool truncated = false;
  bool reset = false;  ///< by the peer
  ReceivedFds fds;
};
/// Errors: timeout, invalid_argument (not connected), malformed (more descriptors than fit), os.
Result<ReceivedBytes> receive_some(int socket, std::span<std::byte> into, const Deadline& deadline);

/// SOCK_STREAM, SOCK_SEQPACKET or SOCK_DGRAM. Errors: invalid_argument (no AF_UNIX socket).
Result<int> unix_socket_type(int socket);

/// A message with its descriptors.
struct HALYARD_LOCAL ReceivedMessage {
  std::vector<std::byte> bytes;
  ReceivedFds fds;
};
struct MessageLimits {
  std::size_t head_bytes = 0;  ///< of each message; they say how many it has
  std::size_t max_bytes = 0;
};
/// How many bytes a message has by its head: head_bytes..max_bytes, or why there is none.
using MessageSize = std::function<Result<std::size_t>(std::span<const std::byte> head)>;
/// Receives one message, whole, on a socket of any type: of a stream as many bytes as `size` says,
/// else one packet, which `size` does not see. Errors: invalid_argument, timeout (nothing came),
/// not_found (the peer has closed), malformed, corrupt (ends early), those of `size`, os.
Result<ReceivedMessage> receive_message(int socket, const MessageLimits& limits,
                                        const MessageSize& size, const Deadline& deadline);

/// Sends all bytes, the descriptors beside the first of them. At most max_message_fds. Errors:
/// timeout (nothing has left), corrupt (a part has), invalid_argument (larger than the socket's
/// send buffer, not connected), exhausted (too many descriptors are under way), os (peer gone).
Status send_all(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                const Deadline& deadline);

}  // namespace halyard
