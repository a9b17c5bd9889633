// SPDX-License-Identifier: Apache-2.0
// MaskPrototypes: converts rows of coefficients of any type.
#include <bit>
#include <cmath>

#include "base/text/format_error.h"
#include "decode/head/field.h"
#include "halyard/mask.h"
#include "halyard/strided_copy.h"

namespace halyard {
namespace {

using decode::load_raw;

bool is_stored(DType dtype) noexcept {
  return decode::stored_range(dtype).highest != 0;
}

Status check_row(const CoefficientRow& row, std::size_t channels) {
  if (channels == 0)
    return fail(Errc::invalid_argument, "channels: must be set by clear() before rows are added");
  if (!is_stored(row.dtype)) {
    if (decode::is_stored_type(row.dtype)) return {};
    return fail(Errc::unsupported, "row: coefficients must be f32, f16, bf16, i8, u8, i16 or u16",
                "{}", to_string(row.dtype));
  }
  if (row.quantization == nullptr)
    return fail(Errc::invalid_argument, "row: integer coefficients need quantization");
  const Quantization& q = *row.quantization;
  const bool fits = q.scale.size() == 1 || q.scale.size() == channels;
  if (!fits || (!q.zero_point.empty() && q.zero_point.size() != q.scale.size())) {
    return fail(
        Errc::invalid_argument,
        "row: quantization must have one scale or one per coefficient, and as many zero points",
        "{} scales, {} zero points, {} coefficients", q.scale.size(), q.zero_point.size(),
        channels);
  }
  for (const float scale : q.scale) {
    if (!(std::isfinite(scale) && scale > 0))
      return fail(Errc::invalid_argument, "row: scales must be finite and above 0", "{}", scale);
  }
  const decode::StoredRange range = decode::stored_range(row.dtype);
  for (const std::int32_t zero : q.zero_point) {
    if (zero < range.lowest || zero > range.highest) {
      return fail(Errc::invalid_argument, "row: zero points must be values of the dtype",
                  "{}, {} holds {}..{}", zero, to_string(row.dtype), range.lowest, range.highest);
    }
  }
  return {};
}

}  // namespace

void MaskPrototypes::clear(std::size_t row_channels) noexcept {
  channels = row_channels;
  coefficients.clear();
  stored.clear();
}

Status MaskPrototypes::append(const CoefficientRow& row) {
  HALYARD_RETURN_IF_ERROR(check_row(row, channels));
  const bool keeps_stored = is_stored(row.dtype) && row.quantization->is_per_tensor();
  if (empty() && keeps_stored) {
    stored_dtype = row.dtype;
    stored_scale = row.quantization->scale_at(0);
    stored_zero_point = row.quantization->zero_point_at(0);
  }
  const bool same = keeps_stored && stored.size() == coefficients.size() &&
                    stored_dtype == row.dtype && stored_scale == row.quantization->scale_at(0) &&
                    stored_zero_point == row.quantization->zero_point_at(0);
  if (!same) stored.clear();
  const std::size_t before = coefficients.size();
  const std::byte* at = row.data;
  for (std::size_t k = 0; k < channels; ++k, at += row.stride_bytes) {
    float value = load_raw(at, row.dtype);
    if (is_stored(row.dtype)) {
      const auto raw = static_cast<std::int32_t>(value);
      if (same) stored.push_back(raw);
      value = static_cast<float>(raw - row.quantization->zero_point_at(k)) *
              row.quantization->scale_at(k);
    }
    if (!std::isfinite(value)) {
      coefficients.resize(before);
      return fail(Errc::invalid_argument, "row: coefficients must be finite", "coefficient {}", k);
    }
    coefficients.push_back(value);
  }
  return {};
}

Status MaskPrototypes::select(std::span<const std::uint32_t> rows) {
  const std::size_t count = size();
  for (const std::uint32_t row : rows) {
    if (row >= count) {
      return fail(Errc::invalid_argument, "rows: must be below the number of coefficient rows",
                  "{} of {}", row, count);
    }
  }
  const bool with_stored = stored.size() == coefficients.size();
  // Appends the selected rows after the existing ones, then removes the existing ones.
  coefficients.reserve((count + rows.size()) * channels);
  if (with_stored) stored.reserve((count + rows.size()) * channels);
  for (const std::uint32_t row : rows) {
    for (std::size_t k = row * channels; k < (row + 1) * channels; ++k) {
      coefficients.push_back(coefficients[k]);
      if (with_stored) stored.push_back(stored[k]);
    }
  }
  const auto drop = static_cast<std::ptrdiff_t>(count * channels);
  coefficients.erase(coefficients.begin(), coefficients.begin() + drop);
  if (with_stored) stored.erase(stored.begin(), stored.begin() + drop);
  return {};
}

Result<Tensor> MaskPrototypes::coefficient_tensor() const {
  const bool has_stored = !stored.empty() && stored.size() == coefficients.size();
  const DType dtype = has_stored ? stored_dtype : DType::f32;
  HALYARD_TRY(Tensor out, Tensor::create(dtype, {size(), channels}, Memory::mem));
  HALYARD_TRY(const TensorMap map, out.map(Access::write));
  // Stored values are the low bytes of 32-bit numbers.
  static_assert(std::endian::native == std::endian::little);
  Layout from = out.layout();
  from.stride_bytes[0] = static_cast<std::ptrdiff_t>(4 * channels);
  from.stride_bytes[1] = 4;
  const void* const rows = has_stored ? static_cast<const void*>(stored.data())
                                      : static_cast<const void*>(coefficients.data());
  copy_elements(from, static_cast<const std::byte*>(rows), out.layout(), map.writable());
  if (has_stored) {
    HALYARD_RETURN_IF_ERROR(
        out.set_quantization(Quantization::per_tensor(stored_scale, stored_zero_point)));
  }
  return out;
}

}  // namespace halyard
