// SPDX-License-Identifier: Apache-2.0
// Recognises memory by its descriptor: by file system and seals, which the kernel guarantees, and
// not by device numbers, which depend on the order of booting.
#include "tensor/memory/fd_kind.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/system/mapped.h"
#include "base/text/format_error.h"

namespace halyard {
namespace {

// Before Linux 5.3 all DMA-BUFs shared one anonymous inode. They have no identity, so they are not
// accepted.
constexpr long dma_buf_file_system = 0x444d4142;

// The name of the object in /proc; empty if there is no /proc.
std::string name_of_fd(int fd) {
  std::array<char, 256> name{};
  const std::string link = fmt::format("/proc/self/fd/{}", fd);
  const ssize_t length = ::readlink(link.c_str(), name.data(), name.size());
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string description_of(int fd, const struct stat& status, long file_system) {
  if (file_system == ANON_INODE_FS_MAGIC) return "an object of the kernel, " + name_of_fd(fd);
  switch (status.st_mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    case S_IFREG:
      return "a regular file on a disk";
    default:
      return "an object of the kernel, " + name_of_fd(fd);
  }
}

Error os_error(int os_errno) {
  if (os_errno != EBADF) return fail_os("fd: cannot be examined", os_errno);
  return make_error(Errc::invalid_argument, "fd: is closed", {}, EBADF);
}

// Magic number of the object's file system.
Result<long> file_system_of(int fd) {
  struct statfs system = {};
  if (::fstatfs(fd, &system) != 0) return os_error(errno);
  return static_cast<long>(system.f_type);
}

Result<FdKind> kind_of(int fd, const struct stat& status, long type) {
  if (type == dma_buf_file_system) return FdKind::dma_buf;
  if (S_ISREG(status.st_mode) && (type == TMPFS_MAGIC || type == HUGETLBFS_MAGIC)) {
    return name_of_fd(fd).starts_with("/memfd:") ? FdKind::memfd : FdKind::posix_shm;
  }
  return fail(Errc::invalid_argument, "fd: is neither a DMA-BUF nor shared memory", "it is {}",
              description_of(fd, status, type));
}

Result<struct stat> status_of(int fd) {
  if (fd < 0) return fail(Errc::invalid_argument, "fd: must not be negative", "{}", fd);
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return os_error(errno);
  return status;
}

Result<std::size_t> size_of_memory(int fd, FdKind kind) {
  if (kind == FdKind::dma_buf) {
    // Moves nothing: a DMA-BUF has no file position.
    const off_t end = ::lseek(fd, 0, SEEK_END);
    if (end < 0) return fail_os("fd: the size of the DMA-BUF cannot be read", errno);
    return static_cast<std::size_t>(end);
  }
  HALYARD_TRY(const struct stat status, status_of(fd));
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

std::string_view to_string(FdKind kind) noexcept {
  switch (kind) {
    case FdKind::dma_buf:
      return "dma_buf";
    case FdKind::memfd:
      return "memfd";
    case FdKind::posix_shm:
      break;
  }
  return "posix_shm";
}

Result<FdKind> fd_kind(int fd) {
  HALYARD_TRY(const struct stat status, status_of(fd));
  HALYARD_TRY(const long file_system, file_system_of(fd));
  return kind_of(fd, status, file_system);
}

bool seals_keep(int seals, bool huge_pages) noexcept {
  const bool end_stays = (seals & F_SEAL_SHRINK) != 0;
  const bool no_holes = (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) != 0;
  return end_stays && (no_holes || !huge_pages);
}

Result<FdMemory> examine_memory(int fd) {
  HALYARD_TRY(const struct stat status, status_of(fd));
  FdMemory memory;
  HALYARD_TRY(const long file_system, file_system_of(fd));
  HALYARD_TRY(memory.kind, kind_of(fd, status, file_system));
  memory.has_huge_pages = file_system == HUGETLBFS_MAGIC;
  memory.identity = {static_cast<std::uint64_t>(status.st_dev),
                     static_cast<std::uint64_t>(status.st_ino)};
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return os_error(errno);
  if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_WRONLY) {
    return fail(Errc::permission, "fd: is not open for reading, which a mapping needs");
  }
  memory.writable = (flags & O_ACCMODE) == O_RDWR;
  if (memory.kind != FdKind::dma_buf) {
    const int seals = seals_of(fd).value_or(0);
    if ((seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) != 0) memory.writable = false;
    memory.may_shrink = !seals_keep(seals, memory.has_huge_pages);
  }
  HALYARD_TRY(memory.size_bytes, size_of_memory(fd, memory.kind));
  return memory;
}

Status seal_memory(int fd, FdMemory& memory) {
  if (!memory.may_shrink) return {};
  // Only the owner may add a seal against writing: it ends writing for all processes.
  if (memory.has_huge_pages) {
    return fail(Errc::permission,
                "require_sealed: memory of huge pages must be sealed against shrinking and writing "
                "by its owner, who can take pages out of it otherwise");
  }
  if (const auto sealed = seal_against_shrinking(fd); !sealed) {
    return make_error(Errc::permission,
                      "require_sealed: the owner can shrink this memory, and it cannot be sealed",
                      std::string(to_string(memory.kind)), sealed.error().os_errno);
  }
  memory.may_shrink = false;
  HALYARD_TRY(memory.size_bytes, size_of_memory(fd, memory.kind));
  return {};
}

}  // namespace halyard
