// SPDX-License-Identifier: Apache-2.0
// Kernel: transposes a block of elements, for rotations by 90 and 270 degrees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Element i of output row j is element j of input row i, with its bytes in the given order. Both
/// strides are in bytes; `in_stride` may be negative.
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

/// Stores whole vectors: `out` needs at least min_transposed_rows rows, and each row needs
/// transpose_spare_bytes behind its last element. Reads only the job's elements.
void transpose_elements(const TransposeJob& job) noexcept;

inline constexpr std::size_t min_transposed_rows = 16;
inline constexpr std::size_t transpose_spare_bytes = 64;

}  // namespace halyard::image
