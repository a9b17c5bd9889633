// SPDX-License-Identifier: Apache-2.0
// Messages over Unix sockets with file descriptors beside them, and waiting with a deadline.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

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

/// Sends all bytes, the descriptors beside the first of them. At most max_message_fds. Errors:
/// timeout (nothing has left), corrupt (a part has), invalid_argument (larger than the socket's
/// send buffer, not connected), exhausted (too many descriptors are under way), os (peer gone).
Status send_all(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                const Deadline& deadline);

}  // namespace halyard
