// SPDX-License-Identifier: Apache-2.0
// The units of an H.264 byte stream (ITU-T H.264, Annex B).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halyard::capture {

/// nal_unit_type.
enum class H264Unit : std::uint8_t { sps = 7, pps = 8, delimiter = 9 };

/// Of a unit that is not empty.
inline H264Unit unit_type(std::span<const std::uint8_t> unit) noexcept {
  return static_cast<H264Unit>(unit[0] & 0x1FU);
}

/// Takes the first unit from `stream`, without its start code and the zeros after it; empty: there
/// is no other.
std::span<const std::uint8_t> next_unit(std::span<const std::uint8_t>& stream) noexcept;

}  // namespace halyard::capture
