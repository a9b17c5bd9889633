// SPDX-License-Identifier: Apache-2.0
// Wakes a process that waits in poll() or epoll. The processes that wake it need not trust it.
#pragma once

#include "base/local.h"
#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::ipc {

/// A pair of sockets: the waiting process keeps one end, and gives the other to the processes that
/// may wake it. An eventfd is not used, because a process that has it can make another process's
/// write to it block forever.
class HALYARD_LOCAL Notifier {
 public:
  static Result<Notifier> create();
  /// The descriptor to wait at. Readable from notify() until clear().
  int fd() const noexcept { return receiver_.get(); }
  /// The end for other processes.
  const Fd& sender() const noexcept { return sender_; }
  void clear() const noexcept;

 private:
  Fd receiver_;
  Fd sender_;
};

/// Wakes the process that waits at the other end. Never blocks.
void notify(const Fd& sender) noexcept;

}  // namespace halyard::ipc
