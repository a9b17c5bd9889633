// SPDX-License-Identifier: Apache-2.0
// Reads protobuf's wire format from a file field by field. It knows no message types. The content
// of a field is read only on request, so gigabytes of weights are skipped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "halyard/result.h"

namespace halyard::model {

/// Bytes of the file from `begin` up to `end`.
struct WireRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct WireField {
  enum class Kind : std::uint8_t { number, fixed64, bytes, fixed32 };
  std::uint64_t number = 0;  ///< the field's number
  Kind kind = Kind::number;
  std::uint64_t value = 0;  ///< for Kind::number
  WireRange content;        ///< for Kind::bytes: a text, or a message
};

/// Reads through one window of memory. Thread-bound. Every error is `malformed` with the offset of
/// the byte at fault, `exhausted` with the limit, or `os`.
class WireReader {
 public:
  /// The most fields of a file, at all depths together; beyond is `exhausted`.
  static constexpr std::uint64_t max_fields = std::uint64_t{1} << 22;

  /// Borrows the descriptor. If the file shrinks later, reading only gives `malformed`.
  WireReader(int fd, std::uint64_t size) noexcept : fd_(fd), size_(size) {}

  WireRange file() const noexcept { return {0, size_}; }
  /// The next field of a message; `message` then begins after it. nullopt at the end.
  Result<std::optional<WireField>> next(WireRange& message);
  /// The text. If it is longer than `max_bytes`, the message has the limit and `what`.
  Result<std::string> text(WireRange content, std::size_t max_bytes, const char* what);

 private:
  Result<std::uint64_t> varint(WireRange& message);
  Result<std::byte> byte_at(std::uint64_t at);
  Status read(std::uint64_t at, std::span<std::byte> out);

  int fd_;
  std::uint64_t size_;
  std::uint64_t fields_ = 0;
  std::uint64_t window_begin_ = 0;
  std::size_t window_bytes_ = 0;
  std::array<std::byte, 4096> window_;
};

}  // namespace halyard::model
