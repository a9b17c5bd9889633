// SPDX-License-Identifier: Apache-2.0
// Quarter turn of tiles of results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/color/color_converter.h"

namespace halyard::image {

/// Columns that are turned together: they become so many rows.
inline constexpr std::int32_t transpose_side = 16;

/// Working memory of transpose_results().
std::size_t transpose_workspace_bytes(std::int32_t tile_rows) noexcept;

/// Columns 0 .. transpose_side - 1 of `rows` rows of results, `stride` samples apart, as rows of
/// `rows` results with spare samples in `memory`. Reads up to whole vectors: rows have spare
/// samples.
std::array<ResultRows, transpose_side> transpose_results(const ResultRows& first,
                                                         std::size_t stride, std::int32_t rows,
                                                         std::int32_t tile_rows,
                                                         std::byte* memory) noexcept;

}  // namespace halyard::image
