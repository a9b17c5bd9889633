// SPDX-License-Identifier: Apache-2.0
// Reads and looks ahead on a descriptor.
#include "capture/network/byte_stream.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

constexpr int ask_every_ms = 100;

}  // namespace

ByteStream::ByteStream(Fd fd, std::function<bool()> is_cancelled) noexcept
    : fd_(std::move(fd)), is_cancelled_(std::move(is_cancelled)) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const off_t here = ::lseek(fd_.get(), 0, SEEK_CUR);
  if (here < 0) return;
  start_ = here;
  size_ = static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size - here));
}

// A signal may be delivered to any thread, so this waits for short times only and asks again.
Status ByteStream::wait_for_bytes() {
  struct pollfd wait {
    fd_.get(), POLLIN, 0
  };
  for (;;) {
    const int ready = ::poll(&wait, 1, ask_every_ms);
    if (ready > 0) return {};  // bytes, the end, or an error that read() reports
    if (ready < 0 && errno != EINTR) return fail_os("stream cannot be waited for", errno);
    if (is_cancelled_()) return fail(Errc::cancelled, "stream: reading was cancelled");
  }
}

Result<std::size_t> ByteStream::read_some(std::span<std::byte> to) {
  for (;;) {
    if (is_cancelled_ && !is_seekable()) HALYARD_RETURN_IF_ERROR(wait_for_bytes());
    const ssize_t got = ::read(fd_.get(), to.data(), to.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    const bool repeats = errno == EINTR || (errno == EAGAIN && is_cancelled_);
    if (!repeats) return fail_os("stream cannot be read", errno);
  }
}

Result<std::span<const std::byte>> ByteStream::peek(std::size_t count) {
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_begin_));
  ahead_begin_ = 0;
  while (ahead_.size() < count) {
    const std::size_t had = ahead_.size();
    ahead_.resize(count);
    auto got = read_some(std::span(ahead_).subspan(had));
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
  HALYARD_TRY(const std::size_t got, read_some(to));
  position_ += got;
  return got;
}

Status ByteStream::seek(std::uint64_t from_start) {
  constexpr auto maximum = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!is_seekable() || from_start > maximum - static_cast<std::uint64_t>(start_)) {
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
