// SPDX-License-Identifier: Apache-2.0
// Requests go one way on a connection, answers the other way; whoever wants something connects. A
// peer that sends nonsense or takes no answers loses its connection, and nobody waits for it.
#include "ipc/node.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>

#include "base/format_error.h"
#include "base/log_format.h"

namespace halyard::ipc {
namespace {

constexpr std::uint32_t magic = 0x31444E48;  // "HND1"
constexpr std::uint16_t version = 1;
constexpr std::size_t max_packet_bytes = 16384;
constexpr std::size_t max_links_per_process = 16;  // an honest one has one, or two for a moment
constexpr std::size_t max_answers = 1024;

enum class Kind : std::uint16_t { request = 1, answer = 2, failure = 3, end = 4, notice = 5 };

// The beginning of each packet; behind it the key, then the body.
struct PacketHead {
  std::uint32_t magic = ipc::magic;
  std::uint16_t version = ipc::version;
  Kind kind = Kind::request;
  std::uint64_t number = 0;  // of the request; answers repeat it
  NodeId from;
  std::uint32_t request = 0;
  std::uint32_t code = 0;  // of a failure
  std::uint32_t key_bytes = 0;
  std::uint32_t body_bytes = 0;
};
// docs/shared-memory.md has the offsets.
static_assert(sizeof(PacketHead) == 48 && offsetof(PacketHead, magic) == 0 &&
              offsetof(PacketHead, version) == 4 && offsetof(PacketHead, kind) == 6 &&
              offsetof(PacketHead, number) == 8 && offsetof(PacketHead, from) == 16 &&
              offsetof(NodeId, high) == 0 && offsetof(NodeId, low) == 8 &&
              offsetof(PacketHead, request) == 32 && offsetof(PacketHead, code) == 36 &&
              offsetof(PacketHead, key_bytes) == 40 && offsetof(PacketHead, body_bytes) == 44);

struct Packet {
  PacketHead head;
  std::string key;
  Parcel body;
};

std::vector<std::byte> encode(PacketHead head, std::string_view key,
                              std::span<const std::byte> body) {
  head.key_bytes = static_cast<std::uint32_t>(key.size());
  head.body_bytes = static_cast<std::uint32_t>(body.size());
  std::vector<std::byte> bytes(sizeof(head) + key.size() + body.size());
  std::memcpy(bytes.data(), &head, sizeof(head));
  if (!key.empty()) std::memcpy(bytes.data() + sizeof(head), key.data(), key.size());
  if (!body.empty())
    std::memcpy(bytes.data() + sizeof(head) + key.size(), body.data(), body.size());
  return bytes;
}

// None: the connection has ended.
Result<std::optional<Packet>> receive(int socket, const Deadline& deadline) {
  std::vector<std::byte> bytes(max_packet_bytes);
  HALYARD_TRY(ReceivedBytes received, receive_some(socket, bytes, deadline));
  if (received.bytes == 0 || received.reset) return std::optional<Packet>();
  Packet packet;
  if (received.truncated || received.bytes < sizeof(PacketHead))
    return fail(Errc::malformed, "peer: sends a packet of a wrong size", "{}", received.bytes);
  std::memcpy(&packet.head, bytes.data(), sizeof(PacketHead));
  if (packet.head.magic != magic || packet.head.version != version) {
    return fail(Errc::version, "peer: speaks another version of the protocol", "{}, this is {}",
                packet.head.version, version);
  }
  const std::size_t rest = received.bytes - sizeof(PacketHead);
  if (packet.head.key_bytes > rest || packet.head.body_bytes != rest - packet.head.key_bytes)
    return fail(Errc::malformed, "peer: sends a packet whose parts do not add up");
  const char* const key = reinterpret_cast<const char*>(bytes.data() + sizeof(PacketHead));
  packet.key.assign(key, packet.head.key_bytes);
  const auto body = bytes.begin() + sizeof(PacketHead) + packet.head.key_bytes;
  packet.body.bytes.assign(body, body + packet.head.body_bytes);
  for (std::size_t i = 0; i < received.fds.count; ++i)
    packet.body.fds.push_back(std::move(received.fds.fds[i]));
  return std::optional<Packet>(std::move(packet));
}

std::vector<int> borrowed(const std::vector<Fd>& fds) {
  std::vector<int> numbers;
  for (const Fd& fd : fds)
    numbers.push_back(fd.get());
  return numbers;
}

Result<NodeId> random_id() {
  NodeId id;
  if (::getrandom(&id, sizeof(id), 0) != sizeof(id))
    return fail_os("node: the system gives no random number", errno);
  return id;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  return address;
}

Fd new_socket() {
  return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// At most half of the descriptors that this process may have.
std::size_t max_links() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 512;
  return std::clamp<std::size_t>(limit.rlim_cur / 2, 64, 4096);
}

// Held while a socket is on its way to its name, and by who removes those that never got there.
// Nobody waits long for one that is stopped: then it is not held.
Fd lock_nodes(const std::string& folder, const Deadline& deadline) {
  Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  while (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (deadline.is_over()) return {};
    ::poll(nullptr, 0, 1);
  }
  return lock;
}

// Listens under a path that nobody connects to, then moves there: whoever finds a node's file finds
// a socket that listens, or one whose process has ended.
Result<Fd> listen_at(const std::string& path, mode_t mode) {
  Fd socket = new_socket();
  if (!socket) return fail_os("node: no socket", errno);
  std::string fresh = path;
  fresh.back() = '~';
  const Fd lock = lock_nodes(path.substr(0, path.rfind('/')), Deadline(std::chrono::seconds(1)));
  const sockaddr_un address = address_of(fresh);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return fail_os("node: its socket cannot be bound", errno, fresh);
  if (::chmod(fresh.c_str(), mode) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::rename(fresh.c_str(), path.c_str()) != 0) {
    const int os_errno = errno;
    ::unlink(fresh.c_str());
    return fail_os("node: its socket cannot listen", os_errno, path);
  }
  return socket;
}

// The process at the other end, as this one's namespace counts it; 0: it is in none that is seen
// from here. Errors: permission (it may not take part), os.
Result<pid_t> check_peer(int socket, const Registry& registry) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail_os("peer: the system does not say who it is", errno);
  if (registry.is_for_group() || peer.uid == ::geteuid() || peer.uid == 0) return peer.pid;
  return fail(Errc::permission, "peer: belongs to another user", "user {}", peer.uid);
}

bool connect_to(int socket, const std::string& path) {
  const sockaddr_un address = address_of(path);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

struct ThisNode {
  std::mutex mutex;
  std::weak_ptr<Node> node;
};
constinit PerProcess<ThisNode> this_node;

}  // namespace

std::string to_string(const NodeId& id) {
  return fmt::format("{:016x}{:016x}", id.high, id.low);
}

std::optional<NodeId> node_id_from(std::string_view text) noexcept {
  if (text.size() < 32) return std::nullopt;
  NodeId id;
  const char* const begin = text.data();
  const auto high = std::from_chars(begin, begin + 16, id.high, 16);
  const auto low = std::from_chars(begin + 16, begin + 32, id.low, 16);
  if (high.ec != std::errc() || high.ptr != begin + 16 || low.ec != std::errc() ||
      low.ptr != begin + 32)
    return std::nullopt;
  return id;
}

// A connection. Outgoing: this process asks on it, one request at a time.
struct Node::Link {
  ParentFd socket;
  pid_t process = 0;         // at the other end
  std::mutex mutex;          // of what is asked
  std::uint64_t number = 0;  // of the last request
  bool is_outgoing = false;
  std::optional<NodeId> peer;  // unknown until it has asked something
};

Result<std::shared_ptr<Node>> Node::get() {
  ThisNode& known = this_node.get();
  const std::lock_guard lock(known.mutex);
  if (auto node = known.node.lock()) return node;
  constexpr int max_tries = 100;
  for (int tries = 1;; ++tries) {
    HALYARD_TRY(const NodeId id, random_id());
    auto made = make(id);
    if (made) known.node = *made;
    // The last process of the namespace has just removed its folders.
    if (made || made.error().code != Errc::not_found || tries == max_tries) return made;
  }
}

Result<std::shared_ptr<Node>> Node::make(const NodeId& id) {
  HALYARD_TRY(Registry registry, Registry::open());
  std::shared_ptr<Node> node(new Node(std::move(registry), id));
  HALYARD_CHECK(node->start());
  node->clean_registry();
  return node;
}

Node::Node(Registry registry, NodeId id) : registry_(std::move(registry)), id_(id) {}

Status Node::start() {
  HALYARD_TRY(Fd listener,
              listen_at(registry_.nodes() + "/" + to_string(id_), registry_.file_mode()));
  listener_ = ParentFd(std::move(listener));
  epoll_ = ParentFd(Fd(::epoll_create1(EPOLL_CLOEXEC)));
  stop_ = ParentFd(Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (epoll_.get() < 0 || stop_.get() < 0) return fail_os("node: no more descriptors", errno);
  for (const int fd : {listener_.get(), stop_.get()}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return fail_os("node: cannot wait for its sockets", errno);
  }
  threads_start();
  // Signals are the program's own business.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Status started;
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& e) {
    started = fail(Errc::exhausted, "node: the system gives no thread", "{}", e.what());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) ::pthread_setname_np(thread_.native_handle(), "halyard node");
  return started;
}

Node::~Node() {
  if (!is_of_this_process()) {
    // The thread stayed with the parent.
    if (thread_.joinable()) thread_.detach();
    return;
  }
  if (listener_.get() >= 0) {
    ::unlink((registry_.nodes() + "/" + to_string(id_)).c_str());
    registry_.remove_if_empty();
  }
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
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
      if (fd == stop_.get()) return;
      if (fd == listener_.get()) {
        accept_all();
        continue;
      }
      std::shared_ptr<Link> link;
      {
        const std::lock_guard lock(mutex_);
        const auto known = links_.find(fd);
        if (known != links_.end()) link = known->second;
      }
      if (!link) continue;
      // The answers on an outgoing one are read by whoever asked.
      const bool goes_on = !link->is_outgoing && answer_one(*link);
      if (!goes_on) drop(fd);
    }
  }
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

// False: the connection has ended, or must.
bool Node::answer_one(Link& link) {
  auto packet = receive(link.socket.get(), Deadline(std::chrono::nanoseconds(0)));
  if (!packet && packet.error().code == Errc::timeout) return true;
  if (!packet || !*packet) return false;
  const Kind kind = (*packet)->head.kind;
  if (kind != Kind::request && kind != Kind::notice) return false;
  if (!may_speak_for(link, (*packet)->head.from)) return false;
  if (kind == Kind::notice) {
    tell_all([](Service& service) { service.look(); });
    return true;
  }
  Packet& request = **packet;
  return reply_all(link, request.head.number, request.head.request, request.key,
                   std::move(request.body))
      .has_value();
}

// One connection speaks for one process, the one that listens under the name. Otherwise whoever
// knows a name could let go of what that process holds.
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
    // Each one gets descriptors of its own.
    Parcel copy{body.bytes, {}};
    for (const Fd& fd : body.fds) {
      HALYARD_TRY(Fd own, fd.duplicate());
      copy.fds.push_back(std::move(own));
    }
    const Result<Parcel> answer = service->answer(*link.peer, request, std::move(copy));
    head.kind = answer ? Kind::answer : Kind::failure;
    head.code = answer ? 0 : static_cast<std::uint32_t>(answer.error().code);
    if (answer) {
      HALYARD_CHECK(send_all(link.socket.get(), encode(head, {}, answer->bytes),
                             borrowed(answer->fds), at_once));
    } else {
      const std::string text = answer.error().message();
      HALYARD_CHECK(send_all(link.socket.get(), encode(head, {}, std::as_bytes(std::span(text))),
                             {}, at_once));
    }
  }
  head.kind = Kind::end;
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

// A connection ends with its process, but also when one side has lost patience with the other one:
// what a process holds is taken back only when nobody listens under its name any more.
void Node::check_end(const NodeId& node) {
  const auto link = link_to(node, Deadline(std::chrono::nanoseconds(0)));
  if (!link && link.error().code != Errc::not_found) {
    // There is no descriptor for a question, say: it is asked again.
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

Result<std::shared_ptr<Node::Link>> Node::link_to(const NodeId& node, const Deadline& deadline) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = outgoing_.find(node);
    if (known != outgoing_.end()) return known->second;
  }
  const std::string path = registry_.nodes() + "/" + to_string(node);
  Fd socket = new_socket();
  if (!socket) return fail_os("node: no socket", errno);
  while (!connect_to(socket.get(), path)) {
    if (errno == ECONNREFUSED || errno == ENOENT) {
      ::unlink(path.c_str());
      return fail(Errc::not_found, "peer: its process has ended");
    }
    if (errno != EAGAIN && errno != EINTR)
      return fail_os("peer: cannot be connected to", errno, path);
    // It has many that wait for it already.
    if (deadline.is_over()) return fail(Errc::timeout, "peer: does not answer", "{}", path);
    ::poll(nullptr, 0, 1);
  }
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
  if (services.empty()) return fail(Errc::not_found, "peer: nobody there answers", "{}", key);
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
  // A connection may have ended since it was used last, and its process not.
  for (int tries = 0; tries < 2; ++tries) {
    HALYARD_TRY(const std::shared_ptr<Link> link, link_to(node, deadline));
    HALYARD_TRY(auto answers, ask_on(*link, key, request, body, fds, deadline));
    if (answers) return *std::move(answers);
    const std::lock_guard lock(mutex_);
    const auto known = outgoing_.find(node);
    if (known != outgoing_.end() && known->second == link) outgoing_.erase(known);
  }
  return fail(Errc::not_found, "peer: its process has ended");
}

// None: the connection has ended.
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
  HALYARD_CHECK(sent);
  std::vector<Parcel> answers;
  for (;;) {
    auto received = receive(link.socket.get(), deadline);
    // One that sends more than it was asked for may never stop. Its end is noticed by the thread.
    const bool is_too_much = answers.size() > max_answers || (received && deadline.is_over());
    if (is_too_much || (!received && received.error().code != Errc::timeout))
      ::shutdown(link.socket.get(), SHUT_RDWR);
    if (is_too_much) return fail(Errc::timeout, "peer: answers without end");
    if (!received) return std::move(received).error();
    auto& packet = *received;
    if (!packet) return Answers();
    // What came too late for an earlier request.
    if (packet->head.number != head.number) continue;
    switch (packet->head.kind) {
      case Kind::answer:
        answers.push_back(std::move(packet->body));
        break;
      case Kind::failure: {
        const auto& text = packet->body.bytes;
        const auto code = packet->head.code;
        return make_error(code != 0 && code <= 15 ? static_cast<Errc>(code) : Errc::corrupt,
                          "peer: refuses",
                          std::string(reinterpret_cast<const char*>(text.data()), text.size()));
      }
      case Kind::end:
        if (packet->head.code != 0)
          return fail(Errc::not_found, "peer: nobody there answers", "{}", key);
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
  head.kind = Kind::notice;
  head.from = id_;
  // One that has a full queue will look anyway.
  static_cast<void>(send_all((*link)->socket.get(), encode(head, {}, {}), {}, at_once).has_value());
}

std::optional<std::int32_t> Node::pid_of(const NodeId& node) {
  if (node == id_) return ::getpid();
  const auto link = link_to(node, Deadline(std::chrono::milliseconds(100)));
  ucred peer = {};
  socklen_t size = sizeof(peer);
  // Of the process that listens, as it was when it began to: also of one that is stopped.
  if (!link || ::getsockopt((*link)->socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      peer.pid <= 0)
    return std::nullopt;
  return peer.pid;
}

bool Node::is_alive(const NodeId& node) {
  if (node == id_) return true;
  const auto link = link_to(node, Deadline(std::chrono::milliseconds(100)));
  // One that does not answer is stopped, or overloaded, and lives.
  return link || link.error().code != Errc::not_found;
}

// What killed processes have left in pools and topics that nobody has entered since, and sockets of
// those that were not in any.
void Node::clean_registry() noexcept {
  const Deadline at_once(std::chrono::nanoseconds(0));
  const std::string folder = registry_.nodes() + "/";
  {
    const Fd lock = lock_nodes(registry_.nodes(), at_once);
    const auto names = registry_.names("nodes");
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
      if (name.back() == '~' ? !lock : !node_id_from(name)) continue;
      const Fd socket = new_socket();
      if (socket && !connect_to(socket.get(), folder + name) && errno == ECONNREFUSED)
        ::unlink((folder + name).c_str());
    }
  }
  for (const char* const kind : {"pools", "topics"}) {
    const auto names = registry_.names(kind);
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
      auto entry = registry_.enter(kind, name, true, at_once);
      if (!entry) continue;
      const auto members = entry->members();
      if (!members) continue;
      std::size_t living = members->size();
      for (const std::string& member : *members) {
        const auto node = node_id_from(member);
        if (node && ::access((folder + to_string(*node)).c_str(), F_OK) == 0) continue;
        entry->remove(member);
        --living;
      }
      if (living == 0) entry->remove_folder();
    }
  }
}

Result<std::vector<std::string>> Node::living_members(const RegistryEntry& entry) {
  HALYARD_TRY(std::vector<std::string> members, entry.members());
  std::erase_if(members, [&](const std::string& member) {
    const auto node = node_id_from(member);
    if (node && is_alive(*node)) return false;
    entry.remove(member);
    return true;
  });
  return members;
}

}  // namespace halyard::ipc
