// SPDX-License-Identifier: Apache-2.0
// OutputFile: a file that gets its name when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Writes a part file in the target's folder, named `.NAME.part-` and 16 unpredictable hexadecimal
/// digits, and renames it to the target at commit(). The target's name never refers to an
/// incomplete file, and the old file stays until then. Without commit() the part file is removed.
/// Move-only; a moved-from object is empty and its calls fail. Thread-bound.
///
/// What exists at the path decides:
/// - Nothing: a new file, mode 0666 less the process's umask.
/// - A file: it is replaced. The new file keeps its permissions, and its owner and group where the
///   system permits that. Where the group cannot be kept, the group gets the permissions of others.
///   Other hard links keep the old bytes. Access control lists and extended attributes are not
///   kept.
/// - A symbolic link: it is followed and stays a link, also where its target does not exist yet.
///   More than 40 links are an error. A link in a sticky folder that anybody may write to is
///   followed only where its owner is the caller or the folder's owner, as Linux does with
///   fs.protected_symlinks.
/// - A device, a FIFO, or a link in /proc such as /dev/stdout: each write() writes to it directly;
///   it is never replaced and never removed. Opening a FIFO waits for its reader.
/// - A folder or a socket: an error.
///
/// The bytes are handed to the system, but not synchronised to the disk. After a crash of the
/// program the name refers to the old file or to the new one; after a crash of the machine the
/// result depends on the file system. A write to a pipe without a reader raises SIGPIPE, and one
/// above RLIMIT_FSIZE raises SIGXFSZ, unless the program ignores these signals; then both are
/// errors.
class OutputFile {
 public:
  /// Errors: invalid_argument (empty path, or one with a zero byte), not_found (the folder),
  /// permission, os (EISDIR, ELOOP, ENAMETOOLONG, ENOSPC, ...), cancelled (see
  /// remove_part_files()).
  static Result<OutputFile> create(const std::string& path);
  /// The process's standard output. Errors: os (it is closed).
  static Result<OutputFile> standard_output();

  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  /// Writes at the position and moves it. After an error all later calls return the same error,
  /// commit() too. Errors: os (ENOSPC, EFBIG, EPIPE, ...), invalid_argument (empty, or committed).
  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);
  /// Moves the position; it may lie behind the end. Errors: unsupported (is_direct()), those of
  /// write().
  Status seek(std::uint64_t offset_bytes);
  /// Reads bytes that were written; the position stays. Returns the number of bytes, 0 at the end.
  /// Errors: as seek().
  Result<std::size_t> read_at(std::uint64_t offset_bytes, std::span<std::byte> to);
  /// Gives the file its name now and stays open, for files that are complete after each write. The
  /// name refers to what has been written so far, however the process ends. Later writes reach the
  /// system at once, and commit() closes the file. Does nothing where is_direct(). Errors: as
  /// commit().
  Status publish();
  /// Replaces all bytes from `offset_bytes` on by `text`, and moves the position behind it.
  /// `offset_bytes` is at most the position. If the text cannot be written, the old bytes are
  /// restored. Errors: as seek(); invalid_argument (an offset behind the position).
  Status replace_tail(std::uint64_t offset_bytes, std::string_view text);
  /// Gives the file its name, unless publish() has done so. The object closes the file also after
  /// an error. Errors: os, permission, exists (a device, FIFO or folder has taken the name), those
  /// of write().
  Status commit();

  /// Bytes from the start to the position.
  std::uint64_t position_bytes() const noexcept;
  /// True for devices, FIFOs and standard output: they are written to at once and never renamed.
  bool is_direct() const noexcept;

 private:
  struct Impl;
  explicit OutputFile(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Removes the part files of this process, for a signal handler that ends it: async-signal-safe,
/// lock-free, keeps errno. Afterwards OutputFile::create() returns the error cancelled for files,
/// so that no other thread leaves a part file while the process ends. It knows up to 64 part files
/// at a time; further ones stay. In a child made by fork() it does not touch the parent's files.
/// Waits up to a second for other threads that are making a file. The library installs no handler.
void remove_part_files() noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
