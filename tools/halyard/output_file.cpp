// SPDX-License-Identifier: Apache-2.0
// Plain system calls, so that every failed write is seen with its reason.
#include "output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace halyard::tool {
namespace {

constexpr std::size_t flush_bytes = std::size_t{1} << 16;

Error os_error(const char* what, const std::string& path, int number) {
  Errc code = Errc::os;
  if (number == ENOENT || number == ENOTDIR) code = Errc::not_found;
  if (number == EACCES || number == EPERM || number == EROFS) code = Errc::permission;
  return make_error(code, what, path, number);
}

bool is_special(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

std::string partial_name(const std::string& path) {
  return path + ".part-" + std::to_string(::getpid());
}

Status publish(const std::string& partial, const std::string& path) {
  if (std::rename(partial.c_str(), path.c_str()) == 0) return {};
  const int number = errno;
  ::unlink(partial.c_str());
  return os_error("file cannot be given its name", path, number);
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  if (path == "-") {
    HALYARD_TRY(file.fd_, Fd::duplicate(STDOUT_FILENO));
    return file;
  }
  int flags = O_WRONLY | O_CLOEXEC;
  std::string name = path;
  if (!is_special(path)) {
    name = file.partial_ = partial_name(path);
    flags |= O_CREAT | O_TRUNC;
  }
  const int fd = ::open(name.c_str(), flags, 0666);
  if (fd < 0) {
    const int number = errno;
    file.partial_.clear();
    return os_error("file cannot be written", path, number);
  }
  struct stat info {};
  file.fd_ = Fd(fd);
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return os_error("file cannot be written", path, EISDIR);
  return file;
}

OutputFile::~OutputFile() {
  if (fd_ && !partial_.empty()) ::unlink(partial_.c_str());
}

Status OutputFile::write(std::string_view text) {
  pending_ += text;
  // Someone may be reading along on a pipe; files wait for a good size.
  return partial_.empty() || pending_.size() >= flush_bytes ? flush() : Status{};
}

Status OutputFile::flush() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error("file cannot be written", path_, errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  pending_.clear();
  return {};
}

Status OutputFile::commit() {
  HALYARD_CHECK(flush());
  if (partial_.empty()) return {};
  const std::string partial = std::exchange(partial_, {});
  const int fd = fd_.release();
  if (::close(fd) != 0) {
    const int number = errno;
    ::unlink(partial.c_str());
    return os_error("file cannot be written", path_, number);
  }
  return publish(partial, path_);
}

}  // namespace halyard::tool
