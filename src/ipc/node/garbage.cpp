// SPDX-License-Identifier: Apache-2.0
// collect_garbage(): removes what ended processes left in the registry. A process has ended when
// nobody listens at its socket. An entry is changed only under its lock.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "halyard/ipc_info.h"
#include "ipc/node/node.h"
#include "ipc/node/registry.h"

namespace halyard {

using namespace ipc;  // NOLINT: this file is a front of that folder

namespace {

constexpr auto lock_timeout = std::chrono::milliseconds(100);
// A process names its socket microseconds after it makes it, but it may be stopped in between.
constexpr std::time_t unfinished_socket_s = 60;

bool is_unfinished_socket(const std::string& path, const std::string& name) {
  if (name.size() != 32 || name.back() != '~') return false;
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  return std::time(nullptr) - info.st_mtime > unfinished_socket_s;
}

Status collect_sockets(Node& node, GarbageReport& report) {
  const std::string folder = node.registry().nodes();
  HALYARD_TRY(const auto names, node.registry().names("nodes"));
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    const auto id = name.size() == 32 ? node_id_from(name) : std::nullopt;
    if (id) {
      // is_alive() removes the socket of a process that has ended.
      if (!node.is_alive(*id)) ++report.sockets;
    } else if (is_unfinished_socket(path, name) && ::unlink(path.c_str()) == 0) {
      ++report.files;
    }
  }
  return {};
}

Status collect_entries(Node& node, const char* kind, GarbageReport& report) {
  HALYARD_TRY(const auto names, node.registry().names(kind));
  for (const std::string& name : names) {
    auto entry = node.registry().enter(kind, name, true, Deadline(lock_timeout));
    if (!entry) {
      // An entry that is not a folder, or that has been removed meanwhile, needs no work.
      if (entry.error().code == Errc::timeout) ++report.skipped;
      continue;
    }
    HALYARD_TRY(const auto before, entry->members());
    HALYARD_TRY(const auto living, node.living_members(*entry));
    report.members += static_cast<std::uint32_t>(before.size() - living.size());
    // This process holds the lock, so nobody is writing the text.
    if (entry->remove_unfinished_text()) ++report.files;
    if (!living.empty()) continue;
    entry->remove_folder();
    ++report.entries;
  }
  return {};
}

}  // namespace

Result<GarbageReport> collect_garbage() {
  HALYARD_TRY(const auto node, Node::get());
  GarbageReport report;
  HALYARD_RETURN_IF_ERROR(collect_sockets(*node, report));
  HALYARD_RETURN_IF_ERROR(collect_entries(*node, "pools", report));
  HALYARD_RETURN_IF_ERROR(collect_entries(*node, "topics", report));
  return report;
}

}  // namespace halyard
