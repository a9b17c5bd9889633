// SPDX-License-Identifier: Apache-2.0
// Kernels: the vertical pass. They blend rows of source bytes, or rows of samples, to one row of
// samples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// How the bytes of a row are split into rows of one channel each.
enum class Split : std::uint8_t {
  whole,       ///< not split: one channel
  pairs,       ///< a b a b: two rows
  triples,     ///< a b c
  quads,       ///< a b c d
  luma_first,  ///< y a y b: y, a, b
  luma_last,   ///< a y b y: y, a, b
};

/// Bytes of one group of samples.
constexpr std::size_t group_bytes(Split split) noexcept {
  switch (split) {
    case Split::whole:
      return 1;
    case Split::pairs:
      return 2;
    case Split::triples:
      return 3;
    default:
      return 4;
  }
}

/// Weights of the source rows of one output row, which is the sum of row t times its weight:
/// - one row: taken as it is;
/// - two rows with positive weights: a + (b - a) * `second` / 2^15;
/// - a few rows of bytes with positive weights: `parts`, in units of 2^-16;
/// - else: `pairs`, weights with `bits` fractional bits, two in each pair; of an odd count the last
/// one is 0. `fine` (samples only, may be null) adds to each weight a part in units of 2^-6 of its
/// last bit.
struct VerticalWeights {
  std::int32_t taps = 1;
  std::int16_t second = 0;               ///< 0: `parts` or `pairs` are used
  const std::uint16_t* parts = nullptr;  ///< null: `pairs` are used
  int bits = 14;                         ///< fractional bits of `pairs`
  const std::int16_t* pairs = nullptr;
  const std::int16_t* fine = nullptr;
};

/// Reads only groups [0, groups) of each row. May write results up to the end of the rows' spare
/// samples; a null `out` is skipped.
struct BlendBytes {
  VerticalWeights weights;
  const std::uint8_t* const* rows = nullptr;
  Split split = Split::whole;
  std::int32_t groups = 0;
  int fraction = 7;  ///< fractional bits of the results, 6 or 7
  std::array<std::int16_t*, 4> out{};
};
void blend_bytes(const BlendBytes& job);

/// Rows of samples, which have spare samples; taps >= 2.
struct BlendSamples {
  VerticalWeights weights;
  const std::int16_t* const* rows = nullptr;
  std::int32_t samples = 0;
  std::int16_t* out = nullptr;
};
void blend_samples(const BlendSamples& job);

}  // namespace halyard::image
