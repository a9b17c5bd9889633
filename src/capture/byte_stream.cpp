// SPDX-License-Identifier: Apache-2.0
// Reading and looking ahead on a descriptor.
#include "capture/byte_stream.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/format_error.h"

namespace halyard::capture {
namespace {

Result<std::size_t> read_some(int fd, std::span<std::byte> to) {
  for (;;) {
    const ssize_t got = ::read(fd, to.data(), to.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return fail_os("stream cannot be read", errno);
  }
}

}  // namespace

ByteStream::ByteStream(Fd fd) noexcept : fd_(std::move(fd)) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const off_t here = ::lseek(fd_.get(), 0, SEEK_CUR);
  if (here < 0) return;
  start_ = here;
  size_ = static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size - here));
}

Result<std::span<const std::byte>> ByteStream::peek(std::size_t count) {
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_begin_));
  ahead_begin_ = 0;
  while (ahead_.size() < count) {
    const std::size_t had = ahead_.size();
    ahead_.resize(count);
    auto got = read_some(fd_.get(), std::span(ahead_).subspan(had));
    ahead_.resize(had + got.value_or(0));
    if (!got) return got.error();
    if (*got == 0) break;
  }
  return std::span<const std::byte>(ahead_).first(std::min(count, ahead_.size()));
}

Result<std::size_t> ByteStream::read(std::span<std::byte> to) {
  if (to.empty()) return std::size_t{0};
  const std::size_t held = ahead_.size() - ahead_begin_;
  if (held > 0) {
    const std::size_t count = std::min(held, to.size());
    std::memcpy(to.data(), ahead_.data() + ahead_begin_, count);
    ahead_begin_ += count;
    position_ += count;
    return count;
  }
  HALYARD_TRY(const std::size_t got, read_some(fd_.get(), to));
  position_ += got;
  return got;
}

Status ByteStream::seek(std::uint64_t from_start) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!is_seekable() || from_start > most - static_cast<std::uint64_t>(start_)) {
    return fail(Errc::invalid_argument, "stream cannot be sought in", "to {}", from_start);
  }
  const auto offset = static_cast<off_t>(from_start) + static_cast<off_t>(start_);
  if (::lseek(fd_.get(), offset, SEEK_SET) < 0) return fail_os("stream cannot be sought in", errno);
  ahead_.clear();
  ahead_begin_ = 0;
  position_ = from_start;
  return {};
}

}  // namespace halyard::capture
