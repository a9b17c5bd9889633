// SPDX-License-Identifier: Apache-2.0
// Kernel: quarter turn of a block of elements, by vector transposes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Out row j, element i is in row i, element j, its bytes in the given order. Both strides in
/// bytes; `in_stride` may be negative.
struct TurnJob {
  const std::byte* in = nullptr;
  std::ptrdiff_t in_stride = 0;
  std::byte* out = nullptr;
  std::ptrdiff_t out_stride = 0;
  std::size_t in_columns = 0;
  std::size_t in_rows = 0;
  std::size_t element_bytes = 1;                  ///< 1 .. 4
  std::array<std::uint8_t, 4> order{0, 1, 2, 3};  ///< byte k of an element comes from byte order[k]
};

/// Whole vectors are stored: `out` needs least_turned_rows rows, and each of them
/// turned_spare_bytes behind its last element. Reads the job's elements and no other byte.
void turn_elements(const TurnJob& job) noexcept;

inline constexpr std::size_t least_turned_rows = 16;
inline constexpr std::size_t turned_spare_bytes = 64;

}  // namespace halyard::image
