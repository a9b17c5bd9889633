// SPDX-License-Identifier: Apache-2.0
// Opens device nodes, and explains a refusal.
#include "tensor/memory/dma_node.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/text/format_error.h"

namespace halyard {
namespace {

// A group that is unknown, or whose entry is too long for the buffer, is named by its number.
std::string group_name(gid_t gid) {
  std::array<char, 16384> room;
  struct group entry = {};
  struct group* found = nullptr;
  if (::getgrgid_r(gid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    return found->gr_name;
  }
  return fmt::format("{}", gid);
}

std::string explain_refusal(const std::string& path, int os_errno) {
  struct stat status = {};
  if (os_errno != EACCES || ::stat(path.c_str(), &status) != 0) {
    return fmt::format("{}: a container or security policy denies access", path);
  }
  const std::string group = group_name(status.st_gid);
  const unsigned mode = status.st_mode & 07777U;
  if ((mode & 060U) == 060U) {
    return fmt::format("{}: for group {} (mode {:04o}): add the user to it", path, group, mode);
  }
  return fmt::format("{}: mode {:04o}, group {}: let a udev rule open it to a group", path, mode,
                     group);
}

}  // namespace

Result<Fd> open_node(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (fd) return fd;
  const int os_errno = errno;
  switch (errc_from_errno(os_errno)) {
    case Errc::not_found:
      return fail_os("there is no such node", os_errno, path);
    case Errc::permission:
      return fail_os("permission refused", os_errno, explain_refusal(path, os_errno));
    default:
      return fail_os("cannot be opened", os_errno, path);
  }
}

}  // namespace halyard
