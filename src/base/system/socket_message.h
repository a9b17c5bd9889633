// SPDX-License-Identifier: Apache-2.0
// Messages with file descriptors over Unix sockets, and waiting with a deadline.
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

/// When to stop waiting. Never: if the timeout is negative, or at least a year.
class HALYARD_LOCAL Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds timeout);
  /// For poll(): milliseconds, rounded up so that poll() does not spin; -1: no limit.
  int left_ms() const;
  /// Nullopt: no limit. Never negative.
  std::optional<std::chrono::nanoseconds> left() const;
  bool is_over() const { return left() == std::chrono::nanoseconds(0); }

 private:
  std::optional<std::chrono::steady_clock::time_point> when_;
};

/// Waits until the socket is ready (POLLIN, POLLOUT) or has an error to report. Errors: timeout,
/// os.
Status wait_for_socket(int socket, short events, const Deadline& deadline);

/// Max descriptors of one message.
inline constexpr std::size_t max_message_fds = 16;

/// Descriptors in the order received, owned as soon as they arrive.
struct HALYARD_LOCAL ReceivedFds {
  // More than any message may carry, so that too many are detected.
  std::array<Fd, max_message_fds + 16> fds;
  std::size_t count = 0;
};

/// The result of one recvmsg().
struct HALYARD_LOCAL ReceivedBytes {
  std::size_t bytes = 0;
  bool truncated = false;
  bool reset = false;  ///< by the peer
  ReceivedFds fds;
};
/// Errors: timeout, invalid_argument (not connected), malformed (more descriptors than fit), os.
Result<ReceivedBytes> receive_some(int socket, std::span<std::byte> into, const Deadline& deadline);

/// SOCK_STREAM, SOCK_SEQPACKET or SOCK_DGRAM. Errors: invalid_argument (not an AF_UNIX socket).
Result<int> unix_socket_type(int socket);

/// A message with its descriptors.
struct HALYARD_LOCAL ReceivedMessage {
  std::vector<std::byte> bytes;
  ReceivedFds fds;
};
struct MessageLimits {
  std::size_t head_bytes = 0;  ///< of each message; they hold its size
  std::size_t max_bytes = 0;
};
/// Returns the size of a message from its head: head_bytes..max_bytes, or an error.
using MessageSize = std::function<Result<std::size_t>(std::span<const std::byte> head)>;
/// Receives one whole message on a socket of any type: from a stream as many bytes as `size`
/// returns, else one packet, for which `size` is not called. Errors: invalid_argument, timeout
/// (nothing came), not_found (the peer has closed), malformed, corrupt (ends early), those of
/// `size`, os.
Result<ReceivedMessage> receive_message(int socket, const MessageLimits& limits,
                                        const MessageSize& size, const Deadline& deadline);

/// Sends all bytes, and the descriptors with the first byte. At most max_message_fds. Errors:
/// timeout (nothing was sent), corrupt (only a part was sent), invalid_argument (larger than the
/// socket's send buffer, not connected), exhausted (too many descriptors in flight), os (peer
/// gone).
Status send_all(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                const Deadline& deadline);

}  // namespace halyard
