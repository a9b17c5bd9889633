// SPDX-License-Identifier: Apache-2.0
// Blob: attribute lists and results as bytes that other processes read. A blob consists of records.
// The form is documented in docs/negotiation.md.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "halyard/attribute_blob.h"

namespace halyard {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they are");

enum class BlobContent : std::uint32_t { lists = 1, result = 2 };

/// Keys of records other than attributes.
enum class BlobRecord : std::uint16_t {
  party = 0x8001,        ///< the party of the records that follow, and its engine
  alternative = 0x8002,  ///< a layout that the party accepts; its attributes follow
  choice = 0x8003,  ///< of a result: a digest of its layouts and facts, and whether the machine can
                    ///< keep a buffer attached
  view = 0x8004,    ///< of a result: the party it is for, and what that party may do
  buffer = 0x8005,  ///< of an exported buffer: its memory
};

inline constexpr std::size_t blob_head_bytes = 32;
/// Offset of the blob's size in the head, 32 bits.
inline constexpr std::size_t blob_size_offset = 8;

/// A reader must know all keys that have this bit.
inline constexpr std::uint16_t blob_critical_bit = 0x8000;

/// FNV-1a of 128 bits (RFC 9923) over 64-bit little-endian words. The last word is filled with
/// zeros and followed by the number of bytes.
std::array<std::uint8_t, 16> blob_hash(std::span<const std::byte> bytes) noexcept;

/// A writer of numbers and texts, one after the other.
class BlobBytes {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_integral_v<T>);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  /// The text is cut to 255 bytes.
  void put_text(std::string_view text);
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// Puts a record whose value is what `fill` puts.
  template <class Fill>
  void record(std::uint16_t key, std::uint8_t index, const Fill& fill) {
    put(key);
    put(index);
    put(std::uint8_t{0});
    const std::size_t at = bytes_.size();
    put(std::uint32_t{0});
    fill();
    const auto size = static_cast<std::uint32_t>(bytes_.size() - at - 4);
    std::memcpy(bytes_.data() + at, &size, 4);
  }
  void reserve(std::size_t size) { bytes_.reserve(size); }
  std::vector<std::byte>& get() noexcept { return bytes_; }
  const std::vector<std::byte>& get() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// A blob of records. Errors: exhausted (more than 64 KiB).
Result<std::vector<std::byte>> make_blob(BlobContent content, std::span<const std::byte> records);

/// Reads what BlobBytes has put. A missing value reads as 0 and sets fails().
class BlobValues {
 public:
  explicit BlobValues(std::span<const std::byte> bytes) noexcept : left_(bytes) {}
  template <class T>
  T get() noexcept {
    T value{};
    if (left_.size() < sizeof(T)) {
      fails_ = true;
      left_ = {};
      return value;
    }
    std::memcpy(&value, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
    return value;
  }
  std::string_view text() noexcept;
  std::span<const std::byte> rest() noexcept { return std::exchange(left_, {}); }
  bool is_empty() const noexcept { return left_.empty(); }
  bool fails() const noexcept { return fails_; }

 private:
  std::span<const std::byte> left_;
  bool fails_ = false;
};

struct BlobEntry {
  std::uint16_t key = 0;
  std::uint8_t index = 0;
  std::span<const std::byte> value;
  /// The record with its head.
  std::span<const std::byte> whole;
};

/// The records of a complete blob. Errors: malformed (not a blob, or of other content), version,
/// corrupt (truncated or changed).
Result<std::vector<BlobEntry>> read_blob(BlobContent content, std::span<const std::byte> blob);

}  // namespace halyard
