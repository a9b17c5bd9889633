// SPDX-License-Identifier: Apache-2.0
// Kernels: runs of bytes to runs of numbers. Neither side is aligned; each reads and writes the
// `count` elements and no other byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Of a byte v: v * high + v * low - offset. high + low is 1 / divisor; `high` has so few bits that
/// its product with a byte is exact, so that the sum is the quotient rounded once.
template <class T>
struct ByteQuotient {
  T high = 1;
  T low = 0;
  T offset = 0;
};

void bytes_to_floats(const std::uint8_t* in, std::size_t count, const ByteQuotient<float>& q,
                     std::byte* out) noexcept;
void bytes_to_doubles(const std::uint8_t* in, std::size_t count, const ByteQuotient<double>& q,
                      std::byte* out) noexcept;
/// v - zero_point, clamped to [-128, 127].
void bytes_to_signed(const std::uint8_t* in, std::size_t count, int zero_point,
                     std::byte* out) noexcept;

}  // namespace halyard::image
