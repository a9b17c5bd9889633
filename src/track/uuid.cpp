// SPDX-License-Identifier: Apache-2.0
// UUIDs of version 4 from a counter-based generator.
#include "halyard/uuid.h"

#include <sys/random.h>

#include <cerrno>

#include "base/text/cut_text.h"
#include "base/text/format_error.h"

namespace halyard {
namespace {

constexpr std::uint64_t gamma = 0x9E3779B97F4A7C15U;

std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace

Result<UuidSeed> UuidSeed::random() {
  std::uint64_t words[2];
  if (::getentropy(words, sizeof(words)) != 0)
    return fail_os("random seed: the system's source failed", errno);
  return UuidSeed{words[0], words[1]};
}

Uuid uuid_v4(UuidSeed seed, std::uint64_t number) noexcept {
  const std::uint64_t words[2] = {mix(seed.high + (2 * number + 1) * gamma),
                                  mix(seed.low + (2 * number + 2) * gamma)};
  Uuid out;
  for (unsigned i = 0; i < 16; ++i)
    out.bytes[i] = static_cast<std::uint8_t>(words[i / 8] >> (56 - 8 * (i % 8)));
  out.bytes[6] = static_cast<std::uint8_t>((out.bytes[6] & 0x0FU) | 0x40U);
  out.bytes[8] = static_cast<std::uint8_t>((out.bytes[8] & 0x3FU) | 0x80U);
  return out;
}

std::string to_string(const Uuid& uuid) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += digits[uuid.bytes[i] >> 4];
    out += digits[uuid.bytes[i] & 0x0FU];
  }
  return out;
}

Result<Uuid> parse_uuid(std::string_view text) {
  Uuid out;
  std::size_t digits = 0;
  bool is_good = text.size() == 32 || text.size() == 36;
  for (std::size_t i = 0; i < text.size() && is_good; ++i) {
    const char c = text[i];
    if (text.size() == 36 && (i == 8 || i == 13 || i == 18 || i == 23)) {
      is_good = c == '-';
      continue;
    }
    const int value = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    is_good = value >= 0;
    if (!is_good) break;
    auto& byte = out.bytes[digits / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++digits;
  }
  if (!is_good)
    return fail(Errc::malformed,
                "uuid: must be 32 hexadecimal digits, with dashes as 8-4-4-4-12 or none", "\"{}\"",
                cut_text(text, 64));
  return out;
}

}  // namespace halyard
