// SPDX-License-Identifier: Apache-2.0
// The socket and the thread of a node. Requests travel one way on a connection and answers the
// other way; a process that asks connects. A peer that sends malformed packets or does not read its
// answers loses its connection, and nobody waits for it.
#include "ipc/node/node.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/best_effort.h"
#include "base/system/random.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "ipc/node/node_link.h"
#include "ipc/node/node_socket.h"
#include "ipc/node/packet.h"

namespace halyard::ipc {
namespace {

constexpr std::size_t max_links_per_process = 16;  // an honest one has one, or two for a moment
// At most half of the descriptors that this process may have.
std::size_t max_links() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 512;
  return std::clamp<std::size_t>(limit.rlim_cur / 2, 64, 4096);
}

struct ThisNode {
  RankedMutex<LockRank::this_node> mutex;
  std::weak_ptr<Node> node;
};
constinit PerProcess<ThisNode> this_node;

}  // namespace

Result<std::shared_ptr<Node>> Node::get() {
  ThisNode& known = this_node.get();
  const std::lock_guard lock(known.mutex);
  if (auto node = known.node.lock()) return node;
  constexpr int max_tries = 100;
  for (int tries = 1;; ++tries) {
    HALYARD_TRY(const NodeId id, random_value<NodeId>());
    auto made = make(id);
    if (made) known.node = *made;
    // The last process of the namespace has just removed its folders: try again.
    if (made || made.error().code != Errc::not_found || tries == max_tries) return made;
  }
}

Result<std::shared_ptr<Node>> Node::make(const NodeId& id) {
  HALYARD_TRY(Registry registry, Registry::open());
  std::shared_ptr<Node> node(new Node(std::move(registry), id));
  HALYARD_RETURN_IF_ERROR(node->start());
  return node;
}

Node::Node(Registry registry, NodeId id) : registry_(std::move(registry)), id_(id) {}

Status Node::start() {
  HALYARD_TRY(Fd listener,
              listen_at(registry_.nodes() + "/" + to_string(id_), registry_.file_mode()));
  listener_ = ParentFd(std::move(listener));
  epoll_ = ParentFd(Fd(::epoll_create1(EPOLL_CLOEXEC)));
  wake_ = ParentFd(Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (epoll_.get() < 0 || wake_.get() < 0)
    return fail_os("node: a descriptor cannot be created", errno);
  for (const int fd : {listener_.get(), wake_.get()}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return fail_os("node: cannot wait for its sockets", errno);
  }
  threads_start();
  // The thread takes no signals: they are for the program.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Status started;
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& e) {
    started = fail(Errc::exhausted, "node: a thread cannot be started", "{}", e.what());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) ::pthread_setname_np(thread_.native_handle(), "halyard node");
  return started;
}

void Node::look_soon() noexcept {
  if (is_of_this_process()) ::eventfd_write(wake_.get(), 1);
}

Node::~Node() {
  if (!is_of_this_process()) {
    // The thread belongs to the parent.
    if (thread_.joinable()) thread_.detach();
    return;
  }
  if (listener_.get() >= 0) {
    best_effort([&] {
      ::unlink((registry_.nodes() + "/" + to_string(id_)).c_str());
      registry_.remove_if_empty();
    });
  }
  if (!thread_.joinable()) return;
  stops_ = true;
  ::eventfd_write(wake_.get(), 1);
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    may_lock<LockRank::node_calls>();
    thread_.join();
  }
}

void Node::add(const std::string& key, std::shared_ptr<Service> service) {
  const std::lock_guard lock(mutex_);
  services_.emplace(key, std::move(service));
}

void Node::remove(const std::string& key, const Service* service) noexcept {
  std::shared_ptr<Service> removed;
  {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = services_.equal_range(key);
    for (auto it = begin; it != end; ++it) {
      if (it->second.get() != service) continue;
      removed = std::move(it->second);
      services_.erase(it);
      break;
    }
  }
  if (thread_.get_id() != std::this_thread::get_id() && is_of_this_process())
    const std::lock_guard wait(calls_mutex_);
}

std::vector<std::shared_ptr<Service>> Node::services_of(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Service>> found;
  const auto [begin, end] = services_.equal_range(key);
  for (auto it = begin; it != end; ++it)
    found.push_back(it->second);
  return found;
}

void Node::serve() noexcept {
  std::chrono::steady_clock::time_point next_check;
  for (;;) {
    epoll_event events[32];
    const int count = ::epoll_wait(epoll_.get(), events, 32, doubtful_.empty() ? -1 : 1000);
    if (!doubtful_.empty() && std::chrono::steady_clock::now() >= next_check) {
      next_check = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      for (const NodeId& node : std::set(doubtful_))
        check_end(node);
    }
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == wake_.get() && stops_) return;
      // If memory runs out, this request stays without an answer and the loop continues.
      best_effort([&] { serve_one(fd); });
    }
  }
}

void Node::serve_one(int fd) {
  if (fd == listener_.get()) return accept_all();
  if (fd == wake_.get()) {
    eventfd_t count = 0;
    ::eventfd_read(fd, &count);
    return tell_all([](Service& service) { service.look(); });
  }
  std::shared_ptr<Link> link;
  {
    const std::lock_guard lock(mutex_);
    const auto known = links_.find(fd);
    if (known != links_.end()) link = known->second;
  }
  if (!link) return;
  // Answers on an outgoing connection are read by the asking thread.
  const bool goes_on = !link->is_outgoing && answer_one(*link);
  if (!goes_on) drop(fd);
}

void Node::accept_all() {
  for (;;) {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    const auto process = check_peer(socket.get(), registry_);
    if (!process) continue;
    auto link = std::make_shared<Link>();
    const int fd = socket.get();
    link->socket = ParentFd(std::move(socket));
    link->process = *process;
    const std::lock_guard lock(mutex_);
    const auto of_it = std::count_if(links_.begin(), links_.end(), [&](const auto& known) {
      return !known.second->is_outgoing && known.second->process == *process;
    });
    if (links_.size() >= max_links() ||
        (*process != 0 && static_cast<std::size_t>(of_it) >= max_links_per_process))
      continue;
    epoll_event event = {};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) links_[fd] = std::move(link);
  }
}

// Returns false if the connection has ended or must end.
bool Node::answer_one(Link& link) {
  auto packet = receive_packet(link.socket.get(), Deadline(std::chrono::nanoseconds(0)));
  if (!packet && packet.error().code == Errc::timeout) return true;
  if (!packet || !*packet) return false;
  const PacketKind kind = (*packet)->head.kind;
  if (kind != PacketKind::request && kind != PacketKind::notice) return false;
  if (!may_speak_for(link, (*packet)->head.from)) return false;
  if (kind == PacketKind::notice) {
    tell_all([](Service& service) { service.look(); });
    return true;
  }
  Packet& request = **packet;
  return reply_all(link, request.head.number, request.head.request, request.key,
                   std::move(request.body))
      .has_value();
}

// A connection speaks for one process only: the one that listens under the name. Otherwise any
// process that knows a name could release what that process holds.
bool Node::may_speak_for(Link& link, const NodeId& name) {
  {
    const std::lock_guard lock(mutex_);
    if (link.peer) return *link.peer == name;
  }
  const auto back = link_to(name, Deadline(std::chrono::nanoseconds(0)));
  if (!back || (*back)->process != link.process) return false;
  const std::lock_guard lock(mutex_);
  link.peer = name;
  return true;
}

Status Node::reply_all(Link& link, std::uint64_t number, std::uint32_t request,
                       const std::string& key, Parcel body) {
  const Deadline at_once(std::chrono::nanoseconds(0));
  PacketHead head;
  head.from = id_;
  head.number = number;
  head.request = request;
  const std::lock_guard calls(calls_mutex_);
  const auto services = services_of(key);
  for (const auto& service : services) {
    // Each service gets its own descriptors.
    Parcel copy{body.bytes, {}};
    for (const Fd& fd : body.fds) {
      HALYARD_TRY(Fd own, fd.duplicate());
      copy.fds.push_back(std::move(own));
    }
    const Result<Parcel> answer = service->answer(*link.peer, request, std::move(copy));
    head.kind = answer ? PacketKind::answer : PacketKind::failure;
    head.code = answer ? 0 : static_cast<std::uint32_t>(answer.error().code);
    if (answer) {
      HALYARD_RETURN_IF_ERROR(send_all(link.socket.get(), encode(head, {}, answer->bytes),
                                       borrowed(answer->fds), at_once));
    } else {
      const std::string text = answer.error().message();
      HALYARD_RETURN_IF_ERROR(send_all(
          link.socket.get(), encode(head, {}, std::as_bytes(std::span(text))), {}, at_once));
    }
  }
  head.kind = PacketKind::end;
  head.code = services.empty() ? static_cast<std::uint32_t>(Errc::not_found) : 0;
  return send_all(link.socket.get(), encode(head, {}, {}), {}, at_once);
}

void Node::drop(int fd) {
  std::optional<NodeId> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(fd);
    if (link == links_.end()) return;
    gone = link->second->peer;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    if (link->second->is_outgoing && gone) {
      const auto known = outgoing_.find(*gone);
      if (known != outgoing_.end() && known->second == link->second) outgoing_.erase(known);
    }
    links_.erase(link);
  }
  if (gone) check_end(*gone);
}

// A connection ends with its process, but also when one side drops it. What a process holds is
// therefore taken back only if nobody listens under its name any more.
void Node::check_end(const NodeId& node) {
  const auto link = link_to(node, Deadline(std::chrono::nanoseconds(0)));
  if (!link && link.error().code != Errc::not_found) {
    // For example, no descriptor is free for a connection: check again later.
    doubtful_.insert(node);
    return;
  }
  doubtful_.erase(node);
  if (!link) tell_all([&](Service& service) { service.forget(node); });
}

void Node::tell_all(const std::function<void(Service&)>& call) {
  const std::lock_guard calls(calls_mutex_);
  std::set<std::shared_ptr<Service>> services;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, service] : services_)
      services.insert(service);
  }
  for (const auto& service : services)
    call(*service);
}

}  // namespace halyard::ipc
