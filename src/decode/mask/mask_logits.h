// SPDX-License-Identifier: Apache-2.0
// Logits of many masks in one pass over the prototypes: row by row, all masks that cross a row
// while it is in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decode/mask/mask_dot.h"
#include "decode/mask/mask_geometry.h"
#include "decode/mask/mask_stage.h"

namespace halyard::decode {

/// One mapped prototype tensor.
struct PrototypeGrid {
  const std::byte* data = nullptr;  ///< pixel (0, 0), channel 0
  DType dtype = DType::f32;
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 0;
  std::ptrdiff_t pixel_stride_bytes = 0;
  std::ptrdiff_t row_stride_bytes = 0;
  std::ptrdiff_t channel_stride_bytes = 0;
};

/// Logits wanted for the pixels of columns x rows, of coefficient row `index`: pixel (x, y) goes to
/// out[(y - rows.begin) * stride + x - columns.begin], and a 0 after the last one of each row.
/// Each row may be written pixel_padding further.
struct LogitJob {
  std::size_t index = 0;
  PixelRange columns;
  PixelRange rows;
  float* out = nullptr;
  std::size_t stride = 0;
};

/// Computes logits; keeps its memory between frames. One thread at a time.
class LogitEngine {
 public:
  /// Takes the tensor and the coefficients of a frame. `prototypes` has been checked. Uses integers
  /// where both sides are and no sum can leave 32 bits.
  void begin(const PrototypeGrid& grid, const MaskPrototypes& prototypes);
  /// Changes the order of jobs.
  void run(std::span<LogitJob> jobs);
  /// What computed logits are to be multiplied by; above 0.
  float scale() const noexcept { return scale_; }

 private:
  void take_real(const MaskPrototypes& prototypes);
  void take_integers(const MaskPrototypes& prototypes);
  void take_scales(const MaskPrototypes& prototypes);
  void run_row(std::span<const LogitJob> jobs, std::int32_t y);
  void stage(PixelRange columns, std::int32_t y);
  void compute(const LogitJob& job, std::int32_t y);

  PrototypeGrid grid_;
  bool integers_ = false;
  bool packed_ = false;  ///< read where they lie
  float scale_ = 1;
  std::size_t padded_channels_ = 0;
  std::vector<float> real_;           ///< N x padded channels
  std::vector<std::int16_t> stored_;  ///< the same, less the zero point
  std::vector<std::int32_t> offsets_;
  std::vector<float> channel_scale_, channel_zero_point_;
  std::vector<float> staged_real_;
  std::vector<std::int16_t> staged_pairs_;
  std::size_t staged_stride_ = 0;
  std::int32_t staged_left_ = 0;
  std::vector<std::uint32_t> active_;
};

}  // namespace halyard::decode
