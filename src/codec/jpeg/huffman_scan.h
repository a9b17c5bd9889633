// SPDX-License-Identifier: Apache-2.0
// The entropy-coded bytes of one scan of a sequential JPEG, decoded into coefficients. It serves
// scans that are flawless, and says of all others that they are not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/jpeg/huffman_tables.h"

namespace halyard::codec {

/// A scan on its way. Set what has no value here, then decode its MCUs in order.
struct HuffmanScan {
  struct Block {
    const HuffmanTable* dc;
    const HuffmanTable* ac;
    std::uint32_t component;  ///< index into predictions
  };

  const std::uint8_t* next;  ///< first byte that is not in `buffer`
  const std::uint8_t* end;
  std::uint64_t buffer = 0;  ///< the stream, next bit first
  unsigned bits = 0;         ///< how many bits of `buffer` count
  unsigned absent_bits = 0;  ///< of them, last: zeros where the stream has ended
  std::array<int, 4> predictions{};
  std::uint64_t mcus;              ///< that are left
  std::uint32_t restart_interval;  ///< in MCUs; 0: no restarts
  std::uint32_t mcus_to_restart;   ///< restart_interval at first
  std::uint32_t next_restart = 0;  ///< number of the marker, 0 .. 7
  std::uint32_t block_count;       ///< of an MCU
  std::array<Block, 10> blocks;
};

/// Coefficients in natural order.
using CoefficientBlock = std::int16_t[64];

/// Decodes the next MCU into scan.block_count blocks, which hold zeros before. False: the scan is
/// not flawless, and neither `scan` nor the blocks have a meaning any more. A scan is flawless when
/// each code exists, each block ends at coefficient 63 or before, each DC value has 16 bits, each
/// restart marker is where and what it must be, and a marker follows the last MCU, with bytes 0
/// before it or none. After the last MCU, `next` is at the first 0xFF of this marker. Reads next ..
/// end alone. Thread: any, one at a time for a scan.
[[nodiscard]] bool decode_mcu(HuffmanScan& scan, CoefficientBlock** blocks) noexcept;

}  // namespace halyard::codec
