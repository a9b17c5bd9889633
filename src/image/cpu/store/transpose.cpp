// SPDX-License-Identifier: Apache-2.0
// Transposes tiles of results.
#include "image/cpu/store/transpose.h"

#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/transpose.h"

namespace halyard::image {
namespace {

static_assert(transpose_side >= static_cast<std::int32_t>(min_transposed_rows));
static_assert(spare_samples >= transpose_spare_bytes);

template <class T>
void transpose_tile(const T* in, std::size_t stride, std::int32_t rows, T* out,
                    std::size_t out_stride) {
  TransposeJob job;
  job.in = reinterpret_cast<const std::byte*>(in);
  job.in_stride = static_cast<std::ptrdiff_t>(stride * sizeof(T));
  job.out = reinterpret_cast<std::byte*>(out);
  job.out_stride = static_cast<std::ptrdiff_t>(out_stride * sizeof(T));
  job.in_columns = static_cast<std::size_t>(transpose_side);
  job.in_rows = static_cast<std::size_t>(rows);
  job.element_bytes = sizeof(T);
  transpose_elements(job);
}

}  // namespace

std::size_t transpose_workspace_bytes(std::int32_t tile_rows) noexcept {
  return 4 * static_cast<std::size_t>(transpose_side) * padded_row(tile_rows) *
         sizeof(std::int16_t);
}

std::array<ResultRows, transpose_side> transpose_results(const ResultRows& first,
                                                         std::size_t stride, std::int32_t rows,
                                                         std::int32_t tile_rows,
                                                         std::byte* memory) noexcept {
  WorkspaceCursor cursor(memory);
  const std::size_t out_stride = padded_row(tile_rows);
  std::array<ResultRows, transpose_side> out;
  for (std::size_t c = 0; c < 4; ++c) {
    if (first.codes[c] != nullptr) {
      auto* to = cursor.take<std::uint8_t>(transpose_side * out_stride);
      transpose_tile(first.codes[c], stride, rows, to, out_stride);
      for (std::size_t i = 0; i < transpose_side; ++i)
        out[i].codes[c] = to + i * out_stride;
    }
    if (first.values[c] != nullptr) {
      auto* to = cursor.take<std::int16_t>(transpose_side * out_stride);
      transpose_tile(first.values[c], stride, rows, to, out_stride);
      for (std::size_t i = 0; i < transpose_side; ++i)
        out[i].values[c] = to + i * out_stride;
    }
  }
  return out;
}

}  // namespace halyard::image
