// SPDX-License-Identifier: Apache-2.0
// Where processes find each other: a folder of small files. A pool, a topic is a folder in it, with
// a file for each member; its text says what all members agreed on. No data goes through here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/local.h"
#include "base/system/socket_message.h"
#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::ipc {

/// A call on a file of the registry that failed; where no room is left, what to do about it.
Error fail_file(const char* what, const std::string& path, int os_errno);

/// A folder of the registry, locked until the end of this object: one process at a time enters a
/// pool or a topic. The system lifts the lock of a process that is killed. Move-only.
class HALYARD_LOCAL RegistryEntry {
 public:
  /// Names of the members' files.
  Result<std::vector<std::string>> members() const;
  Status add(const std::string& member) const;
  void remove(const std::string& member) const noexcept;
  /// None: nobody has agreed on anything yet.
  Result<std::optional<std::string>> text() const;
  /// Replaces it at once and wholly.
  Status set_text(std::string_view text) const;
  /// Removes what a process that ended in set_text() left. True: there was something.
  bool remove_unfinished_text() const noexcept;
  /// Removes the folder, which has no members any more.
  void remove_folder() noexcept;

 private:
  friend class Registry;
  Fd create_file(const std::string& name) const;
  RegistryEntry(Fd folder, std::string path, mode_t file_mode)
      : folder_(std::move(folder)), path_(std::move(path)), file_mode_(file_mode) {}
  Fd folder_;
  std::string path_;
  mode_t file_mode_;
};

/// The registry of a user, or of a group of users, and of a namespace: docs/env.md. Thread-safe.
class HALYARD_LOCAL Registry {
 public:
  /// Makes its folders where they are missing. Errors: invalid_argument (a variable), permission
  /// (the folder is not this user's own), exhausted (the file system is full), os.
  static Result<Registry> open();

  const std::string& path() const noexcept { return path_; }
  std::string nodes() const { return path_ + "/nodes"; }
  /// Whether processes of other users may take part.
  bool is_for_group() const noexcept { return group_.has_value(); }
  mode_t file_mode() const noexcept { return is_for_group() ? 0660 : 0600; }

  /// The folder `kind`/`name`, made where it is missing unless `must_exist`. Errors: timeout
  /// (another process stays in it), not_found, exhausted, os.
  Result<RegistryEntry> enter(std::string_view kind, std::string_view name, bool must_exist,
                              const Deadline& deadline) const;
  /// Removes a member, and the folder with the last one.
  void leave(std::string_view kind, std::string_view name, const std::string& member,
             const Deadline& deadline) const;
  /// Removes its own folders where no node is left.
  void remove_if_empty() const;
  /// The same without the lock, for members() and text() alone. Errors: not_found, os.
  Result<RegistryEntry> look(std::string_view kind, std::string_view name) const;
  /// Names of the folders of a kind.
  Result<std::vector<std::string>> names(std::string_view kind) const;

 private:
  Status make_folder(const std::string& path) const;
  Status check_own_folder(const std::string& path) const;
  Status give_to_group(const std::string& path) const;
  Status check_group_folder(const std::string& path) const;
  std::string path_;
  std::optional<gid_t> group_;
};

/// Topics: 1..200 bytes of a-z, A-Z, 0-9, "_", "-", "." and "/", no part empty, "." or "..".
/// Errors: invalid_argument.
Status check_topic_name(std::string_view name);
/// The name as that of one folder, and back.
std::string folder_name(std::string_view topic);
std::string topic_name(std::string_view folder);

}  // namespace halyard::ipc
