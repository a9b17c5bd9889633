// SPDX-License-Identifier: Apache-2.0
// Finds the scans of a JPEG file. Their headers are between stretches of entropy-coded bytes, where
// 0xFF occurs only before 0 and in restart markers.
#include "codec/jpeg/jpeg_scans.h"

#include <algorithm>
#include <cstring>

#include "base/text/format_error.h"

namespace halyard::codec {
namespace {

// This many visits are allowed for an image of any size: they take less than half a second.
constexpr std::uint64_t free_visits = std::uint64_t{1} << 25;

constexpr unsigned scan_marker = 0xDA;
constexpr unsigned start_marker = 0xD8;
constexpr unsigned end_marker = 0xD9;

unsigned scan_byte_at(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}

// Whether the byte after 0xFF has no segment: a stuffed byte, a fill byte, or a marker without
// content.
bool stands_alone(unsigned marker) {
  return marker == 0 || marker == 1 || marker == 0xFF || (marker >= 0xD0 && marker <= 0xD7);
}

// Offset of the next marker that ends a scan's data or begins a segment; the end if there is none.
std::size_t next_marker(std::span<const std::byte> file, std::size_t at) {
  while (at + 1 < file.size()) {
    const void* found = std::memchr(file.data() + at, 0xFF, file.size() - 1 - at);
    if (found == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const std::byte*>(found) - file.data());
    if (!stands_alone(scan_byte_at(file, at + 1))) return at;
    ++at;
  }
  return file.size();
}

// Content of the segment whose marker is at `at`; empty if the segment is cut.
std::span<const std::byte> segment_at(std::span<const std::byte> file, std::size_t at) {
  if (file.size() - at < 4) return {};
  const std::size_t length = scan_byte_at(file, at + 2) << 8 | scan_byte_at(file, at + 3);
  if (length < 2 || length > file.size() - at - 2) return {};
  return file.subspan(at + 4, length - 2);
}

std::uint64_t blocks_of_scan(std::span<const std::byte> scan, const JpegHeader& header) {
  std::uint64_t blocks = 0;
  const std::size_t count = scan.empty() ? 0 : scan_byte_at(scan, 0);
  for (std::size_t i = 0; i < count && 2 + 2 * i < scan.size(); ++i) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(header.info.components); ++c) {
      if (scan_byte_at(scan, 1 + 2 * i) != header.components[c].id) continue;
      blocks += header.blocks_of(c);
      break;
    }
  }
  return blocks;
}

}  // namespace

std::uint64_t max_visits(const JpegHeader& header, const DecodeLimits& limits) noexcept {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(std::uint64_t{header.blocks()}, std::uint64_t{limits.max_scan_passes},
                             &product)) {
    return ~std::uint64_t{0};
  }
  return std::max(product, free_visits);
}

bool has_many_scans(std::span<const std::byte> file, const JpegHeader& header) noexcept {
  if (header.info.progressive) return true;
  const auto first = segment_at(file, header.scan_at);
  return !first.empty() && scan_byte_at(first, 0) < static_cast<unsigned>(header.info.components);
}

Status check_jpeg_scans(std::span<const std::byte> file, const JpegHeader& header,
                        const DecodeLimits& limits) {
  if (!has_many_scans(file, header)) return {};
  const std::uint64_t allowed = max_visits(header, limits);
  std::size_t scans = 0;
  std::uint64_t visits = 0;
  for (std::size_t at = header.scan_at; at < file.size();) {
    const unsigned marker = scan_byte_at(file, at + 1);
    if (marker == start_marker || marker == end_marker) break;
    const auto segment = segment_at(file, at);
    if (marker == scan_marker) {
      ++scans;
      visits += blocks_of_scan(segment, header);
    }
    // The decoder refuses a cut segment.
    at = next_marker(file, at + 2 + (segment.empty() ? 0 : segment.size() + 2));
  }
  if (scans > limits.max_scans) {
    return fail(Errc::invalid_argument, "JPEG has more scans than limits.max_scans", "{} > {}",
                scans, limits.max_scans);
  }
  if (visits <= allowed) return {};
  return fail(Errc::invalid_argument,
              "JPEG scans visit its blocks more often than limits.max_scan_passes",
              "{} scans visit {} blocks in an image of {}: more than {} times", scans, visits,
              header.blocks(), limits.max_scan_passes);
}

}  // namespace halyard::codec
