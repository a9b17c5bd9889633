// SPDX-License-Identifier: Apache-2.0
// Owning file descriptors.
#include "halyard/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text/format_error.h"

namespace halyard {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

Result<Fd> Fd::duplicate(int borrowed) {
  if (borrowed < 0) return fail(Errc::invalid_argument, "fd: must not be negative", "{}", borrowed);
  const int copy = ::fcntl(borrowed, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return fail_os("fd: cannot be duplicated", errno);
  return Fd(copy);
}

int Fd::release() noexcept {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void Fd::reset() noexcept {
  // Linux closes the descriptor even when close() reports EINTR, so it is never repeated.
  if (fd_ >= 0) ::close(release());
}

Result<Fd> Fd::duplicate() const {
  return duplicate(fd_);
}

Result<FdIdentity> fd_identity(int borrowed) {
  if (borrowed < 0) return fail(Errc::invalid_argument, "fd: must not be negative", "{}", borrowed);
  struct stat status = {};
  if (::fstat(borrowed, &status) != 0) return fail_os("fd: cannot be examined", errno);
  return FdIdentity{static_cast<std::uint64_t>(status.st_dev),
                    static_cast<std::uint64_t>(status.st_ino)};
}

Result<FdIdentity> Fd::identity() const {
  if (fd_ < 0) return fail(Errc::invalid_argument, "fd: is empty");
  return fd_identity(fd_);
}

}  // namespace halyard
