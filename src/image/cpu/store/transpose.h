// SPDX-License-Identifier: Apache-2.0
// Transposes tiles of results, for plans that swap axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/color/color_converter.h"

namespace halyard::image {

/// Columns that are transposed together: each becomes a row.
inline constexpr std::int32_t transpose_side = 16;

/// Bytes of working memory that transpose_results() needs.
std::size_t transpose_workspace_bytes(std::int32_t tile_rows) noexcept;

/// Transposes columns 0 .. transpose_side - 1 of `rows` rows of results, which are `stride` samples
/// apart, to rows of `rows` results with spare samples in `memory`. Reads whole vectors: rows must
/// have spare samples.
std::array<ResultRows, transpose_side> transpose_results(const ResultRows& first,
                                                         std::size_t stride, std::int32_t rows,
                                                         std::int32_t tile_rows,
                                                         std::byte* memory) noexcept;

}  // namespace halyard::image
