// SPDX-License-Identifier: Apache-2.0
// Part files: made exclusively under a random name, and entered in the registry before they exist.
#include "halyard/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "base/local.h"
#include "base/part_registry.h"
#include "base/system/output_target.h"
#include "base/system/random.h"
#include "base/text/format_error.h"

namespace halyard {
namespace {

constexpr std::size_t flush_bytes = std::size_t{1} << 16;
constexpr int max_attempts = 16;
constexpr const char* cannot_write = "file cannot be written";

std::size_t longest_name(int folder) {
  const long limit = ::fpathconf(folder, _PC_NAME_MAX);
  return limit > 0 ? std::min<std::size_t>(static_cast<std::size_t>(limit), NAME_MAX) : NAME_MAX;
}

// A long target name is cut between its UTF-8 characters.
std::string part_name(const std::string& target, std::size_t limit, std::uint64_t random) {
  const std::string tail = fmt::format(".part-{:016x}", random);
  std::size_t size = std::min(target.size(), limit - std::min(limit, tail.size() + 1));
  while (size > 0 && size < target.size() &&
         (static_cast<unsigned char>(target[size]) & 0xC0U) == 0x80U)
    --size;
  return fmt::format(".{}{}", std::string_view(target).substr(0, size), tail);
}

// Gives the new file the owner, group and permissions of the file that it replaces, as far as
// permitted. If the group cannot be kept, the new group gets only the rights that others have.
Status keep_attributes(int fd, const struct stat& old, const std::string& path) {
  struct stat made {};
  if (::fstat(fd, &made) != 0) return fail_os(cannot_write, errno, path);
  mode_t mode = old.st_mode & 07777;
  const auto take = [&](uid_t owner, gid_t group) { return ::fchown(fd, owner, group) == 0; };
  if (made.st_uid != old.st_uid || made.st_gid != old.st_gid) {
    if (!take(old.st_uid, old.st_gid)) {
      mode &= ~static_cast<mode_t>(S_ISUID | S_ISGID);
      if (!take(static_cast<uid_t>(-1), old.st_gid)) {
        mode = (mode & ~static_cast<mode_t>(S_IRWXG)) | ((mode & S_IRWXO) << 3);
      }
    }
  }
  if (::fchmod(fd, mode) != 0) return fail_os("file's permissions cannot be kept", errno, path);
  return {};
}

// Standard output may be a non-blocking pipe.
bool must_repeat(int fd) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  struct pollfd wait {
    fd, POLLOUT, 0
  };
  return ::poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace

struct HALYARD_LOCAL OutputFile::Impl {
  std::string path;
  OutputTarget target;
  Fd fd;
  std::string part;  // in the target's folder; empty: `fd` is the target itself
  PartSlot slot;
  pid_t maker = ::getpid();
  std::string pending;
  std::uint64_t position = 0;
  std::optional<Error> failed;  // the first failure; every later call returns it
  bool is_published = false;
  bool is_committed = false;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { discard(); }

  Status open_direct();
  Status open_part();
  Status check() const;
  Status put(std::span<const std::byte> bytes);
  Status flush();
  Status give_name();
  Status publish();
  void put_back(std::uint64_t offset, std::string_view bytes) noexcept;
  void discard() noexcept;
};

Status OutputFile::Impl::open_direct() {
  // A link in /proc may lead to a file that holds other data already, as standard output may.
  const int append = S_ISLNK(target.existing->st_mode) ? O_APPEND : 0;
  fd = Fd(
      ::openat(target.folder.get(), target.name.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | append));
  if (!fd) return fail_os("file cannot be opened for writing", errno, path);
  return {};
}

Status OutputFile::Impl::open_part() {
  const int folder = target.folder.get();
  const std::size_t limit = longest_name(folder);
  // Nobody else may read the new file before it has the permissions of the old one.
  const mode_t mode = target.existing ? 0600 : 0666;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    HALYARD_TRY(const std::uint64_t random, random_value<std::uint64_t>());
    std::string name = part_name(target.name, limit, random);
    slot.enter(folder, name);
    if (is_process_ending()) break;
    fd = Fd(
        ::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    const int number = errno;
    if (fd) {
      part = std::move(name);
      slot.confirm();
      if (is_process_ending()) break;
      return target.existing ? keep_attributes(fd.get(), *target.existing, path) : Status{};
    }
    slot.leave();
    if (number != EEXIST) return fail_os("file cannot be created", number, path);
  }
  if (is_process_ending()) return fail(Errc::cancelled, "process is ending", "{}", path);
  return fail(Errc::exists, "no free name for the part file", "{}", path);
}

Status OutputFile::Impl::check() const {
  if (failed) return *failed;
  if (is_committed) return fail(Errc::invalid_argument, "file is complete already", "{}", path);
  return {};
}

// Writes to the system.
Status OutputFile::Impl::put(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && must_repeat(fd.get())) continue;
    if (written <= 0) {
      failed = fail_os(cannot_write, written < 0 ? errno : ENOSPC, path);
      return *failed;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status OutputFile::Impl::flush() {
  const std::string bytes = std::exchange(pending, {});
  return put(std::as_bytes(std::span(bytes)));
}

Status OutputFile::Impl::give_name() {
  if (part.empty()) return {};
  HALYARD_RETURN_IF_ERROR(check_replaceable(target, path));
  const int folder = target.folder.get();
  if (::renameat(folder, part.c_str(), folder, target.name.c_str()) != 0) {
    return fail_os("file cannot be put in place", errno, path);
  }
  part.clear();
  return {};
}

Status OutputFile::Impl::publish() {
  // Some file systems report a full disk only here.
  if (::close(fd.release()) != 0 && errno != EINTR) return fail_os(cannot_write, errno, path);
  return give_name();
}

// Restores old bytes if possible: the disk had room for them before.
void OutputFile::Impl::put_back(std::uint64_t offset, std::string_view bytes) noexcept {
  if (::pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)) < 0) return;
  [[maybe_unused]] const int cut = ::ftruncate(fd.get(), static_cast<off_t>(offset + bytes.size()));
}

void OutputFile::Impl::discard() noexcept {
  // A child of fork() has a copy of this object; the file belongs to the parent.
  if (!part.empty() && maker == ::getpid()) ::unlinkat(target.folder.get(), part.c_str(), 0);
  part.clear();
  slot.leave();
  fd.reset();
  target.folder.reset();
}

OutputFile::OutputFile(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  HALYARD_TRY(impl->target, find_output_target(path));
  HALYARD_RETURN_IF_ERROR(impl->target.is_direct ? impl->open_direct() : impl->open_part());
  return OutputFile(std::move(impl));
}

Result<OutputFile> OutputFile::standard_output() {
  auto impl = std::make_unique<Impl>();
  impl->path = "standard output";
  impl->target.is_direct = true;
  HALYARD_TRY(impl->fd, Fd::duplicate(STDOUT_FILENO));
  return OutputFile(std::move(impl));
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  if (!impl_) return fail(Errc::invalid_argument, "output file is empty");
  HALYARD_RETURN_IF_ERROR(impl_->check());
  impl_->position += bytes.size();
  // A reader may follow a pipe, so its bytes are written at once. Bytes of files are collected.
  const bool is_large =
      is_direct() || impl_->is_published || impl_->pending.size() + bytes.size() >= flush_bytes;
  if (!is_large) {
    impl_->pending.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }
  HALYARD_RETURN_IF_ERROR(impl_->flush());
  return impl_->put(bytes);
}

Status OutputFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text)));
}

Status OutputFile::seek(std::uint64_t offset_bytes) {
  if (!impl_) return fail(Errc::invalid_argument, "output file is empty");
  HALYARD_RETURN_IF_ERROR(impl_->check());
  if (is_direct())
    return fail(Errc::unsupported, "device or pipe has no positions", "{}", impl_->path);
  HALYARD_RETURN_IF_ERROR(impl_->flush());
  if (offset_bytes > static_cast<std::uint64_t>(INT64_MAX) ||
      ::lseek(impl_->fd.get(), static_cast<off_t>(offset_bytes), SEEK_SET) < 0) {
    impl_->failed = fail_os("file's position cannot be set", EINVAL, impl_->path);
    return *impl_->failed;
  }
  impl_->position = offset_bytes;
  return {};
}

Result<std::size_t> OutputFile::read_at(std::uint64_t offset_bytes, std::span<std::byte> to) {
  if (!impl_) return fail(Errc::invalid_argument, "output file is empty");
  HALYARD_RETURN_IF_ERROR(impl_->check());
  if (is_direct())
    return fail(Errc::unsupported, "device or pipe cannot be read back", "{}", impl_->path);
  HALYARD_RETURN_IF_ERROR(impl_->flush());
  if (offset_bytes > static_cast<std::uint64_t>(INT64_MAX)) return std::size_t{0};
  ssize_t got = 0;
  do {
    got = ::pread(impl_->fd.get(), to.data(), to.size(), static_cast<off_t>(offset_bytes));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail_os("file cannot be read back", errno, impl_->path);
  return static_cast<std::size_t>(got);
}

Status OutputFile::publish() {
  if (!impl_) return fail(Errc::invalid_argument, "output file is empty");
  HALYARD_RETURN_IF_ERROR(impl_->check());
  HALYARD_RETURN_IF_ERROR(impl_->flush());
  if (const Status named = impl_->give_name(); !named) {
    impl_->failed = named.error();
    return named;
  }
  impl_->slot.leave();
  impl_->is_published = true;
  return {};
}

Status OutputFile::replace_tail(std::uint64_t offset_bytes, std::string_view text) {
  const std::uint64_t end = position_bytes();
  if (impl_ && offset_bytes > end) {
    return fail(Errc::invalid_argument, "offset must not be above the position", "{} of {}",
                offset_bytes, end);
  }
  std::string old(impl_ ? end - offset_bytes : 0, '\0');
  HALYARD_TRY(const std::size_t got, read_at(offset_bytes, std::as_writable_bytes(std::span(old))));
  old.resize(got);
  HALYARD_RETURN_IF_ERROR(seek(offset_bytes));
  const Status done = impl_->put(std::as_bytes(std::span(text)));
  if (!done) return impl_->put_back(offset_bytes, old), done;
  impl_->position += text.size();
  if (impl_->position < end &&
      ::ftruncate(impl_->fd.get(), static_cast<off_t>(impl_->position)) != 0)
    return fail_os(cannot_write, errno, impl_->path);
  return {};
}

Status OutputFile::commit() {
  if (!impl_) return fail(Errc::invalid_argument, "output file is empty");
  if (impl_->is_committed) return impl_->check();
  Status done = impl_->check();
  if (done) done = impl_->flush();
  if (done) done = impl_->publish();
  impl_->is_committed = done.has_value();
  if (!done) impl_->failed = done.error();
  impl_->discard();
  return done;
}

std::uint64_t OutputFile::position_bytes() const noexcept {
  return impl_ ? impl_->position : 0;
}

bool OutputFile::is_direct() const noexcept {
  return impl_ && impl_->target.is_direct;
}

}  // namespace halyard
