// SPDX-License-Identifier: Apache-2.0
// A file: the header, the key, the bytes of the driver.
#include "gl/program/binary_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "base/system/random.h"
#include "base/text/format_error.h"

namespace halyard::gl {
namespace {

constexpr const char* cannot_keep = "shader cache: a file cannot be written";
constexpr std::array<char, 8> magic = {'H', 'A', 'L', 'G', 'L', 'P', '0', '1'};

/// In the machine's byte order: binaries of another machine are refused by their key.
struct Header {
  std::array<char, 8> magic{};
  std::uint64_t checksum = 0;  ///< of what follows it
  std::uint64_t key_bytes = 0;
  std::uint64_t binary_bytes = 0;
  std::uint64_t format = 0;
};
static_assert(sizeof(Header) == 40);

// FNV-1a, 64 bits. It finds damage; malice is kept out by the owner and the mode of the folder.
std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const std::byte byte : bytes)
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

std::uint64_t hash_of(std::string_view text) {
  return hash_of(std::as_bytes(std::span(text)));
}

std::uint64_t checksum_of(std::span<const std::byte> file) {
  return hash_of(file.subspan(offsetof(Header, key_bytes)));
}

// Makes each folder of an absolute path that is missing.
void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    ::mkdir(path.substr(0, end).c_str(), 0700);
  ::mkdir(path.c_str(), 0700);
}

bool is_own_file(const struct stat& seen) noexcept {
  return S_ISREG(seen.st_mode) && seen.st_uid == ::geteuid() &&
         (seen.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool read_whole(int fd, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t got = ::read(fd, to.data(), to.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

Status write_whole(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return fail_os(cannot_keep, put < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

// The bytes of a file; empty if another user can have written it. Null if there is no file.
std::optional<std::vector<std::byte>> read_file(int folder, const std::string& name,
                                                std::size_t most) {
  // A FIFO must not block, and a link is not followed.
  const Fd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT) return std::nullopt;
  std::vector<std::byte> out;
  struct stat seen {};
  if (!fd || ::fstat(fd.get(), &seen) != 0 || !is_own_file(seen)) return out;
  const auto size = static_cast<std::size_t>(seen.st_size);
  if (size < sizeof(Header) || size > most) return out;
  out.resize(size);
  if (!read_whole(fd.get(), out)) out.clear();
  // The time of the last use; it fails on a disk that is read-only, which does no harm.
  ::futimens(fd.get(), nullptr);
  return out;
}

std::optional<ProgramBinary> parse(std::span<const std::byte> file, std::string_view key) {
  Header header;
  if (file.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  const std::size_t rest = file.size() - sizeof header;
  const bool is_whole = header.magic == magic && header.key_bytes == key.size() &&
                        key.size() <= rest && header.binary_bytes == rest - key.size() &&
                        header.format <= UINT32_MAX && header.checksum == checksum_of(file);
  if (!is_whole) return std::nullopt;
  const auto body = file.subspan(sizeof header);
  if (std::memcmp(body.data(), key.data(), key.size()) != 0) return std::nullopt;
  const auto binary = body.subspan(key.size());
  return ProgramBinary{static_cast<std::uint32_t>(header.format), {binary.begin(), binary.end()}};
}

std::vector<std::byte> compose(std::string_view key, const ProgramBinary& binary) {
  Header header{magic, 0, key.size(), binary.bytes.size(), binary.format};
  std::vector<std::byte> out(sizeof header + key.size() + binary.bytes.size());
  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + sizeof header, key.data(), key.size());
  std::ranges::copy(binary.bytes,
                    out.begin() + static_cast<std::ptrdiff_t>(sizeof header + key.size()));
  header.checksum = checksum_of(out);
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

/// A file of the folder, whoever has put it there.
struct Entry {
  std::string name;
  std::size_t size_bytes = 0;
  std::int64_t used_ns = 0;
};

std::vector<Entry> list(int folder) {
  std::vector<Entry> out;
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return out;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::fdopendir(fd), ::closedir);
  if (open == nullptr) {
    ::close(fd);
    return out;
  }
  while (const dirent* const entry = ::readdir(open.get())) {
    struct stat seen {};
    if (::fstatat(folder, entry->d_name, &seen, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(seen.st_mode)) continue;
    out.push_back({entry->d_name, static_cast<std::size_t>(seen.st_size),
                   std::int64_t{seen.st_mtim.tv_sec} * 1'000'000'000 + seen.st_mtim.tv_nsec});
  }
  return out;
}

}  // namespace

std::string binary_file_name(std::string_view key) {
  return fmt::format("{:016x}", hash_of(key));
}

Result<BinaryFiles> BinaryFiles::open(const std::string& folder, const BinaryLimits& limits) {
  make_folders(folder);
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fail_os("shader cache: its folder cannot be opened", errno, folder);
  struct stat seen {};
  if (::fstat(fd.get(), &seen) != 0)
    return fail_os("shader cache: its folder cannot be opened", errno, folder);
  if (seen.st_uid == ::geteuid() && (seen.st_mode & (S_IRWXG | S_IRWXO)) == 0)
    return BinaryFiles(std::move(fd), limits);
  return fail(Errc::permission, "shader cache: its folder must be this user's alone, mode 0700",
              "{}, owner {}, mode {:04o}", folder, seen.st_uid, seen.st_mode & 07777U);
}

std::optional<ProgramBinary> BinaryFiles::find(std::string_view key) const {
  const std::string name = binary_file_name(key);
  const auto file = read_file(folder_.get(), name, limits_.file_bytes);
  if (!file) return std::nullopt;
  auto found = parse(*file, key);
  if (!found) ::unlinkat(folder_.get(), name.c_str(), 0);
  return found;
}

Status BinaryFiles::keep(std::string_view key, const ProgramBinary& binary) const {
  const std::vector<std::byte> file = compose(key, binary);
  if (file.size() > limits_.file_bytes) {
    return fail(Errc::exhausted, "shader cache: a program is larger than a file may be",
                "{} bytes, at most {}", file.size(), limits_.file_bytes);
  }
  HALYARD_TRY(const auto random, random_value<std::uint64_t>());
  const std::string part = fmt::format(".part-{:016x}", random);
  Fd fd(::openat(folder_.get(), part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 0600));
  if (!fd) return fail_os(cannot_keep, errno);
  Status done = write_whole(fd.get(), file);
  // Some file systems report a full disk only here.
  if (::close(fd.release()) != 0 && errno != EINTR && done) done = fail_os(cannot_keep, errno);
  if (done &&
      ::renameat(folder_.get(), part.c_str(), folder_.get(), binary_file_name(key).c_str()) != 0)
    done = fail_os(cannot_keep, errno);
  if (!done) ::unlinkat(folder_.get(), part.c_str(), 0);
  if (done) remove_oldest();
  return done;
}

// Files that a killed process left behind are among them.
void BinaryFiles::remove_oldest() const {
  std::vector<Entry> entries = list(folder_.get());
  std::size_t total = 0;
  for (const Entry& entry : entries)
    total += entry.size_bytes;
  if (entries.size() <= limits_.files && total <= limits_.folder_bytes) return;
  std::ranges::sort(entries, {}, &Entry::used_ns);
  std::size_t count = entries.size();
  for (const Entry& entry : entries) {
    if (count <= limits_.files && total <= limits_.folder_bytes) return;
    ::unlinkat(folder_.get(), entry.name.c_str(), 0);
    --count;
    total -= entry.size_bytes;
  }
}

}  // namespace halyard::gl
