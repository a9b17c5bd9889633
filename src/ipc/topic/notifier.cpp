// SPDX-License-Identifier: Apache-2.0
// A full socket is readable already, so a notice that does not fit into it is not lost.
#include "ipc/topic/notifier.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/text/format_error.h"

namespace halyard::ipc {

Result<Notifier> Notifier::create() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return fail_os("notifier: sockets cannot be created", errno);
  Notifier notifier;
  notifier.receiver_ = Fd(ends[0]);
  notifier.sender_ = Fd(ends[1]);
  return notifier;
}

void Notifier::clear() const noexcept {
  char bytes[8];
  while (::recv(receiver_.get(), bytes, sizeof(bytes), MSG_DONTWAIT) >= 0 || errno == EINTR) {
  }
}

void notify(const Fd& sender) noexcept {
  const char byte = 1;
  static_cast<void>(::send(sender.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0);
}

}  // namespace halyard::ipc
