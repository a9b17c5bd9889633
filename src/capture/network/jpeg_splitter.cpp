// SPDX-License-Identifier: Apache-2.0
// Follows JPEG markers (ITU-T T.81, annex B).
#include "capture/network/jpeg_splitter.h"

namespace halyard::capture {
namespace {

constexpr unsigned soi = 0xD8;
constexpr unsigned eoi = 0xD9;
constexpr unsigned sos = 0xDA;

bool stands_alone(unsigned marker) noexcept {
  return marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7);  // TEM, RSTn
}

}  // namespace

std::optional<std::size_t> JpegSplitter::end(std::span<const std::byte> bytes) noexcept {
  const auto value = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  while (at_ + 1 < bytes.size()) {
    if (value(at_) != 0xFF) {
      if (!in_scan_) return at_;
      ++at_;
      continue;
    }
    const unsigned marker = value(at_ + 1);
    if (marker == 0xFF) {  // fill byte
      ++at_;
    } else if ((in_scan_ && marker == 0) || stands_alone(marker)) {
      at_ += 2;
    } else if (marker == eoi) {
      return at_ + 2;
    } else if (marker == soi || marker == 0) {
      return at_;
    } else {
      if (at_ + 3 >= bytes.size()) return std::nullopt;
      const std::size_t length = value(at_ + 2) << 8U | value(at_ + 3);
      if (length < 2) return at_ + 4;
      at_ += 2 + length;
      in_scan_ = marker == sos;
    }
  }
  return std::nullopt;
}

}  // namespace halyard::capture
