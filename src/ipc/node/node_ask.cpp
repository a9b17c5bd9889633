// SPDX-License-Identifier: Apache-2.0
// Nodes: asking other processes. A request is sent on a connection that this process made.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/text/format_error.h"
#include "ipc/node/node.h"
#include "ipc/node/node_link.h"
#include "ipc/node/node_socket.h"
#include "ipc/node/packet.h"

namespace halyard::ipc {
namespace {

constexpr std::size_t max_answers = 1024;

bool has_ended(int socket) {
  pollfd poll = {socket, POLLRDHUP, 0};
  return ::poll(&poll, 1, 0) > 0;
}

// Connects to the socket of another process. Errors: not_found (the process has ended; its socket
// is removed), timeout, os.
Result<Fd> connect_to_peer(const std::string& path, const Deadline& deadline) {
  Fd socket = new_socket();
  if (!socket) return fail_os("node: a socket cannot be created", errno);
  while (!connect_to(socket.get(), path)) {
    if (errno == ECONNREFUSED || errno == ENOENT) {
      ::unlink(path.c_str());
      return fail(Errc::not_found, "peer: its process has ended");
    }
    if (errno != EAGAIN && errno != EINTR)
      return fail_os("peer: cannot be connected to", errno, path);
    // Its queue of connections is full.
    if (deadline.is_over()) return fail(Errc::timeout, "peer: does not answer", "{}", path);
    ::poll(nullptr, 0, 1);
  }
  return socket;
}

// The error that a packet of kind `failure` reports.
Error refusal_of(const Packet& packet) {
  const auto& text = packet.body.bytes;
  const auto code = packet.head.code;
  return make_error(code != 0 && code <= 15 ? static_cast<Errc>(code) : Errc::corrupt,
                    "peer: refuses the request",
                    std::string(reinterpret_cast<const char*>(text.data()), text.size()));
}

}  // namespace

Result<std::shared_ptr<Node::Link>> Node::link_to(const NodeId& node, const Deadline& deadline) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = outgoing_.find(node);
    if (known != outgoing_.end()) return known->second;
  }
  const std::string path = registry_.nodes() + "/" + to_string(node);
  HALYARD_TRY(Fd socket, connect_to_peer(path, deadline));
  HALYARD_TRY(const pid_t process, check_peer(socket.get(), registry_));
  auto link = std::make_shared<Link>();
  link->process = process;
  const int fd = socket.get();
  link->socket = ParentFd(std::move(socket));
  link->is_outgoing = true;
  link->peer = node;
  const std::lock_guard lock(mutex_);
  const auto [place, is_first] = outgoing_.emplace(node, link);
  if (!is_first) return place->second;  // another thread was faster
  links_[fd] = link;
  epoll_event event = {};
  event.events = EPOLLRDHUP;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    links_.erase(fd);
    outgoing_.erase(place);
    return fail_os("node: cannot wait for its sockets", errno);
  }
  return link;
}

Result<std::vector<Parcel>> Node::ask_here(const std::string& key, std::uint32_t request,
                                           std::span<const std::byte> body,
                                           std::span<const int> fds) {
  std::vector<Parcel> answers;
  const auto services = services_of(key);
  if (services.empty())
    return fail(Errc::not_found, "peer: no service answers for the key", "{}", key);
  for (const auto& service : services) {
    Parcel copy{{body.begin(), body.end()}, {}};
    for (const int fd : fds) {
      HALYARD_TRY(Fd own, Fd::duplicate(fd));
      copy.fds.push_back(std::move(own));
    }
    HALYARD_TRY(Parcel answer, service->answer(id_, request, std::move(copy)));
    answers.push_back(std::move(answer));
  }
  return answers;
}

Result<std::vector<Parcel>> Node::ask(const NodeId& node, const std::string& key,
                                      std::uint32_t request, std::span<const std::byte> body,
                                      std::span<const int> fds, const Deadline& deadline) {
  if (!is_of_this_process())
    return fail(Errc::unsupported, "node: belongs to the process that forked this one");
  if (node == id_) return ask_here(key, request, body, fds);
  // The connection may have ended since its last use although the process lives: try twice.
  for (int tries = 0; tries < 2; ++tries) {
    HALYARD_TRY(const std::shared_ptr<Link> link, link_to(node, deadline));
    HALYARD_TRY(auto answers, ask_on(*link, key, request, body, fds, deadline));
    if (answers) return *std::move(answers);
    forget_link(node, link);
  }
  return fail(Errc::not_found, "peer: its process has ended");
}

// Empty if the connection has ended.
Result<std::optional<std::vector<Parcel>>> Node::ask_on(Link& link, const std::string& key,
                                                        std::uint32_t request,
                                                        std::span<const std::byte> body,
                                                        std::span<const int> fds,
                                                        const Deadline& deadline) {
  using Answers = std::optional<std::vector<Parcel>>;
  const std::lock_guard lock(link.mutex);
  PacketHead head;
  head.from = id_;
  head.number = ++link.number;
  head.request = request;
  const Status sent = send_all(link.socket.get(), encode(head, key, body), fds, deadline);
  if (!sent && sent.error().code == Errc::os) return Answers();
  HALYARD_RETURN_IF_ERROR(sent);
  std::vector<Parcel> answers;
  for (;;) {
    auto received = receive_packet(link.socket.get(), deadline);
    // A peer that sends more than it was asked for may never stop. The thread notices the end of
    // the connection.
    const bool is_too_much = answers.size() > max_answers || (received && deadline.is_over());
    if (is_too_much || (!received && received.error().code != Errc::timeout))
      ::shutdown(link.socket.get(), SHUT_RDWR);
    if (is_too_much) return fail(Errc::timeout, "peer: does not stop sending answers");
    if (!received) return std::move(received).error();
    auto& packet = *received;
    if (!packet) return Answers();
    // An answer that came too late for an earlier request.
    if (packet->head.number != head.number) continue;
    switch (packet->head.kind) {
      case PacketKind::answer:
        answers.push_back(std::move(packet->body));
        break;
      case PacketKind::failure:
        return refusal_of(*packet);
      case PacketKind::end:
        if (packet->head.code != 0)
          return fail(Errc::not_found, "peer: no service answers for the key", "{}", key);
        return Answers(std::move(answers));
      default:
        return fail(Errc::malformed, "peer: sends a packet of an unknown kind");
    }
  }
}

void Node::notify(const NodeId& node) noexcept {
  const Deadline at_once(std::chrono::nanoseconds(0));
  if (node == id_ || !is_of_this_process()) {
    if (is_of_this_process()) tell_all([](Service& service) { service.look(); });
    return;
  }
  const auto link = link_to(node, at_once);
  if (!link) return;
  PacketHead head;
  head.kind = PacketKind::notice;
  head.from = id_;
  // A peer whose queue is full will look anyway.
  static_cast<void>(send_all((*link)->socket.get(), encode(head, {}, {}), {}, at_once).has_value());
}

std::optional<std::int32_t> Node::pid_of(const NodeId& node) {
  if (node == id_) return ::getpid();
  const auto link = link_to(node, Deadline(std::chrono::milliseconds(100)));
  ucred peer = {};
  socklen_t size = sizeof(peer);
  // The id of the process that listens, as it was when listen() was called. It is known for a
  // stopped process too.
  if (!link || ::getsockopt((*link)->socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      peer.pid <= 0)
    return std::nullopt;
  return peer.pid;
}

void Node::forget_link(const NodeId& node, const std::shared_ptr<Link>& link) {
  const std::lock_guard lock(mutex_);
  const auto known = outgoing_.find(node);
  if (known != outgoing_.end() && known->second == link) outgoing_.erase(known);
}

bool Node::is_alive(const NodeId& node) {
  if (node == id_) return true;
  const Deadline soon(std::chrono::milliseconds(100));
  auto link = link_to(node, soon);
  // A connection made earlier proves nothing: the thread may not have noticed its end yet.
  if (link && has_ended((*link)->socket.get())) {
    forget_link(node, *link);
    link = link_to(node, soon);
  }
  // A process that does not answer is stopped or overloaded, but lives.
  return link || link.error().code != Errc::not_found;
}

}  // namespace halyard::ipc
