// SPDX-License-Identifier: Apache-2.0
// The sockets that nodes listen at and connect to, under the names of their files.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/system/socket_message.h"
#include "halyard/fd.h"
#include "halyard/result.h"
#include "ipc/node/registry.h"

namespace halyard::ipc {

/// A socket for packets; empty: the system gives none.
Fd new_socket();
/// Held while a socket is on its way to its name, and by who removes those that never got there.
/// Nobody waits long for one that is stopped: then it is empty.
Fd lock_nodes(const std::string& folder, const Deadline& deadline);
/// Listens under a path that nobody connects to, then moves there: whoever finds a node's file
/// finds a socket that listens, or one whose process has ended. Errors: not_found (the folder),
/// exhausted (the file system is full), os.
Result<Fd> listen_at(const std::string& path, mode_t mode);
/// False: errno says why.
bool connect_to(int socket, const std::string& path);
/// The process at the other end, as this one's namespace counts it; 0: it is in none that is seen
/// from here. Errors: permission (it may not take part), os.
Result<pid_t> check_peer(int socket, const Registry& registry);

}  // namespace halyard::ipc
