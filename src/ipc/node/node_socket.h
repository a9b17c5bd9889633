// SPDX-License-Identifier: Apache-2.0
// The sockets that nodes listen at and connect to, named by their files.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/system/socket_message.h"
#include "halyard/fd.h"
#include "halyard/result.h"
#include "ipc/node/registry.h"

namespace halyard::ipc {

/// A socket for packets; empty if the system gives none.
Fd new_socket();
/// A lock of the folder. It is held while a new socket is renamed to its final name, and while
/// sockets that never got theirs are removed. Empty if the lock is not free before `deadline`, for
/// example because its holder is stopped.
Fd lock_nodes(const std::string& folder, const Deadline& deadline);
/// Listens under a temporary path and then renames it to `path`. Whoever finds a node's file
/// therefore finds a socket that listens, or one whose process has ended. Errors: not_found (the
/// folder), exhausted (the file system is full), os.
Result<Fd> listen_at(const std::string& path, mode_t mode);
/// Returns false on failure and sets errno.
bool connect_to(int socket, const std::string& path);
/// The id of the process at the other end, in this process's PID namespace; 0 if it is not visible
/// from here. Errors: permission (the process may not take part), os.
Result<pid_t> check_peer(int socket, const Registry& registry);

}  // namespace halyard::ipc
