// SPDX-License-Identifier: Apache-2.0
// Wakes a process that waits in poll() or epoll, from others that need not trust it.
#pragma once

#include "base/local.h"
#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::ipc {

/// A pair of sockets: one end is waited at, the other one is given to whoever may wake. An eventfd
/// would do, were it not that who has it can make another's write to it wait for ever.
class HALYARD_LOCAL Notifier {
 public:
  static Result<Notifier> create();
  /// To be waited at; readable from notify() until clear().
  int fd() const noexcept { return receiver_.get(); }
  /// To be given to others.
  const Fd& sender() const noexcept { return sender_; }
  void clear() const noexcept;

 private:
  Fd receiver_;
  Fd sender_;
};

/// Wakes whoever waits at the other end. Never waits itself.
void notify(const Fd& sender) noexcept;

}  // namespace halyard::ipc
