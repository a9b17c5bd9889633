// SPDX-License-Identifier: Apache-2.0
// Links are followed here, one by one, because rename() would replace the first one. The folder
// stays open from the first check to the last call, so that nobody can exchange it in between.
#include "base/system/output_target.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/text/format_error.h"

namespace halyard {
namespace {

constexpr int max_links = 40;  // the limit of Linux
constexpr const char* cannot_create = "file cannot be created";

struct Split {
  std::string folder;
  std::string name;
};

Split split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

bool is_on_procfs(int folder) {
  struct statfs info {};
  return ::fstatfs(folder, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

// Another user may put a link into a shared folder of temporary files, to make us replace another
// file.
bool is_trusted(int folder, const struct stat& link) {
  struct stat around {};
  if (::fstat(folder, &around) != 0) return false;
  const bool is_shared = (around.st_mode & S_ISVTX) != 0 && (around.st_mode & S_IWOTH) != 0;
  return !is_shared || link.st_uid == ::geteuid() || link.st_uid == around.st_uid;
}

Result<std::string> read_link(int folder, const std::string& name, const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(folder, name.c_str(), text.data(), text.size());
  if (size < 0) return fail_os(cannot_create, errno, path);
  if (static_cast<std::size_t>(size) == text.size()) {
    return fail_os(cannot_create, ENAMETOOLONG, path);
  }
  return std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

Result<OutputTarget> find_output_target(const std::string& path) {
  if (path.empty()) return fail(Errc::invalid_argument, "path: must not be empty");
  if (path.find('\0') != std::string::npos) {
    return fail(Errc::invalid_argument, "path: must not hold a zero byte", "{}", path.c_str());
  }
  OutputTarget target;
  std::string rest = path;
  for (int links = 0; links <= max_links; ++links) {
    const Split parts = split(rest);
    const int around = target.folder ? target.folder.get() : AT_FDCWD;
    const int folder = ::openat(around, parts.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return fail_os(cannot_create, errno, path);
    target.folder = Fd(folder);
    target.name = parts.name;
    if (target.name.empty()) return fail_os(cannot_create, EISDIR, path);
    struct stat seen {};
    if (::fstatat(folder, target.name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return target;
      return fail_os(cannot_create, errno, path);
    }
    target.existing = seen;
    if (S_ISDIR(seen.st_mode)) return fail_os(cannot_create, EISDIR, path);
    target.is_direct = !S_ISREG(seen.st_mode);
    // A link in /proc names an open file; its text may not lead to that file.
    if (!S_ISLNK(seen.st_mode) || is_on_procfs(folder)) return target;
    if (!is_trusted(folder, seen)) {
      return fail_os("symbolic link belongs to somebody else and lies in a shared folder", EACCES,
                     path);
    }
    HALYARD_TRY(rest, read_link(folder, target.name, path));
    target.existing.reset();
    target.is_direct = false;
  }
  return fail_os(cannot_create, ELOOP, path);
}

Status check_replaceable(const OutputTarget& target, const std::string& path) {
  struct stat seen {};
  if (::fstatat(target.folder.get(), target.name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0 ||
      S_ISREG(seen.st_mode) || S_ISLNK(seen.st_mode)) {
    return {};
  }
  return fail(Errc::exists, "path is not a file any more", "{}", path);
}

}  // namespace halyard
