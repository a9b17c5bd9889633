// SPDX-License-Identifier: Apache-2.0
// Whole files: reads them with a limit, writes them through OutputFile.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

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
  // One byte more than the size detects the end of the file. Pipes and /proc files have size 0.
  constexpr std::size_t step = std::size_t{1} << 16;
  const std::size_t maximum = max_bytes + (max_bytes < SIZE_MAX ? 1 : 0);
  std::vector<std::byte> bytes(std::min(std::max(declared + 1, step), maximum));
  std::size_t used = 0;
  while (true) {
    if (used == bytes.size()) {
      // A vector that grows by itself doubles its memory; here it never exceeds the limit.
      const std::size_t larger = used > maximum / 2 ? maximum : used * 2;
      bytes.reserve(larger);
      bytes.resize(larger);
    }
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
  HALYARD_TRY(auto file, OutputFile::create(path));
  HALYARD_RETURN_IF_ERROR(file.write(bytes));
  return file.commit();
}

}  // namespace halyard
