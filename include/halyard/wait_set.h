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

/// Waits for several topics, timers and descriptors at once. Thread-bound, as what is in it; its
/// endpoints must stay until they are removed.
class WaitSet {
 public:
  /// Errors: exhausted (no descriptor), os.
  static Result<WaitSet> create();
  WaitSet(WaitSet&&) noexcept;
  WaitSet& operator=(WaitSet&&) noexcept;
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;
  ~WaitSet();

  /// `token` is what wait() says of it, the caller's own choice, one for each. Errors: exists (the
  /// token is taken), os.
  Status add(TopicEndpoint& endpoint, std::uint64_t token);
  template <class T>
  Status add(Topic<T>& topic, std::uint64_t token) {
    return add(topic.endpoint(), token);
  }
  /// Every `interval` from now on, which is more than 0. Errors: also invalid_argument.
  Status add_timer(std::chrono::nanoseconds interval, std::uint64_t token);
  /// A borrowed descriptor, while it is readable. Errors: also invalid_argument.
  Status add_fd(int fd, std::uint64_t token);
  /// False: there is no such token.
  bool remove(std::uint64_t token);

  /// The tokens of topics that have messages, of timers that have run out since the last call, and
  /// of readable descriptors, in the order of their adding. Empty: the time is over. Negative: for
  /// ever. A set of topics alone makes no system call where a message is there. Errors: os.
  Result<std::vector<std::uint64_t>> wait(std::chrono::nanoseconds timeout);

  /// The next message of a topic in the set, for a coroutine: `auto got = co_await
  /// set.next(topic);` Where there is none the coroutine is suspended, and the wait() that sees one
  /// resumes it, on its thread, before it returns. Empty: another receiver of the endpoint was
  /// faster, the topic is not in the set, or it was removed from it. A coroutine may be destroyed
  /// while it waits, the set must not be.
  template <class T>
  auto next(Topic<T>& topic) {
    return NextMessage<T>(*state_, topic);
  }

  struct State;

 private:
  /// A coroutine's place in the set, from its suspension until it goes on or is destroyed.
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
    /// False: goes on at once.
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
