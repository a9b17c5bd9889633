// SPDX-License-Identifier: Apache-2.0
// A connection between two nodes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "ipc/node/node.h"

namespace halyard::ipc {

/// On an outgoing connection this process asks, one request at a time.
struct Node::Link {
  ParentFd socket;
  pid_t process = 0;                  // at the other end
  RankedMutex<LockRank::leaf> mutex;  // held for one request and its answers
  std::uint64_t number = 0;           // of the last request
  bool is_outgoing = false;
  std::optional<NodeId> peer;  // unknown until it has sent a request
};

}  // namespace halyard::ipc
