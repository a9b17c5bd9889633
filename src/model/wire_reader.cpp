// SPDX-License-Identifier: Apache-2.0
// Reads varints and lengths. Every number comes from outside and is checked against the message
// that contains it. Format: protobuf.dev, "Encoding".
#include "model/wire_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text/format_error.h"

namespace halyard::model {
namespace {

Error malformed(std::uint64_t at, const char* why) {
  return fail(Errc::malformed, "model file is not a protobuf message", "byte {}: {}", at, why);
}

}  // namespace

Status WireReader::read(std::uint64_t at, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_os("model file cannot be read", errno);
    if (got == 0) return malformed(at, "the file ends here");
    out = out.subspan(static_cast<std::size_t>(got));
    at += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<std::byte> WireReader::byte_at(std::uint64_t at) {
  if (at < window_begin_ || at - window_begin_ >= window_bytes_) {
    const auto wanted = std::min<std::uint64_t>(window_.size(), size_ - at);
    window_bytes_ = 0;
    HALYARD_RETURN_IF_ERROR(read(at, std::span(window_).first(static_cast<std::size_t>(wanted))));
    window_begin_ = at;
    window_bytes_ = static_cast<std::size_t>(wanted);
  }
  return window_[static_cast<std::size_t>(at - window_begin_)];
}

Result<std::uint64_t> WireReader::varint(WireRange& message) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (message.begin == message.end) return malformed(message.begin, "a number is cut off");
    HALYARD_TRY(const std::byte byte, byte_at(message.begin));
    ++message.begin;
    value |= std::to_integer<std::uint64_t>(byte & std::byte{0x7F}) << shift;
    if ((byte & std::byte{0x80}) == std::byte{0}) return value;
  }
  return malformed(message.begin, "a number is longer than 10 bytes");
}

Result<std::optional<WireField>> WireReader::next(WireRange& message) {
  if (message.begin == message.end) return std::optional<WireField>();
  if (++fields_ > max_fields)
    return fail(Errc::exhausted, "model file has too many fields", "at most {}", max_fields);
  const std::uint64_t at = message.begin;
  HALYARD_TRY(const std::uint64_t tag, varint(message));
  WireField field;
  field.number = tag >> 3U;
  if (field.number == 0) return malformed(at, "a field without a number");
  std::uint64_t length = 0;
  switch (tag & 7U) {
    case 0: {
      HALYARD_TRY(field.value, varint(message));
      return std::optional(field);
    }
    case 1:
      field.kind = WireField::Kind::fixed64;
      length = 8;
      break;
    case 2: {
      field.kind = WireField::Kind::bytes;
      HALYARD_TRY(length, varint(message));
      break;
    }
    case 5:
      field.kind = WireField::Kind::fixed32;
      length = 4;
      break;
    default:
      return malformed(at, "a field of an unknown kind");
  }
  if (length > message.end - message.begin)
    return malformed(at, "a field is longer than its message");
  field.content = {message.begin, message.begin + length};
  message.begin += length;
  return std::optional(field);
}

Result<std::string> WireReader::text(WireRange content, std::size_t max_bytes, const char* what) {
  const std::uint64_t size = content.end - content.begin;
  if (size > max_bytes) {
    return fail(Errc::exhausted, "model file has a text that is too long",
                "{}: {} bytes, at most {}", what, size, max_bytes);
  }
  std::string out(static_cast<std::size_t>(size), '\0');
  if (size <= window_.size()) {  // names are mostly in the window already
    for (char& c : out) {
      HALYARD_TRY(const std::byte byte, byte_at(content.begin++));
      c = std::to_integer<char>(byte);
    }
    return out;
  }
  HALYARD_RETURN_IF_ERROR(
      read(content.begin, std::as_writable_bytes(std::span(out.data(), out.size()))));
  return out;
}

}  // namespace halyard::model
