// SPDX-License-Identifier: Apache-2.0
// What tests of shared memory need: raw objects, child processes, counts of what is held open.
#pragma once

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>

#include "halyard/fd.h"
#include "support/descriptors.h"
#include "support/sanitized.h"

namespace halyard::conformance {

/// Set inside the machine that has all devices: what is missing there is a failure.
inline bool in_machine() {
  const char* value = std::getenv("HALYARD_TEST_IN_VM");
  return value != nullptr && std::string_view(value) == "1";
}

/// Rounds of leak tests: HALYARD_TEST_ROUNDS, or else fewer where each takes long: in the machine
/// for its system calls, under sanitizers.
inline int many_rounds() {
  if (const char* asked = std::getenv("HALYARD_TEST_ROUNDS")) return std::max(1, std::atoi(asked));
  if (in_machine()) return 1'000;
  return test::is_sanitized ? 10'000 : 20'000;
}

/// What a process holds of the kernel.
struct Holdings {
  std::size_t descriptors = 0;
  std::size_t shared_mappings = 0;
  std::size_t mappings = 0;  ///< 0 under sanitizers, whose own memory comes and goes
  friend bool operator==(const Holdings&, const Holdings&) = default;
};

inline Holdings holdings() {
  Holdings held;
  held.descriptors = test::open_descriptors();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t flags = line.find(' ');
    if (line.substr(flags + 1, 4).ends_with('s')) ++held.shared_mappings;
    if (!test::is_sanitized) ++held.mappings;
  }
  return held;
}

inline void PrintTo(const Holdings& held, std::ostream* out) {
  *out << held.descriptors << " descriptors, " << held.shared_mappings << " shared mappings, "
       << held.mappings << " mappings";
}

/// A memfd as somebody else would make it; `flags` as of memfd_create().
inline Fd raw_memfd(std::size_t size, unsigned flags = MFD_ALLOW_SEALING) {
  Fd fd(static_cast<int>(::syscall(SYS_memfd_create, "raw", flags | MFD_CLOEXEC)));
  if (fd && ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) fd.reset();
  return fd;
}

/// A second description of the same object, opened anew with `flags`.
inline Fd reopen(const Fd& fd, int flags) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  return Fd(::open(path.c_str(), flags | O_CLOEXEC));
}

/// Runs `act` in a child and gives its answer, or -1 when it died of a signal.
template <class F>
int in_child(F&& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

struct SocketPair {
  Fd near;
  Fd far;
  SocketPair() {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    near = Fd(ends[0]);
    far = Fd(ends[1]);
  }
};

namespace detail {
// Room for one descriptor beside one byte of a message.
struct FdMessage {
  std::byte payload{1};
  iovec vector{&payload, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  FdMessage() {
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
};
}  // namespace detail

inline bool send_fd(int socket, int fd) {
  detail::FdMessage message;
  cmsghdr* attached = CMSG_FIRSTHDR(&message.header);
  attached->cmsg_level = SOL_SOCKET;
  attached->cmsg_type = SCM_RIGHTS;
  attached->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(attached), &fd, sizeof fd);
  return ::sendmsg(socket, &message.header, MSG_NOSIGNAL) == 1;
}

/// Empty when none came.
inline Fd receive_fd(int socket) {
  detail::FdMessage message;
  if (::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC) != 1) return {};
  const cmsghdr* attached = CMSG_FIRSTHDR(&message.header);
  if (attached == nullptr || attached->cmsg_type != SCM_RIGHTS) return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(attached), sizeof fd);
  return Fd(fd);
}

}  // namespace halyard::conformance
