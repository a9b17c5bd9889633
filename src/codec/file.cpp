// SPDX-License-Identifier: Apache-2.0
// Whole files: reads them with a limit, writes them through OutputFile.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include "base/text/format_error.h"
#include "halyard/codec.h"
#include "halyard/fd.h"
#include "halyard/output_file.h"
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

constexpr std::size_t first_piece_bytes = std::size_t{1} << 16;
constexpr std::size_t longest_piece_bytes = std::size_t{1} << 25;

// Bytes whose count is known at the end. One vector would be copied to grow, and both copies need
// memory; pieces are copied once, at the end, and each is released after its copy.
class Pieces {
 public:
  explicit Pieces(std::size_t first_bytes) { pieces_.emplace_back(first_bytes); }

  // Where the next bytes are written: not empty, until there are `maximum`.
  std::span<std::byte> room(std::size_t maximum) {
    if (used_ == pieces_.back().size()) {
      pieces_.emplace_back(std::min({size_, longest_piece_bytes, maximum - size_}));
      used_ = 0;
    }
    return std::span(pieces_.back()).subspan(used_);
  }
  void add(std::size_t count) noexcept {
    used_ += count;
    size_ += count;
  }
  std::size_t size() const noexcept { return size_; }

  std::vector<std::byte> joined() && {
    pieces_.back().resize(used_);
    std::vector<std::byte> bytes = std::move(pieces_.front());
    bytes.reserve(size_);
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      const std::vector<std::byte> piece = std::move(pieces_[i]);
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    return bytes;
  }

 private:
  std::vector<std::vector<std::byte>> pieces_;
  std::size_t used_ = 0;  // of the last piece
  std::size_t size_ = 0;
};

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_os("file cannot be opened", errno, path);
  return read_file(fd.get(), path, max_bytes);
}

Result<std::vector<std::byte>> read_file(int fd, const std::string& name, std::size_t max_bytes) {
  trace::Span span("codec.read_file");
  struct stat status {};
  if (::fstat(fd, &status) != 0) return fail_os("file cannot be examined", errno, name);
  if (S_ISDIR(status.st_mode)) return fail_os("path names a folder", EISDIR, name);
  const off_t begin = std::max<off_t>(::lseek(fd, 0, SEEK_CUR), 0);  // -1: has no position
  const auto declared = static_cast<std::size_t>(std::max<off_t>(status.st_size - begin, 0));
  if (declared > max_bytes) return too_large(name, max_bytes);
  // One byte more than the limit shows that there is more, one more than the size that it has
  // ended.
  const std::size_t maximum = max_bytes + (max_bytes < SIZE_MAX ? 1 : 0);
  Pieces pieces(std::min(std::max(declared + 1, first_piece_bytes), maximum));
  while (true) {
    const std::span<std::byte> room = pieces.room(maximum);
    const ssize_t got = retry_read(fd, room.data(), room.size());
    if (got < 0) return fail_os("file cannot be read", errno, name);
    if (got == 0) break;
    pieces.add(static_cast<std::size_t>(got));
    if (pieces.size() > max_bytes) return too_large(name, max_bytes);
  }
  span.arg("bytes", pieces.size());
  return std::move(pieces).joined();
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  trace::Span span("codec.write_file");
  span.arg("bytes", bytes.size());
  HALYARD_TRY(auto file, OutputFile::create(path));
  HALYARD_RETURN_IF_ERROR(file.write(bytes));
  return file.commit();
}

}  // namespace halyard
