// SPDX-License-Identifier: Apache-2.0
// WaitSet: waits for several topics, timers and descriptors at once.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <vector>

#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/topic.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Waits for several topics, timers and descriptors at once. Thread-bound, like its endpoints,
/// which must exist until they are removed.
class WaitSet {
 public:
  /// Errors: exhausted (no descriptor), os.
  static Result<WaitSet> create();
  WaitSet(WaitSet&&) noexcept;
  WaitSet& operator=(WaitSet&&) noexcept;
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;
  ~WaitSet();

  /// `token` is what wait() returns for this entry. The caller chooses it; each entry needs its
  /// own. Errors: exists (the token is taken), os.
  Status add(TopicEndpoint& endpoint, std::uint64_t token);
  template <class T>
  Status add(Topic<T>& topic, std::uint64_t token) {
    return add(topic.endpoint(), token);
  }
  /// Adds a timer that fires every `interval` > 0 from now on. Errors: also invalid_argument.
  Status add_timer(std::chrono::nanoseconds interval, std::uint64_t token);
  /// Adds a borrowed descriptor; wait() returns its token while it is readable. Errors: also
  /// invalid_argument.
  Status add_fd(int fd, std::uint64_t token);
  /// Returns false if there is no such token.
  bool remove(std::uint64_t token);

  /// Returns the tokens of topics that have messages, of timers that have fired since the last
  /// call, and of readable descriptors, in the order in which they were added. Empty: the timeout
  /// has passed. A negative timeout: waits for ever. A set that contains only topics makes no
  /// system call if there is a message. Errors: os.
  Result<std::vector<std::uint64_t>> wait(std::chrono::nanoseconds timeout);

  /// The next message of a topic in the set, for a coroutine: `auto got = co_await
  /// set.next(topic);` If there is none, the coroutine is suspended. The wait() that sees a message
  /// resumes it, on its own thread, before it returns. The result is empty if another receiver of
  /// the endpoint was faster, if the topic is not in the set, or if it was removed from it. A
  /// coroutine may be destroyed while it waits, but the set must not be.
  template <class T>
  auto next(Topic<T>& topic) {
    return NextMessage<T>(*state_, topic);
  }

  struct State;

 private:
  /// A coroutine's place in the set, from its suspension until it resumes or is destroyed.
  class Suspended {
   public:
    Suspended(State& state, TopicEndpoint& endpoint) noexcept
        : state_(state), endpoint_(endpoint) {}
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;
    ~Suspended() {
      if (coroutine_) forget();
    }
    bool await_ready() { return endpoint_.has_message(); }
    /// Returns false if the coroutine continues at once.
    bool await_suspend(std::coroutine_handle<> coroutine);

   private:
    friend class WaitSet;
    void forget() noexcept;
    State& state_;
    TopicEndpoint& endpoint_;
    std::coroutine_handle<> coroutine_;
  };
  template <class T>
  class NextMessage : public Suspended {
   public:
    NextMessage(State& state, Topic<T>& topic) noexcept
        : Suspended(state, topic.endpoint()), topic_(topic) {}
    Received<T> await_resume() { return topic_.recv(); }

   private:
    Topic<T>& topic_;
  };

  explicit WaitSet(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
