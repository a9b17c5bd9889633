// SPDX-License-Identifier: Apache-2.0
// Logits of many masks in one pass over the prototypes. For each row, computes all masks that cross
// it while the row is in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decode/mask/mask_dot.h"
#include "decode/mask/mask_geometry.h"
#include "decode/mask/mask_stage.h"

namespace halyard::decode {

/// One mapped tensor of prototypes.
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

/// Logits of coefficient row `index` for the pixels columns x rows. Pixel (x, y) is written to
/// out[(y - rows.begin) * stride + x - columns.begin], and a 0 after the last pixel of each row. Up
/// to pixel_padding more floats per row may be written.
struct LogitJob {
  std::size_t index = 0;
  PixelRange columns;
  PixelRange rows;
  float* out = nullptr;
  std::size_t stride = 0;
};

/// Computes logits. Keeps its memory between frames. Use from one thread at a time.
class LogitEngine {
 public:
  /// Sets the tensor and the coefficients of a frame, which have been checked. Uses integer
  /// arithmetic if both are integers and no sum can exceed 32 bits.
  void begin(const PrototypeGrid& grid, const MaskPrototypes& prototypes);
  /// Computes all jobs. Changes their order.
  void run(std::span<LogitJob> jobs);
  /// Factor for the computed logits; above 0.
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
  bool packed_ = false;  ///< read in place, without staging
  float scale_ = 1;
  std::size_t padded_channels_ = 0;
  std::vector<float> real_;           ///< N x padded channels
  std::vector<std::int16_t> stored_;  ///< the same, minus the zero point
  std::vector<std::int32_t> offsets_;
  std::vector<float> channel_scale_, channel_zero_point_;
  std::vector<float> staged_real_;
  std::vector<std::int16_t> staged_pairs_;
  std::size_t staged_stride_ = 0;
  std::int32_t staged_left_ = 0;
  std::vector<std::uint32_t> active_;
};

}  // namespace halyard::decode
