// SPDX-License-Identifier: Apache-2.0
// Sockets, and messages on them as a peer of any kind may send them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "halyard/fd.h"
#include "sent_tensors.h"
#include "tensor/exchange/tensor_message.h"
#include "tensor/tensor_parts.h"

namespace halyard {

struct Sockets {
  Fd near;
  Fd far;
  explicit Sockets(int type) {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()), 0);
    near = Fd(ends[0]);
    far = Fd(ends[1]);
  }
};

/// One sendmsg(): `groups` of descriptors become one control message each.
inline void send_raw(const Fd& socket, std::span<const std::byte> bytes,
                     const std::vector<std::vector<int>>& groups = {}) {
  std::vector<char> control(4096);
  std::size_t used = 0;
  for (const auto& fds : groups) {
    cmsghdr head = {};
    head.cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    head.cmsg_level = SOL_SOCKET;
    head.cmsg_type = SCM_RIGHTS;
    std::memcpy(control.data() + used, &head, sizeof(head));
    std::memcpy(control.data() + used + CMSG_LEN(0), fds.data(), fds.size() * sizeof(int));
    used += CMSG_SPACE(fds.size() * sizeof(int));
  }
  iovec io = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message = {};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = used == 0 ? nullptr : control.data();
  message.msg_controllen = used;
  ASSERT_EQ(::sendmsg(socket.get(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

/// Asks for a descriptor of the sending process beside each message; Linux 6.5 knows how.
inline bool ask_for_pidfd(const Fd& socket) {
  constexpr int pass_pidfd = 76;  // SO_PASSPIDFD
  const int on = 1;
  return ::setsockopt(socket.get(), SOL_SOCKET, pass_pidfd, &on, sizeof(on)) == 0;
}

/// Whether a process descriptor comes beside bytes that are sent without any.
inline bool brings_pidfd(int type) {
  const Sockets sockets(type);
  if (!ask_for_pidfd(sockets.far)) return false;
  const std::array<std::byte, 1> byte{};
  send_raw(sockets.near, byte);
  alignas(cmsghdr) std::array<char, 256> control{};
  std::array<std::byte, 1> got{};
  iovec io = {got.data(), got.size()};
  msghdr message = {};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(sockets.far.get(), &message, MSG_CMSG_CLOEXEC) != 1) return false;
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_type != 4) return false;  // SCM_PIDFD
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(head), sizeof(fd));
  return static_cast<bool>(Fd(fd));
}

/// What send_tensor() would send, in the open.
struct RawMessage {
  std::vector<std::byte> bytes;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<int> fds;
  explicit RawMessage(const Tensor& tensor) {
    TensorParts parts = *take_apart(tensor);
    bytes = *encode_tensor_message(parts.message);
    buffers = std::move(parts.buffers);
    for (const auto& buffer : buffers)
      fds.push_back(buffer->fd());
  }
  std::span<const std::byte> first(std::size_t size) const { return std::span(bytes).first(size); }
};

}  // namespace halyard
