// SPDX-License-Identifier: Apache-2.0
// sendmsg() and recvmsg() with SCM_RIGHTS. Every received descriptor is owned, so none is lost.
#include "base/system/socket_message.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text/format_error.h"

namespace halyard {
namespace {

using Clock = std::chrono::steady_clock;

// Space for control messages: more descriptors than any message may carry, and the credentials that
// the kernel adds for sockets that ask for them. The kernel fills all the space that there is, so
// all received descriptors are owned at once.
constexpr std::size_t control_bytes =
    CMSG_SPACE(sizeof(int) * (max_message_fds + 2)) + CMSG_SPACE(sizeof(struct ucred));

struct alignas(cmsghdr) Control {
  std::array<char, control_bytes> bytes{};
};

ReceivedFds take_fds(msghdr& message) {
  ReceivedFds received;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    // SCM_PIDFD (4), which SO_PASSPIDFD asks for, is a descriptor too. It is closed.
    const bool rights = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS;
    const bool pidfd = c->cmsg_level == SOL_SOCKET && c->cmsg_type == 4;
    if (!rights && !pidfd) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
      Fd owned(fd);
      if (rights && received.count < received.fds.size())
        received.fds[received.count++] = std::move(owned);
    }
  }
  return received;
}

Error receive_error(int os_errno) {
  // EINVAL: a listening stream socket.
  if (os_errno == ENOTCONN || os_errno == EINVAL)
    return make_error(Errc::invalid_argument, "socket: is not connected", {}, os_errno);
  return fail_os("socket: nothing can be received", os_errno);
}

Error send_error(int os_errno) {
  switch (os_errno) {
    case EMSGSIZE:
      return make_error(Errc::invalid_argument, "message: is larger than the socket's send buffer",
                        {}, os_errno);
    case ETOOMANYREFS:
      return make_error(Errc::exhausted, "socket: too many descriptors are under way", {},
                        os_errno);
    case ENOTCONN:
    case EDESTADDRREQ:
      return make_error(Errc::invalid_argument, "socket: is not connected", {}, os_errno);
    default:
      return make_error(Errc::os, "socket: the message cannot be sent", {}, os_errno);
  }
}

// Packs the descriptors into one control message.
Control pack(std::span<const int> fds, msghdr& message) {
  Control control;
  const std::size_t bytes = fds.size_bytes();
  if (bytes == 0) return control;
  cmsghdr head = {};
  head.cmsg_len = CMSG_LEN(bytes);
  head.cmsg_level = SOL_SOCKET;
  head.cmsg_type = SCM_RIGHTS;
  std::memcpy(control.bytes.data(), &head, sizeof(head));
  std::memcpy(control.bytes.data() + CMSG_LEN(0), fds.data(), bytes);
  message.msg_controllen = CMSG_SPACE(bytes);
  return control;
}

}  // namespace

Deadline::Deadline(std::chrono::nanoseconds timeout) {
  constexpr auto max_timeout = std::chrono::hours(24 * 365);
  if (timeout.count() >= 0 && timeout < max_timeout) when_ = Clock::now() + timeout;
}

int Deadline::left_ms() const {
  if (!when_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*when_ - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

std::optional<std::chrono::nanoseconds> Deadline::left() const {
  if (!when_) return std::nullopt;
  return std::max(std::chrono::nanoseconds(0),
                  std::chrono::duration_cast<std::chrono::nanoseconds>(*when_ - Clock::now()));
}

Status wait_for_socket(int socket, short events, const Deadline& deadline) {
  for (;;) {
    pollfd poll = {socket, events, 0};
    const int left_ms = deadline.left_ms();
    const int ready = ::poll(&poll, 1, left_ms);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail_os("socket: cannot be waited for", errno);
    if (ready == 0 && left_ms == 0) {
      return fail(Errc::timeout, events == POLLIN ? "socket: no message in time"
                                                  : "socket: the peer takes no message in time");
    }
  }
}

Result<ReceivedBytes> receive_some(int socket, std::span<std::byte> into,
                                   const Deadline& deadline) {
  for (;;) {
    Control control;
    iovec io = {into.data(), into.size()};
    msghdr message = {};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        HALYARD_RETURN_IF_ERROR(wait_for_socket(socket, POLLIN, deadline));
      } else if (errno == ECONNRESET) {
        return ReceivedBytes{0, false, true, {}};
      } else if (errno != EINTR) {
        return receive_error(errno);
      }
      continue;
    }
    ReceivedBytes received{static_cast<std::size_t>(got), (message.msg_flags & MSG_TRUNC) != 0,
                           false, take_fds(message)};
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
      return fail(
          Errc::malformed,
          "message.descriptors: more than a message may have, or than this process may open");
    }
    return received;
  }
}

Status send_all(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                const Deadline& deadline) {
  msghdr message = {};
  Control control = pack(fds.first(std::min(fds.size(), max_message_fds)), message);
  message.msg_control = message.msg_controllen != 0 ? control.bytes.data() : nullptr;
  std::size_t done = 0;
  while (done < bytes.size()) {
    iovec io = {const_cast<std::byte*>(bytes.data()) + done, bytes.size() - done};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      done += static_cast<std::size_t>(sent);
      // The descriptors are sent with the first byte.
      message.msg_control = nullptr;
      message.msg_controllen = 0;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return send_error(errno);
    auto ready = wait_for_socket(socket, POLLOUT, deadline);
    if (!ready && ready.error().code == Errc::timeout && done != 0) {
      return fail(Errc::corrupt, "socket: the peer took only a part of the message in time",
                  "{} of {} bytes", done, bytes.size());
    }
    HALYARD_RETURN_IF_ERROR(std::move(ready));
  }
  return {};
}

Result<int> unix_socket_type(int socket) {
  int domain = 0;
  int type = 0;
  socklen_t size = sizeof(int);
  if (socket < 0 || ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
      ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &(size = sizeof(int))) != 0) {
    return make_error(Errc::invalid_argument, "socket: is not a socket",
                      fmt::format("descriptor {}", socket), socket < 0 ? 0 : errno);
  }
  if (domain != AF_UNIX) {
    return fail(Errc::invalid_argument, "socket: must be AF_UNIX, others carry no descriptors",
                "family {}", domain);
  }
  return type;
}

namespace {

Error peer_closed() {
  return fail(Errc::not_found, "socket: the peer has closed it");
}

// Fills `into` from a stream. `before`: bytes of the message that have been read already.
Status receive_rest(int socket, std::span<std::byte> into, std::size_t before, ReceivedFds& fds,
                    const Deadline& deadline) {
  std::size_t done = 0;
  while (done < into.size()) {
    auto received = receive_some(socket, into.subspan(done), deadline);
    const bool first = before + done == 0;
    if (!received) {
      if (received.error().code != Errc::timeout || first) return std::move(received).error();
      return fail(Errc::corrupt, "message: ends early, the rest did not come in time",
                  "{} bytes came", before + done);
    }
    if (received->bytes == 0) {
      if (first) return peer_closed();
      return fail(Errc::corrupt, "message: ends early, the peer has closed the socket",
                  "{} bytes came", before + done);
    }
    if (first) {
      fds = std::move(received->fds);
    } else if (received->fds.count != 0) {
      return fail(Errc::malformed, "message.descriptors: must come with the first byte",
                  "{} came at byte {}", received->fds.count, before + done);
    }
    done += received->bytes;
  }
  return {};
}

Result<ReceivedMessage> receive_from_stream(int socket, std::size_t head_bytes,
                                            const MessageSize& size, const Deadline& deadline) {
  ReceivedMessage envelope;
  envelope.bytes.resize(head_bytes);
  // Read alone, because one read may join bytes without descriptors to later bytes that have some.
  const auto first = std::span(envelope.bytes).first(1);
  HALYARD_RETURN_IF_ERROR(receive_rest(socket, first, 0, envelope.fds, deadline));
  HALYARD_RETURN_IF_ERROR(
      receive_rest(socket, std::span(envelope.bytes).subspan(1), 1, envelope.fds, deadline));
  HALYARD_TRY(const std::size_t whole, size(envelope.bytes));
  envelope.bytes.resize(std::max(whole, head_bytes));
  HALYARD_RETURN_IF_ERROR(receive_rest(socket, std::span(envelope.bytes).subspan(head_bytes),
                                       head_bytes, envelope.fds, deadline));
  return envelope;
}

Result<ReceivedMessage> receive_packet(int socket, std::size_t max_bytes, bool datagram,
                                       const Deadline& deadline) {
  ReceivedMessage envelope;
  envelope.bytes.resize(max_bytes);
  HALYARD_TRY(ReceivedBytes received, receive_some(socket, envelope.bytes, deadline));
  if (received.truncated) {
    return fail(Errc::malformed, "message.size: outside its limits", "more than {} bytes came",
                max_bytes);
  }
  // An empty packet marks the end of a connection. Datagrams have no end, but may be empty.
  const bool closed = received.bytes == 0 && received.fds.count == 0 && !datagram;
  if (closed || received.reset) return peer_closed();
  envelope.bytes.resize(received.bytes);
  envelope.fds = std::move(received.fds);
  return envelope;
}

}  // namespace

Result<ReceivedMessage> receive_message(int socket, const MessageLimits& limits,
                                        const MessageSize& size, const Deadline& deadline) {
  HALYARD_TRY(const int type, unix_socket_type(socket));
  if (type == SOCK_STREAM) return receive_from_stream(socket, limits.head_bytes, size, deadline);
  return receive_packet(socket, limits.max_bytes, type == SOCK_DGRAM, deadline);
}

}  // namespace halyard
