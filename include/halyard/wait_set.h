// SPDX-License-Identifier: Apache-2.0
// WaitSet: waits for several topics, timers and descriptors at once.
#pragma once

#include <chrono>
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

  struct State;

 private:
  explicit WaitSet(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
