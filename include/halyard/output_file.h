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

/// Writes a part file in the target's folder, `.NAME.part-` and 16 hexadecimal digits that nobody
/// can guess, and renames it to the target at commit(). The target's name never shows half a file,
/// and the old file stays until then. Without commit() the part file is removed. Move-only; a
/// moved-from object is empty and its calls fail. Thread-bound.
///
/// What is at the path decides:
/// - Nothing: a new file, mode 0666 less the process's umask.
/// - A file: it is replaced. The new file keeps its permissions, and its owner and group where the
///   system permits that; where the group cannot be kept, the group gets what others have. Other
///   hard links keep the old bytes. Access control lists and extended attributes are not kept.
/// - A symbolic link: it is followed and stays a link, also where its target does not exist yet.
///   More than 40 links are an error. A link in a sticky folder that anybody may write to is
///   followed only where its owner is the caller or the folder's owner, as Linux does with
///   fs.protected_symlinks.
/// - A device, a FIFO, or a link in /proc such as /dev/stdout: the bytes go there at each write();
///   it is never replaced and never removed. Opening a FIFO waits for its reader.
/// - A folder: an error. So is a socket.
///
/// The bytes are handed to the system, not synchronised to the disk: after a crash of the program
/// the name shows the old file or the new one; after a crash of the machine that is the file
/// system's business. A write to a pipe that nobody reads raises SIGPIPE, and one above
/// RLIMIT_FSIZE raises SIGXFSZ, unless the program ignores these signals; then both are errors.
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

  /// Writes at the position and moves it. After an error all later calls give the same one,
  /// commit() too. Errors: os (ENOSPC, EFBIG, EPIPE, ...), invalid_argument (empty, or committed).
  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);
  /// Moves the position, also behind the end. Errors: unsupported (is_direct()), those of write().
  Status seek(std::uint64_t offset_bytes);
  /// Reads what was written; the position stays. Returns the number of bytes, 0 at the end.
  /// Errors: as seek().
  Result<std::size_t> read_at(std::uint64_t offset_bytes, std::span<std::byte> to);
  /// Gives the file its name now and goes on, for files that are whole after each write: the name
  /// shows what has been written so far, whatever ends the process. Further writes go to the system
  /// at once, and commit() closes the file. Does nothing where is_direct(). Errors: as commit().
  Status publish();
  /// Puts `text` in place of all bytes from `offset_bytes` on, which is at most the position, and
  /// moves the position behind it. Where the text cannot be written, the bytes that were there are
  /// put back. Errors: as seek(); invalid_argument (an offset behind the position).
  Status replace_tail(std::uint64_t offset_bytes, std::string_view text);
  /// Gives the file its name, unless publish() has. Whatever happens, the object is done with the
  /// file then. Errors: os, permission, exists (a device, FIFO or folder has taken the name), those
  /// of write().
  Status commit();

  /// Bytes from the start to the position.
  std::uint64_t position_bytes() const noexcept;
  /// True for what is written to at once and never renamed: devices, FIFOs, standard output.
  bool is_direct() const noexcept;

 private:
  struct Impl;
  explicit OutputFile(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Removes the part files of this process, for a signal handler that ends it: async-signal-safe,
/// lock-free, errno is kept. Afterwards OutputFile::create() gives the error cancelled for files,
/// so that no other thread leaves a part file behind while the process ends. It knows 64 part files
/// at a time; further ones stay behind. In a child made by fork() it leaves the parent's files
/// alone. Waits up to a second for other threads that are just making a file. The library installs
/// no handler.
void remove_part_files() noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
