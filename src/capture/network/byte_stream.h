// SPDX-License-Identifier: Apache-2.0
// ByteStream: a descriptor that is read forwards and whose first bytes can be read in advance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::capture {

/// Owns its descriptor. It can seek in a regular file, but not in a pipe.
class ByteStream {
 public:
  /// `is_cancelled` is called about ten times a second while a pipe, socket or device has no bytes;
  /// empty: never.
  explicit ByteStream(Fd fd, std::function<bool()> is_cancelled = {}) noexcept;
  /// The next `count` bytes without consuming them; fewer at the end. Errors: os, cancelled.
  Result<std::span<const std::byte>> peek(std::size_t count);
  /// Reads some bytes; 0 at the end. Waits if there are none yet. Errors: os, cancelled.
  Result<std::size_t> read(std::span<std::byte> to);
  bool is_seekable() const noexcept { return size_.has_value(); }
  /// Bytes from the position where the stream began; seekable streams only.
  std::uint64_t size_bytes() const noexcept { return size_.value_or(0); }
  /// Errors: os, invalid_argument (not seekable, or beyond the largest file offset).
  Status seek(std::uint64_t from_start);
  std::uint64_t position() const noexcept { return position_; }

 private:
  Result<std::size_t> read_some(std::span<std::byte> to);
  Status wait_for_bytes();
  Fd fd_;
  std::function<bool()> is_cancelled_;
  std::vector<std::byte> ahead_;  // read but not yet consumed, from ahead_begin_ on
  std::size_t ahead_begin_ = 0;
  std::uint64_t position_ = 0;
  std::int64_t start_ = 0;             // the descriptor's offset at construction
  std::optional<std::uint64_t> size_;  // set for a regular file
};

}  // namespace halyard::capture
