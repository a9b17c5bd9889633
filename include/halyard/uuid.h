// SPDX-License-Identifier: Apache-2.0
// Uuid: names for tracks that are unique beyond one tracker and one process.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// 128 bits in the order in which they are written (RFC 9562).
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};
  friend bool operator==(const Uuid&, const Uuid&) = default;
};

/// The seed of a family of UUIDs. The same seed gives the same family, for tests and replays.
struct UuidSeed {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  /// From the system's random source. Errors: os.
  static Result<UuidSeed> random();
};

/// The UUID of version 4 for a number, for example for Track::id. Pure: the finalizer of SplitMix64
/// (Steele, Lea and Flood, 2014) over two counters, high + (2 n + 1) g and low + (2 n + 2) g with g
/// = 0x9E3779B97F4A7C15; then the version and variant bits. Not a secret: anybody who knows a few
/// UUIDs can find the seed.
Uuid uuid_v4(UuidSeed seed, std::uint64_t number) noexcept;

/// Writes a UUID as "f81d4fae-7dec-41d0-a765-00a0c91e6bf6".
std::string to_string(const Uuid& uuid);
/// Reads 32 hexadecimal digits, with dashes as above or without dashes. Errors: malformed.
Result<Uuid> parse_uuid(std::string_view text);

}  // namespace halyard
HALYARD_EXPORTS_END
