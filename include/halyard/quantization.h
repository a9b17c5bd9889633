// SPDX-License-Identifier: Apache-2.0
// Quantization: real = (stored - zero_point) * scale, for a tensor or per channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Affine quantization of an integer tensor. One scale: per tensor. Several: one per index of
/// `axis`. An empty zero_point means all zero (symmetric).
struct Quantization {
  std::vector<float> scale;
  std::vector<std::int32_t> zero_point;
  std::optional<std::size_t> axis;

  static Quantization per_tensor(float scale, std::int32_t zero_point = 0) {
    return {{scale}, {zero_point}, std::nullopt};
  }
  bool is_per_tensor() const noexcept { return scale.size() == 1; }
  bool is_symmetric() const noexcept;
  /// Zero point of channel i (any i for per-tensor).
  std::int32_t zero_point_at(std::size_t i) const noexcept;
  float scale_at(std::size_t i) const noexcept;
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

/// Checks that all scales are finite and > 0; that there are as many zero points as scales, or
/// none; that zero points lie inside the dtype's range; that there is an axis exactly if there are
/// several scales, and that the shape has this axis with that extent; that the dtype is an integer.
/// Errors: invalid_argument naming the field.
Status validate(const Quantization& quantization, DType dtype, std::span<const std::size_t> shape);

}  // namespace halyard
HALYARD_EXPORTS_END
