// SPDX-License-Identifier: Apache-2.0
// Folders and files of the registry. Every step is atomic, so a process that is killed leaves
// nothing half made.
#include "ipc/node/registry.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <thread>

#include "base/env.h"
#include "base/text/format_error.h"

namespace halyard::ipc {
namespace {

constexpr std::string_view text_file = "config";
constexpr std::size_t max_text_bytes = 4096;
constexpr mode_t group_folder_mode = 02770;
// The path of a socket has at most 107 bytes; the parts that follow this folder need the rest.
constexpr std::size_t max_shm_dir_bytes = 30;

bool is_name(std::string_view text, std::string_view also) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}

Result<gid_t> find_group(const std::string& name) {
  gid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size()) return number;
  group entry = {};
  group* found = nullptr;
  std::vector<char> room(16384);
  ::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr)
    return fail(Errc::invalid_argument, "HALYARD_SHM_GROUP: no such group", "\"{}\"", name);
  return found->gr_gid;
}

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

// All entries other than "." and "..".
Result<std::vector<std::string>> list(Fd folder, const std::string& path) {
  const std::unique_ptr<DIR, CloseFolder> entries(::fdopendir(folder.get()));
  if (!entries) return fail_file("registry: a folder cannot be listed", path, errno);
  static_cast<void>(folder.release());
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace

Error fail_file(const char* what, const std::string& path, int os_errno) {
  if (os_errno == ENOSPC || os_errno == EDQUOT) {
    return make_error(Errc::exhausted,
                      "the file system of the registry is full: give it more room (Docker: "
                      "--shm-size), or set HALYARD_SHM_DIR to another one",
                      path, os_errno);
  }
  return fail_os(what, os_errno, path);
}

Status check_topic_name(std::string_view name) {
  if (name.empty()) return fail(Errc::invalid_argument, "name: must not be empty");
  if (name.size() > 200)
    return fail(Errc::invalid_argument, "name: must have at most 200 bytes", "{}", name.size());
  if (!is_name(name, "_-./")) {
    return fail(Errc::invalid_argument,
                "name: must consist of letters, digits, \"_\", \"-\", \".\" and \"/\"");
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") {
      return fail(Errc::invalid_argument,
                  "name: its parts between \"/\" must not be empty, \".\" or \"..\"", "\"{}\"",
                  name);
    }
    begin = end + 1;
  }
  return {};
}

std::string folder_name(std::string_view topic) {
  std::string name(topic);
  std::replace(name.begin(), name.end(), '/', '+');
  return name;
}

std::string topic_name(std::string_view folder) {
  std::string name(folder);
  std::replace(name.begin(), name.end(), '+', '/');
  return name;
}

Status Registry::make_folder(const std::string& path) const {
  const bool is_fresh = ::mkdir(path.c_str(), 0700) == 0;
  if (!is_fresh && errno != EEXIST)
    return fail_file("registry: a folder cannot be made", path, errno);
  if (!group_) return check_own_folder(path);
  if (!is_fresh) return check_group_folder(path);
  auto given = give_to_group(path);
  // A folder that keeps its mode would keep the group out.
  if (!given) ::rmdir(path.c_str());
  return given;
}

Status Registry::check_own_folder(const std::string& path) const {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat seen = {};
  if (!folder || ::fstat(folder.get(), &seen) != 0)
    return fail_file("registry: its folder cannot be opened", path, errno);
  if (seen.st_uid == ::geteuid() && (seen.st_mode & 077) == 0) return {};
  return fail(Errc::permission, "registry: its folder must be this user's, with mode 0700",
              "{}: owner {}, mode {:o}", path, seen.st_uid, seen.st_mode & 07777);
}

Status Registry::give_to_group(const std::string& path) const {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder && ::fchown(folder.get(), static_cast<uid_t>(-1), *group_) == 0 &&
      ::fchmod(folder.get(), group_folder_mode) == 0)
    return {};
  return fail_file("registry: its folder cannot be given to the group", path, errno);
}

Status Registry::check_group_folder(const std::string& path) const {
  const Deadline deadline(std::chrono::milliseconds(500));
  for (;;) {
    struct stat seen = {};
    if (::lstat(path.c_str(), &seen) != 0)
      return fail_file("registry: its folder cannot be opened", path, errno);
    const mode_t mode = seen.st_mode & 07777;
    if (S_ISDIR(seen.st_mode) && seen.st_gid == *group_ && mode == group_folder_mode) return {};
    // Not yet given to the group: either this user's process was killed before that, or another
    // user is making the folder right now.
    const bool is_half_made = S_ISDIR(seen.st_mode) && (mode & 0777) == 0700;
    if (is_half_made && seen.st_uid == ::geteuid()) return give_to_group(path);
    if (!is_half_made || deadline.is_over()) {
      return fail(Errc::permission, "registry: its folder must be the group's, with mode 2770",
                  "{}: group {}, mode {:o}", path, seen.st_gid, mode);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<Registry> Registry::open() {
  const Environment env = read_environment();
  Registry registry;
  const std::string base = env.shm_dir.value_or("/dev/shm");
  if (base.front() != '/' || base.size() > max_shm_dir_bytes) {
    return fail(Errc::invalid_argument,
                "HALYARD_SHM_DIR: must be an absolute path of at most 30 bytes", "\"{}\"", base);
  }
  const std::string name = env.namespace_name.value_or("default");
  if (name.size() > 16 || !is_name(name, "_-")) {
    return fail(Errc::invalid_argument,
                "HALYARD_NAMESPACE: must be letters, digits, \"_\" and \"-\", at most 16",
                "{} bytes", name.size());
  }
  if (env.shm_group) {
    HALYARD_TRY(registry.group_, find_group(*env.shm_group));
    registry.path_ = fmt::format("{}/halyard-g{}", base, *registry.group_);
  } else {
    registry.path_ = fmt::format("{}/halyard-{}", base, ::geteuid());
  }
  HALYARD_RETURN_IF_ERROR(registry.make_folder(registry.path_));
  registry.path_ += "/" + name;
  HALYARD_RETURN_IF_ERROR(registry.make_folder(registry.path_));
  for (const char* kind : {"/nodes", "/pools", "/topics"})
    HALYARD_RETURN_IF_ERROR(registry.make_folder(registry.path_ + kind));
  return registry;
}

Result<RegistryEntry> Registry::enter(std::string_view kind, std::string_view name, bool must_exist,
                                      const Deadline& deadline) const {
  const std::string path = fmt::format("{}/{}/{}", path_, kind, name);
  for (;;) {
    if (!must_exist) {
      auto made = make_folder(path);
      // The last member has removed the folder in between.
      if (!made && made.error().code == Errc::not_found && !deadline.is_over()) continue;
      HALYARD_RETURN_IF_ERROR(std::move(made));
    }
    Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder && errno == ENOENT && !must_exist) continue;  // removed just now
    if (!folder) return fail_file("registry: no such entry", path, errno);
    // The wait has a limit: a process that is stopped while it holds the lock would block all
    // others.
    while (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR)
        return fail_file("registry: an entry cannot be locked", path, errno);
      if (deadline.is_over())
        return fail(Errc::timeout, "registry: another process holds the lock of the entry", "{}",
                    path);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    struct stat locked = {};
    struct stat current = {};
    const bool is_current = ::fstat(folder.get(), &locked) == 0 &&
                            ::lstat(path.c_str(), &current) == 0 && locked.st_ino == current.st_ino;
    if (is_current) return RegistryEntry(std::move(folder), path, file_mode());
    if (must_exist) return fail_file("registry: no such entry", path, ENOENT);
  }
}

void Registry::leave(std::string_view kind, std::string_view name, const std::string& member,
                     const Deadline& deadline) const {
  auto entry = enter(kind, name, true, deadline);
  if (!entry) return;
  entry->remove(member);
  const auto left = entry->members();
  if (left && left->empty()) entry->remove_folder();
}

void Registry::remove_if_empty() const {
  // A living node keeps this folder, and with it all others.
  if (::rmdir(nodes().c_str()) != 0) return;
  ::rmdir((path_ + "/pools").c_str());
  ::rmdir((path_ + "/topics").c_str());
  ::rmdir(path_.c_str());
}

Result<RegistryEntry> Registry::look(std::string_view kind, std::string_view name) const {
  std::string path = fmt::format("{}/{}/{}", path_, kind, name);
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return fail_file("registry: no such entry", path, errno);
  return RegistryEntry(std::move(folder), std::move(path), file_mode());
}

Result<std::vector<std::string>> Registry::names(std::string_view kind) const {
  const std::string path = fmt::format("{}/{}", path_, kind);
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return fail_file("registry: a folder cannot be listed", path, errno);
  return list(std::move(folder), path);
}

Result<std::vector<std::string>> RegistryEntry::members() const {
  Fd folder(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail_file("registry: a folder cannot be listed", path_, errno);
  HALYARD_TRY(auto names, list(std::move(folder), path_));
  std::erase_if(names, [](const std::string& name) { return name.rfind(text_file, 0) == 0; });
  return names;
}

// Sets the mode by fchmod(), since the umask of the process does not apply to that.
Fd RegistryEntry::create_file(const std::string& name) const {
  Fd file(::openat(folder_.get(), name.c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode_));
  if (file && ::fchmod(file.get(), file_mode_) != 0) return {};
  return file;
}

Status RegistryEntry::add(const std::string& member) const {
  const Fd file = create_file(member);
  if (!file) return fail_file("registry: a member cannot be added", path_ + "/" + member, errno);
  return {};
}

void RegistryEntry::remove(const std::string& member) const noexcept {
  ::unlinkat(folder_.get(), member.c_str(), 0);
}

Result<std::optional<std::string>> RegistryEntry::text() const {
  const Fd file(::openat(folder_.get(), text_file.data(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::optional<std::string>();
  if (!file) return fail_file("registry: an entry's text cannot be read", path_, errno);
  std::string text(max_text_bytes, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return fail_file("registry: an entry's text cannot be read", path_, errno);
  text.resize(static_cast<std::size_t>(got));
  return std::optional<std::string>(std::move(text));
}

Status RegistryEntry::set_text(std::string_view text) const {
  const std::string fresh = std::string(text_file) + ".new";
  // A process of another user in the group may have left one.
  static_cast<void>(remove_unfinished_text());
  const Fd file = create_file(fresh);
  if (!file) return fail_file("registry: an entry's text cannot be written", path_, errno);
  const ssize_t put = ::write(file.get(), text.data(), text.size());
  if (put < 0 || static_cast<std::size_t>(put) != text.size() ||
      ::renameat(folder_.get(), fresh.c_str(), folder_.get(), text_file.data()) != 0)
    return fail_file("registry: an entry's text cannot be written", path_,
                     put < 0 || errno != 0 ? errno : ENOSPC);
  return {};
}

bool RegistryEntry::remove_unfinished_text() const noexcept {
  const std::string fresh = std::string(text_file) + ".new";
  return ::unlinkat(folder_.get(), fresh.c_str(), 0) == 0;
}

void RegistryEntry::remove_folder() noexcept {
  remove(std::string(text_file));
  remove(std::string(text_file) + ".new");
  ::rmdir(path_.c_str());
}

}  // namespace halyard::ipc
