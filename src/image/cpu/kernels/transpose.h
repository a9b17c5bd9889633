// SPDX-License-Identifier: Apache-2.0
// Kernel: quarter turn of a block of elements, by vector transposes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Out row j, element i is in row i, element j, its bytes in the given order. Both strides in
/// bytes; `in_stride` may be negative.
struct TransposeJob {
  const std::byte* in = nullptr;
  std::ptrdiff_t in_stride = 0;
  std::byte* out = nullptr;
  std::ptrdiff_t out_stride = 0;
  std::size_t in_columns = 0;
  std::size_t in_rows = 0;
  std::size_t element_bytes = 1;                  ///< 1 .. 4
  std::array<std::uint8_t, 4> order{0, 1, 2, 3};  ///< byte k of an element comes from byte order[k]
};

/// Rational vectors are stored: `out` needs min_transposed_rows rows, and each of them
/// transpose_spare_bytes behind its last element. Reads the job's elements and no other byte.
void transpose_elements(const TransposeJob& job) noexcept;

inline constexpr std::size_t min_transposed_rows = 16;
inline constexpr std::size_t transpose_spare_bytes = 64;

}  // namespace halyard::image
