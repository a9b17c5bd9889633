// SPDX-License-Identifier: Apache-2.0
// Nodes and the registry: finds the living members, and removes what ended processes have left.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "ipc/node/node.h"
#include "ipc/node/node_socket.h"

namespace halyard::ipc {

// Removes what killed processes have left in pools and topics that nobody has entered since, and
// the sockets of killed processes.
void Node::clean_registry() noexcept {
  if (has_cleaned_.exchange(true, std::memory_order_relaxed)) return;
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
