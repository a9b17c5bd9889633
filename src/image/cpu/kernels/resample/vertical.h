// SPDX-License-Identifier: Apache-2.0
// Kernels that blend rows: bytes of the source to rows of samples, or rows of samples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// How the samples of a row part into rows of one channel each.
enum class Split : std::uint8_t {
  whole,       ///< not at all
  pairs,       ///< a b a b: two rows
  triples,     ///< a b c
  quads,       ///< a b c d
  luma_first,  ///< y a y b: y, a, b
  luma_last,   ///< a y b y: y, a, b
};

/// Bytes that belong together.
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

/// Rows of one output: the sum of row t times its weight. One row is taken as it is. Two rows with
/// positive weights are a + (b - a) * `second` / 2^15. A few rows of bytes with positive weights
/// have `parts` of 2^16 each. Else weights have `bits` fractional bits,
/// `pairs` are two rows' each, the last one 0 where their count is odd; `fine` (samples only, may
/// be null) adds parts of 2^-6 of a weight's unit.
struct VerticalWeights {
  std::int32_t taps = 1;
  std::int16_t second = 0;               ///< 0: parts or pairs
  const std::uint16_t* parts = nullptr;  ///< null: pairs
  int bits = 14;                         ///< above the fraction of the results
  const std::int16_t* pairs = nullptr;
  const std::int16_t* fine = nullptr;
};

/// Reads no byte but groups [0, groups) of each row. Results may be stored up to the end of the
/// rows' spare samples; a null `out` is left out.
struct BlendBytes {
  VerticalWeights weights;
  const std::uint8_t* const* rows = nullptr;
  Split split = Split::whole;
  std::int32_t groups = 0;
  int fraction = 7;  ///< of the results
  std::array<std::int16_t*, 4> out{};
};
void blend_bytes(const BlendBytes& job);

/// Rows of samples, with spare samples; taps >= 2.
struct BlendSamples {
  VerticalWeights weights;
  const std::int16_t* const* rows = nullptr;
  std::int32_t samples = 0;
  std::int16_t* out = nullptr;
};
void blend_samples(const BlendSamples& job);

}  // namespace halyard::image
