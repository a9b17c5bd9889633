// SPDX-License-Identifier: Apache-2.0
// The folder of small files where processes find each other. Each pool and each topic is a folder
// in it, with one file per member and a text that holds what all members agreed on. No data passes
// through it.
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

/// The error of a failed call on a file of the registry. If the file system is full, the message
/// names the remedy.
Error fail_file(const char* what, const std::string& path, int os_errno);

/// A folder of the registry, locked for the life of this object: one process at a time enters a
/// pool or a topic. The system releases the lock of a process that is killed. Move-only.
class HALYARD_LOCAL RegistryEntry {
 public:
  /// Names of the members' files.
  Result<std::vector<std::string>> members() const;
  Status add(const std::string& member) const;
  void remove(const std::string& member) const noexcept;
  /// Empty if no member has written a text yet.
  Result<std::optional<std::string>> text() const;
  /// Replaces the text atomically.
  Status set_text(std::string_view text) const;
  /// Removes what a process that ended in set_text() left. Returns true if there was something.
  bool remove_unfinished_text() const noexcept;
  /// Removes the folder, which must have no members.
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

/// The registry of one user, or of a group of users, in one namespace: docs/env.md. Thread-safe.
class HALYARD_LOCAL Registry {
 public:
  /// Makes its folders if they are missing. Errors: invalid_argument (an environment variable),
  /// permission (the folder does not belong to this user), exhausted (the file system is full), os.
  static Result<Registry> open();

  const std::string& path() const noexcept { return path_; }
  std::string nodes() const { return path_ + "/nodes"; }
  /// Whether processes of other users may take part.
  bool is_for_group() const noexcept { return group_.has_value(); }
  mode_t file_mode() const noexcept { return is_for_group() ? 0660 : 0600; }

  /// The folder `kind`/`name`; makes it if it is missing, unless `must_exist`. Errors: timeout
  /// (another process holds the lock), not_found, exhausted, os.
  Result<RegistryEntry> enter(std::string_view kind, std::string_view name, bool must_exist,
                              const Deadline& deadline) const;
  /// Removes a member, and the folder if that was the last one.
  void leave(std::string_view kind, std::string_view name, const std::string& member,
             const Deadline& deadline) const;
  /// Removes the folders of the registry if no node is left.
  void remove_if_empty() const;
  /// Like enter(), but without the lock; for members() and text() only. Errors: not_found, os.
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

/// A topic's name: 1..200 bytes of a-z, A-Z, 0-9, "_", "-", "." and "/"; no part between "/" is
/// empty, "." or "..". Errors: invalid_argument.
Status check_topic_name(std::string_view name);
/// Converts a topic's name to the name of one folder ("/" becomes "+"), and back.
std::string folder_name(std::string_view topic);
std::string topic_name(std::string_view folder);

}  // namespace halyard::ipc
