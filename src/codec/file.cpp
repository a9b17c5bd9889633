// SPDX-License-Identifier: Apache-2.0
// Whole files: read with a limit, written beside the target and renamed.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/format_error.h"
#include "halyard/codec.h"
#include "halyard/fd.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

Error too_large(const std::string& path, std::size_t max_bytes) {
  return fail(Errc::invalid_argument, "file is larger than max_bytes", "{}: above {} bytes", path,
              max_bytes);
}

ssize_t retry_read(int fd, std::byte* to, std::size_t count) {
  ssize_t got = 0;
  do {
    got = ::read(fd, to, count);
  } while (got < 0 && errno == EINTR);
  return got;
}

Status write_all(int fd, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_os("file cannot be written", errno, path);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

// A file under a name of its own that vanishes unless it is renamed.
class PartFile {
 public:
  static Result<PartFile> create(const std::string& target, mode_t mode) {
    static std::atomic<unsigned> counter{0};
    for (int attempt = 0; attempt < 100; ++attempt) {
      std::string path = fmt::format("{}.part-{}-{}", target, ::getpid(), counter++);
      const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (fd >= 0) return PartFile(Fd(fd), std::move(path));
      if (errno != EEXIST) return fail_os("file cannot be created", errno, target);
    }
    return fail(Errc::exists, "no free name for the part file", "{}", target);
  }
  PartFile(PartFile&& other) noexcept
      : fd_(std::move(other.fd_)), path_(std::exchange(other.path_, {})) {}
  PartFile(const PartFile&) = delete;
  ~PartFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  int fd() const { return fd_.get(); }
  Status move_to(const std::string& target) {
    // Some file systems tell of a full disk only here.
    if (::close(fd_.release()) != 0) return fail_os("file cannot be written", errno, target);
    if (::rename(path_.c_str(), target.c_str()) != 0) {
      return fail_os("file cannot be put in place", errno, target);
    }
    path_.clear();
    return {};
  }

 private:
  PartFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
};

// A device or pipe takes the bytes itself: renaming would replace it by a file.
Status write_in_place(const std::string& path, std::span<const std::byte> bytes) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail_os("file cannot be opened for writing", errno, path);
  return write_all(fd.get(), bytes, path);
}

// Where a symbolic link leads, so that the link stays.
std::string resolved(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path, std::size_t max_bytes) {
  trace::Span span("codec.read_file");
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_os("file cannot be opened", errno, path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return fail_os("file cannot be examined", errno, path);
  if (S_ISDIR(status.st_mode)) return fail_os("path names a folder", EISDIR, path);
  const auto declared = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (declared > max_bytes) return too_large(path, max_bytes);
  // One byte more than the size shows the end; pipes and /proc files declare none.
  constexpr std::size_t step = std::size_t{1} << 16;
  std::vector<std::byte> bytes(std::max(declared + 1, step));
  std::size_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = retry_read(fd.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0) return fail_os("file cannot be read", errno, path);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > max_bytes) return too_large(path, max_bytes);
  }
  bytes.resize(used);
  span.arg("bytes", used);
  return bytes;
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  trace::Span span("codec.write_file");
  span.arg("bytes", bytes.size());
  const std::string target = resolved(path);
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return fail_os("path names a folder", EISDIR, path);
  if (exists && !S_ISREG(status.st_mode)) return write_in_place(target, bytes);
  // The process's umask applies to new files; one that is replaced keeps its permissions.
  HALYARD_TRY(PartFile part, PartFile::create(target, 0666));
  if (exists && ::fchmod(part.fd(), status.st_mode & 07777) != 0) {
    return fail_os("file's permissions cannot be kept", errno, path);
  }
  HALYARD_CHECK(write_all(part.fd(), bytes, path));
  return part.move_to(target);
}

}  // namespace halyard
