// SPDX-License-Identifier: Apache-2.0
#include "capture/network/connection.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <algorithm>
#include <array>
#include <climits>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

constexpr std::size_t portion_bytes = std::size_t{1} << 16;

}  // namespace

int Watch::ask(void* watch) noexcept {
  auto& self = *static_cast<Watch*>(watch);
  if (self.is_cancelled_ && self.is_cancelled_()) self.was_cancelled_ = true;
  if (std::chrono::steady_clock::now() > self.until_) self.was_late_ = true;
  return self.was_cancelled_ || self.was_late_ ? 1 : 0;
}

Error Watch::failure(const char* what, int code, const std::string& name, Errc otherwise) const {
  if (was_cancelled_) return fail(Errc::cancelled, "source: the caller asked to stop", "{}", name);
  if (was_late_) {
    return fail(Errc::timeout, "source: no data within network_timeout", "{}: {} ms", name,
                patience_.count());
  }
  if (code == AVERROR_HTTP_NOT_FOUND) otherwise = Errc::not_found;
  if (code == AVERROR_HTTP_UNAUTHORIZED || code == AVERROR_HTTP_FORBIDDEN)
    otherwise = Errc::permission;
  return ffmpeg_error(what, code, name, otherwise);
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& address,
                                                     const std::string& name,
                                                     const Options& options) {
  std::unique_ptr<Connection> made(new Connection(name, std::make_shared<Watch>(options)));
  Dictionary entries;
  entries.set("protocol_whitelist", "http,https,tcp,tls,httpproxy");
  const AVIOInterruptCB callback = made->watch_->callback();
  made->watch_->begin();
  const int opened =
      ffmpeg().avio_open2(&made->io_, address.c_str(), AVIO_FLAG_READ, &callback, &entries.entries);
  if (opened < 0)
    return made->watch_->failure("source: server cannot be read", opened, name, Errc::os);
  return made;
}

Connection::~Connection() {
  if (io_ != nullptr) ffmpeg().avio_closep(&io_);
}

Result<std::vector<std::byte>> Connection::peek(std::size_t count) {
  std::vector<std::byte> bytes(count);
  watch_->begin();
  const int got = ffmpeg().avio_read(io_, reinterpret_cast<unsigned char*>(bytes.data()),
                                     static_cast<int>(count));
  if (got < 0 && got != AVERROR_EOF)
    return watch_->failure("source: server cannot be read", got, name_, Errc::os);
  bytes.resize(static_cast<std::size_t>(std::max(got, 0)));
  // These bytes are still in FFmpeg's buffer, so the seek sends no request to the server.
  const std::int64_t back = ffmpeg().avio_seek(io_, 0, SEEK_SET);
  if (back < 0)
    return watch_->failure("source: server cannot be read", static_cast<int>(back), name_,
                           Errc::os);
  return bytes;
}

Result<std::vector<std::byte>> Connection::read_all(std::size_t max_bytes) {
  std::vector<std::byte> bytes;
  while (true) {
    const std::size_t used = bytes.size();
    if (used > max_bytes)
      return fail(Errc::invalid_argument, "source: the image's file exceeds its limit",
                  "{}: above {} bytes", name_, max_bytes);
    bytes.resize(used + portion_bytes);
    watch_->begin();
    const int got = ffmpeg().avio_read(io_, reinterpret_cast<unsigned char*>(bytes.data() + used),
                                       static_cast<int>(portion_bytes));
    bytes.resize(used + static_cast<std::size_t>(std::max(got, 0)));
    if (got == AVERROR_EOF || got == 0) return bytes;
    if (got < 0) return watch_->failure("source: server cannot be read", got, name_, Errc::os);
  }
}

}  // namespace halyard::capture

#endif
