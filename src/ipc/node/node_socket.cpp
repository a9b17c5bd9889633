// SPDX-License-Identifier: Apache-2.0
// Sockets of type SOCK_SEQPACKET, which keep the bounds of packets.
#include "ipc/node/node_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text/format_error.h"

namespace halyard::ipc {
namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  return address;
}

}  // namespace

Fd new_socket() {
  return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Fd lock_nodes(const std::string& folder, const Deadline& deadline) {
  Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  while (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (deadline.is_over()) return {};
    ::poll(nullptr, 0, 1);
  }
  return lock;
}

Result<Fd> listen_at(const std::string& path, mode_t mode) {
  Fd socket = new_socket();
  if (!socket) return fail_os("node: a socket cannot be created", errno);
  std::string fresh = path;
  fresh.back() = '~';
  const Fd lock = lock_nodes(path.substr(0, path.rfind('/')), Deadline(std::chrono::seconds(1)));
  const sockaddr_un address = address_of(fresh);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return fail_file("node: its socket cannot be bound", fresh, errno);
  if (::chmod(fresh.c_str(), mode) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::rename(fresh.c_str(), path.c_str()) != 0) {
    const int os_errno = errno;
    ::unlink(fresh.c_str());
    return fail_file("node: its socket cannot listen", path, os_errno);
  }
  return socket;
}

Result<pid_t> check_peer(int socket, const Registry& registry) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail_os("peer: its credentials cannot be read", errno);
  if (registry.is_for_group() || peer.uid == ::geteuid() || peer.uid == 0) return peer.pid;
  return fail(Errc::permission, "peer: belongs to another user", "user {}", peer.uid);
}

bool connect_to(int socket, const std::string& path) {
  const sockaddr_un address = address_of(path);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace halyard::ipc
