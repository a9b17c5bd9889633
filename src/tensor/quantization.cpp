// SPDX-License-Identifier: Apache-2.0
// Checks of quantization parameters.
#include "halyard/quantization.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/text/format_error.h"

namespace halyard {
namespace {

// Range of stored values, limited to the range of an i32 zero point.
std::pair<std::int64_t, std::int64_t> range_of(DType dtype) noexcept {
  constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  switch (dtype) {
    case DType::u8:
      return {0, 255};
    case DType::i8:
      return {-128, 127};
    case DType::u16:
      return {0, 65535};
    case DType::i16:
      return {-32768, 32767};
    case DType::u32:
    case DType::u64:
      return {0, highest};
    default:
      return {lowest, highest};
  }
}

Status check_axis(const Quantization& q, std::span<const std::size_t> shape) {
  if (q.is_per_tensor()) {
    if (q.axis) return fail(Errc::invalid_argument, "quantization.axis: one scale takes no axis");
    return {};
  }
  if (!q.axis)
    return fail(Errc::invalid_argument, "quantization.axis: several scales need an axis");
  if (*q.axis >= shape.size()) {
    return fail(Errc::invalid_argument, "quantization.axis: must be below the rank",
                "{} of rank {}", *q.axis, shape.size());
  }
  if (shape[*q.axis] != q.scale.size()) {
    return fail(Errc::invalid_argument, "quantization.scale: must have one value per index of axis",
                "{} scales, axis {} has extent {}", q.scale.size(), *q.axis, shape[*q.axis]);
  }
  return {};
}

}  // namespace

bool Quantization::is_symmetric() const noexcept {
  return std::all_of(zero_point.begin(), zero_point.end(), [](auto z) { return z == 0; });
}

std::int32_t Quantization::zero_point_at(std::size_t i) const noexcept {
  if (zero_point.empty()) return 0;
  return zero_point.size() == 1 ? zero_point[0] : i < zero_point.size() ? zero_point[i] : 0;
}

float Quantization::scale_at(std::size_t i) const noexcept {
  if (scale.empty()) return 1;
  return scale.size() == 1 ? scale[0] : i < scale.size() ? scale[i] : 1.0F;
}

Status validate(const Quantization& q, DType dtype, std::span<const std::size_t> shape) {
  if (!is_integer(dtype)) {
    return fail(Errc::invalid_argument, "quantization: only integer tensors have one", "dtype {}",
                to_string(dtype));
  }
  if (q.scale.empty()) return fail(Errc::invalid_argument, "quantization.scale: must not be empty");
  for (std::size_t i = 0; i < q.scale.size(); ++i) {
    if (!std::isfinite(q.scale[i]) || q.scale[i] <= 0) {
      return fail(Errc::invalid_argument, "quantization.scale: must be finite and above 0",
                  "scale[{}] = {}", i, q.scale[i]);
    }
  }
  if (!q.zero_point.empty() && q.zero_point.size() != q.scale.size()) {
    return fail(Errc::invalid_argument,
                "quantization.zero_point: must be empty or as many as the scales",
                "{} zero points, {} scales", q.zero_point.size(), q.scale.size());
  }
  const auto [lowest, highest] = range_of(dtype);
  for (std::size_t i = 0; i < q.zero_point.size(); ++i) {
    if (q.zero_point[i] < lowest || q.zero_point[i] > highest) {
      return fail(Errc::invalid_argument, "quantization.zero_point: outside the range of the dtype",
                  "zero_point[{}] = {}, {} holds {}..{}", i, q.zero_point[i], to_string(dtype),
                  lowest, highest);
    }
  }
  return check_axis(q, shape);
}

}  // namespace halyard
