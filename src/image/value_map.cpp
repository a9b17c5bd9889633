// SPDX-License-Identifier: Apache-2.0
// Resolves dtype, quantization and normalisation into one map per channel.
#include "image/value_map.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/format_error.h"

namespace halyard {

Normalize Normalize::mean_std(std::array<float, 3> mean, std::array<float, 3> std) noexcept {
  Normalize out;
  for (std::size_t c = 0; c < 3; ++c) {
    out.scale[c] = static_cast<float>(1.0 / (255.0 * static_cast<double>(std[c])));
    out.bias[c] = static_cast<float>(-static_cast<double>(mean[c]) / static_cast<double>(std[c]));
  }
  return out;
}

namespace image {
namespace {

Status check(const Normalize& n) {
  for (std::size_t c = 0; c < 4; ++c) {
    if (!std::isfinite(n.scale[c]) || !std::isfinite(n.bias[c])) {
      return fail(Errc::invalid_argument, "normalize: scale and bias must be finite",
                  "channel {}: scale {}, bias {}", c, n.scale[c], n.bias[c]);
    }
  }
  return {};
}

float upper_bits(float value) noexcept {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFFFF00U);
}

ValueMap affine_map(const Normalize& n) {
  ValueMap map;
  map.kind = ValueMap::Kind::affine;
  for (std::size_t c = 0; c < 4; ++c) {
    map.scale_high[c] = upper_bits(n.scale[c]);
    map.scale_low[c] = n.scale[c] - map.scale_high[c];
  }
  map.bias = n.bias;
  return map;
}

// Whether the quantization says no more than "real = code / 255".
bool is_plain(const Quantization& q, std::int32_t zero_point) {
  return std::abs(static_cast<double>(q.scale_at(0)) * 255 - 1) < 1e-6 &&
         q.zero_point_at(0) == zero_point;
}

ValueMap table_map(const Quantization& q, const Normalize& n, double lowest, double highest) {
  auto bytes = std::make_shared<ValueMap::Bytes>();
  for (std::size_t c = 0; c < 4; ++c) {
    for (int v = 0; v < 256; ++v) {
      const double real = v * static_cast<double>(n.scale[c]) + static_cast<double>(n.bias[c]);
      const double stored = std::nearbyint(real / static_cast<double>(q.scale_at(0))) +
                            static_cast<double>(q.zero_point_at(0));
      const auto code = static_cast<int>(std::clamp(stored, lowest, highest));
      (*bytes)[c][static_cast<std::size_t>(v)] = static_cast<std::uint8_t>(code & 0xFF);
    }
  }
  ValueMap map;
  map.kind = ValueMap::Kind::table;
  map.bytes = std::move(bytes);
  return map;
}

}  // namespace

Result<ValueMap> make_value_map(DType dtype, const std::optional<Quantization>& quantization,
                                const std::optional<Normalize>& normalize) {
  if (normalize) HALYARD_CHECK(check(*normalize));
  if (dtype == DType::f32) return affine_map(normalize.value_or(Normalize{}));
  if (dtype != DType::u8 && dtype != DType::i8) {
    return fail(Errc::unsupported, "dst: element type must be u8, i8 or f32", "it is {}",
                to_string(dtype));
  }
  if (normalize && !quantization) {
    return fail(Errc::invalid_argument,
                "normalize: needs a float destination, or an integer one with quantization",
                "dst is {}", to_string(dtype));
  }
  const bool is_signed = dtype == DType::i8;
  ValueMap map;
  map.kind = is_signed ? ValueMap::Kind::flip_sign : ValueMap::Kind::identity;
  if (!quantization) return map;
  if (!quantization->is_per_tensor()) {
    return fail(Errc::invalid_argument, "dst: its quantization must be per tensor", "{} scales",
                quantization->scale.size());
  }
  if (!normalize && is_plain(*quantization, is_signed ? -128 : 0)) return map;
  return table_map(*quantization, normalize.value_or(Normalize{}), is_signed ? -128 : 0,
                   is_signed ? 127 : 255);
}

}  // namespace image
}  // namespace halyard
