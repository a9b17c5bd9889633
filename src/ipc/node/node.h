// SPDX-License-Identifier: Apache-2.0
// The part of this process that other processes talk to: a socket in the registry, and a thread
// that answers on it. The system closes the socket when the process ends, in whatever way it ends.
// Only descriptors of memory travel through it, no frames and messages.
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/local.h"
#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "base/system/socket_message.h"
#include "halyard/result.h"
#include "ipc/node/parcel.h"
#include "ipc/node/registry.h"

namespace halyard::ipc {

/// How long a process that opens a pool or joins a topic waits for the members.
inline constexpr auto answer_timeout = std::chrono::milliseconds(2000);

/// What a process answers for: its part of a pool, an endpoint of a topic.
class HALYARD_LOCAL Service {
 public:
  virtual ~Service() = default;
  /// Called on the node's thread, or on the asking thread if that is in the same process. `body`
  /// comes from another process and is not to be trusted.
  virtual Result<Parcel> answer(const NodeId& from, std::uint32_t request, Parcel body) = 0;
  /// The process has ended, or does not take part any more. Called on the node's thread.
  virtual void forget(const NodeId& gone) = 0;
  /// Another process has called notify(), or this one look_soon(): called on the node's thread. Or
  /// this process has called notify() for itself: called on that thread.
  virtual void look() {}
};

/// Thread-safe. One per process: made with the first pool or topic, destroyed with the last.
class HALYARD_LOCAL Node {
 public:
  /// This process's node. Errors: those of Registry::open(), exhausted (no thread, no descriptor),
  /// os.
  static Result<std::shared_ptr<Node>> get();
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const NodeId& id() const noexcept { return id_; }
  const Registry& registry() const noexcept { return registry_; }
  /// False in a child of fork().
  bool is_of_this_process() const noexcept { return process_ == fork_generation(); }

  /// Starts to answer requests for `key`; several services may answer for one key. Ends with
  /// remove().
  void add(const std::string& key, std::shared_ptr<Service> service);
  /// When this returns, no answer() or forget() of the service runs any more, unless remove() was
  /// called from there.
  void remove(const std::string& key, const Service* service) noexcept;

  /// Asks all services of a process for `key`, and waits for their answers. Errors: not_found (the
  /// process has ended, or no service there answers for the key), timeout, those of the answers.
  Result<std::vector<Parcel>> ask(const NodeId& node, const std::string& key, std::uint32_t request,
                                  std::span<const std::byte> body, std::span<const int> fds,
                                  const Deadline& deadline);
  template <class T>
  Result<std::vector<Parcel>> ask(const NodeId& node, const std::string& key, std::uint32_t request,
                                  const T& body, std::span<const int> fds,
                                  const Deadline& deadline) {
    static_assert(std::is_trivially_copyable_v<T>);
    return ask(node, key, request, std::as_bytes(std::span(&body, 1)), fds, deadline);
  }
  /// Makes this process's thread call look() of all services. Does not wait.
  void look_soon() noexcept;
  /// Makes the services of another process look for changes. Does not wait.
  void notify(const NodeId& node) noexcept;
  /// The process id, if the kernel reports it: not across PID namespaces.
  std::optional<std::int32_t> pid_of(const NodeId& node);
  /// Whether the process lives. Connects to it if needed, so that its end is reported to all
  /// services.
  bool is_alive(const NodeId& node);

  /// Removes what killed processes have left in the registry, at the first call. For processes that
  /// take part; observers leave it to collect_garbage(), which reports what it removes.
  void clean_registry() noexcept;
  /// For RegistryEntry: the members whose process lives, as names of their files, which begin with
  /// the id of a node. Removes the members of ended processes.
  Result<std::vector<std::string>> living_members(const RegistryEntry& entry);

 private:
  struct Link;
  explicit Node(Registry registry, NodeId id);
  static Result<std::shared_ptr<Node>> make(const NodeId& id);
  Status start();
  void serve() noexcept;
  void serve_one(int fd);
  void accept_all();
  bool answer_one(Link& link);
  Status reply_all(Link& link, std::uint64_t number, std::uint32_t request, const std::string& key,
                   Parcel body);
  bool may_speak_for(Link& link, const NodeId& name);
  void drop(int fd);
  void check_end(const NodeId& node);
  Result<std::shared_ptr<Link>> link_to(const NodeId& node, const Deadline& deadline);
  void forget_link(const NodeId& node, const std::shared_ptr<Link>& link);
  Result<std::optional<std::vector<Parcel>>> ask_on(Link& link, const std::string& key,
                                                    std::uint32_t request,
                                                    std::span<const std::byte> body,
                                                    std::span<const int> fds,
                                                    const Deadline& deadline);
  Result<std::vector<Parcel>> ask_here(const std::string& key, std::uint32_t request,
                                       std::span<const std::byte> body, std::span<const int> fds);
  std::vector<std::shared_ptr<Service>> services_of(const std::string& key);
  void tell_all(const std::function<void(Service&)>& call);

  Registry registry_;
  NodeId id_;
  std::uint32_t process_ = fork_generation();
  ParentFd listener_;
  ParentFd epoll_;
  ParentFd wake_;  ///< used by the thread
  std::atomic<bool> stops_{false};
  std::atomic<bool> has_cleaned_{false};
  std::thread thread_;
  std::set<NodeId> doubtful_;          ///< used by the thread: processes that may have ended
  RankedMutex<LockRank::leaf> mutex_;  ///< protects all below
  std::multimap<std::string, std::shared_ptr<Service>> services_;
  std::map<int, std::shared_ptr<Link>> links_;        ///< all connections, by descriptor
  std::map<NodeId, std::shared_ptr<Link>> outgoing_;  ///< connections that this process asks on
  /// Held while services run, except in ask_here().
  RankedMutex<LockRank::node_calls> calls_mutex_;
};

}  // namespace halyard::ipc
