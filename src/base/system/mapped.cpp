// SPDX-License-Identifier: Apache-2.0
// The only place that calls mmap, munmap, memfd_create and shm_open.
#include "base/system/mapped.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/text/format_error.h"

// Flags of Linux 5.1 and 6.3, which older C libraries do not define.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace halyard {
namespace {

// Asks for memory that cannot be executed, as hardened kernels demand. Leaves out the flag if the
// kernel does not know it.
int open_memfd(const char* name) noexcept {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  static std::atomic<bool> flag_unknown{false};
  if (!flag_unknown.load(std::memory_order_relaxed)) {
    const int fd = ::memfd_create(name, flags | MFD_NOEXEC_SEAL);
    if (fd >= 0 || errno != EINVAL) return fd;
    flag_unknown.store(true, std::memory_order_relaxed);
  }
  return ::memfd_create(name, flags);
}

}  // namespace

Result<MappedMemory> MappedMemory::create(int fd, std::size_t size, bool writable) {
  return create_at(fd, 0, size, writable);
}

Result<MappedMemory> MappedMemory::create_at(int fd, std::size_t offset, std::size_t size,
                                             bool writable) {
  if (size == 0) return fail(Errc::invalid_argument, "size: must be at least 1 byte to be mapped");
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(nullptr, size, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) {
    return fail_os("memory: cannot be mapped", errno, fmt::format("{} bytes", size));
  }
  MappedMemory mapped;
  mapped.bytes_ = {static_cast<std::byte*>(address), size};
  return mapped;
}

MappedMemory::MappedMemory(MappedMemory&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedMemory::~MappedMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Result<Fd> create_shared_object() {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 64; ++attempt) {
    const std::string name = fmt::format("/halyard-{}-{}", ::getpid(), counter.fetch_add(1));
    const int fd = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
      ::shm_unlink(name.c_str());
      return Fd(fd);
    }
    if (errno != EEXIST) return fail_os("shared memory: cannot be made", errno);
  }
  return fail(Errc::exists, "shared memory: every name tried is taken");
}

namespace {

// Mode 0600, as for POSIX shared memory: other users cannot open it through /proc.
Result<Fd> create_memfd(std::string_view name, std::size_t size_bytes) {
  // The kernel gives pages at the first access. A size beyond the machine's memory would show only
  // later, as SIGKILL.
  if (size_bytes > system_memory_bytes()) {
    return fail(Errc::no_memory, "shared memory: more than this machine has",
                "{} bytes, RAM and swap are {}", size_bytes, system_memory_bytes());
  }
  const std::string text(name.substr(0, 31));
  Fd fd(open_memfd(text.c_str()));
  if (!fd && errno == ENOSYS) {
    return make_error(Errc::unsupported, "shared memory: this kernel has no memfd", {}, ENOSYS);
  }
  if (!fd) return fail_os("shared memory: cannot be made", errno);
  if (::fchmod(fd.get(), 0600) != 0) return fail_os("shared memory: its mode cannot be set", errno);
  if (::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) != 0) {
    return fail_os("shared memory: cannot be sized", errno, fmt::format("{} bytes", size_bytes));
  }
  return fd;
}

Status lock_in_memory(std::span<const std::byte> bytes) {
  if (::mlock(bytes.data(), bytes.size()) == 0) return {};
  const int status = errno;
  struct rlimit limit = {};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  return make_error(
      status == EPERM ? Errc::permission : Errc::no_memory,
      "shared memory: cannot be locked in RAM",
      fmt::format("{} bytes, RLIMIT_MEMLOCK is {}", bytes.size(), std::uint64_t{limit.rlim_cur}),
      status);
}

// Maps each page, without changing it.
void touch(std::span<std::byte> bytes) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < bytes.size(); at += page)
    static_cast<volatile std::byte*>(bytes.data())[at] = bytes[at];
}

}  // namespace

Result<OwnMemory> create_own_memory(std::string_view name, std::size_t size_bytes,
                                    const OwnMemoryOptions& options) {
  HALYARD_TRY(Fd fd, create_memfd(name, size_bytes));
  HALYARD_TRY(MappedMemory mapped, MappedMemory::create(fd.get(), size_bytes, true));
  // The first mapping stays writable; the seal forbids later writable ones.
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE;
  if (options.huge_pages) ::madvise(mapped.bytes().data(), size_bytes, MADV_HUGEPAGE);
  if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) {
    const int status = errno;
    return make_error(status == EINVAL ? Errc::unsupported : Errc::os,
                      "shared memory: cannot be sealed for one writer (needs Linux 5.1)", {},
                      status);
  }
  OwnMemory memory{std::move(fd), std::move(mapped)};
  const std::size_t reserved = std::min(size_bytes, options.reserved_bytes);
  if (reserved > 0) HALYARD_RETURN_IF_ERROR(extend_own_memory(memory, 0, reserved, options));
  return memory;
}

Status extend_own_memory(const OwnMemory& memory, std::size_t offset, std::size_t size_bytes,
                         const OwnMemoryOptions& options) {
  const std::span<std::byte> bytes = memory.mapped.bytes().subspan(offset, size_bytes);
  HALYARD_RETURN_IF_ERROR(reserve_memory(memory.fd.get(), offset, size_bytes));
  if (options.lock) HALYARD_RETURN_IF_ERROR(lock_in_memory(bytes));
  if (options.touch) touch(bytes);
  return {};
}

Result<Fd> create_sealed_memory(std::string_view name, std::size_t size_bytes) {
  HALYARD_TRY(Fd fd, create_memfd(name, size_bytes));
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail_os("shared memory: cannot be sealed", errno);
  }
  return fd;
}

Status reserve_memory(int fd, std::size_t offset, std::size_t size_bytes) {
  int status = 0;
  do {
    status = ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size_bytes));
  } while (status == EINTR);
  if (status == 0) return {};
  const Errc code = status == ENOSPC || status == EFBIG ? Errc::no_memory : Errc::os;
  return make_error(code, "shared memory: cannot be reserved", fmt::format("{} bytes", size_bytes),
                    status);
}

std::size_t system_memory_bytes() noexcept {
  // Read once, because every allocation of shared memory calls this function.
  static std::atomic<std::size_t> once{0};
  if (const std::size_t bytes = once.load(std::memory_order_relaxed); bytes != 0) return bytes;
  struct sysinfo known = {};
  std::size_t bytes = SIZE_MAX;
  if (::sysinfo(&known) == 0) {
    const auto units = checked_add(known.totalram, known.totalswap);
    bytes = (units ? checked_mul(*units, known.mem_unit) : std::nullopt).value_or(SIZE_MAX);
  }
  once.store(bytes, std::memory_order_relaxed);
  return bytes;
}

std::optional<int> seals_of(int fd) noexcept {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals < 0 ? std::nullopt : std::optional(seals);
}

Status seal_against_shrinking(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0) return {};
  if (errno == EINVAL) {
    return make_error(Errc::unsupported, "fd: this kind of memory has no seals", {}, EINVAL);
  }
  return fail_os("fd: cannot be sealed against shrinking", errno);
}

}  // namespace halyard
