// SPDX-License-Identifier: Apache-2.0
// Decodes the entropy-coded bytes of one scan of a sequential JPEG into coefficients. It decodes
// flawless scans only, and reports all others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/jpeg/huffman_tables.h"

namespace halyard::codec {

/// A scan during decoding. Set the fields that have no default, then decode the MCUs in order.
struct HuffmanScan {
  struct Block {
    const HuffmanTable* dc;
    const HuffmanTable* ac;
    std::uint32_t component;  ///< index into predictions
  };

  const std::uint8_t* next;  ///< first byte that is not in `buffer`
  const std::uint8_t* end;
  std::uint64_t buffer = 0;  ///< the stream, next bit first
  unsigned bits = 0;         ///< valid bits of `buffer`
  unsigned absent_bits = 0;  ///< the last of these: zeros after the end of the stream
  std::array<int, 4> predictions{};
  std::uint64_t mcus;              ///< remaining MCUs
  std::uint32_t restart_interval;  ///< in MCUs; 0: no restarts
  std::uint32_t mcus_to_restart;   ///< initially restart_interval
  std::uint32_t next_restart = 0;  ///< number of the next marker, 0 .. 7
  std::uint32_t block_count;       ///< blocks of an MCU
  std::array<Block, 10> blocks;
};

/// 64 coefficients in natural order.
using CoefficientBlock = std::int16_t[64];

/// Decodes the next MCU into scan.block_count blocks, which must hold zeros. False: the scan is not
/// flawless, and `scan` and the blocks must not be used any more. A scan is flawless if each code
/// exists, each block ends at coefficient 63 or before, each DC value fits 16 bits, each restart
/// marker is correct and in its place, and a marker follows the last MCU, with only zero bytes
/// between them. After the last MCU, `next` is at the first 0xFF of this marker. Reads only the
/// bytes from next to end. Thread: any, one at a time for a scan.
[[nodiscard]] bool decode_mcu(HuffmanScan& scan, CoefficientBlock** blocks) noexcept;

}  // namespace halyard::codec
