// SPDX-License-Identifier: Apache-2.0
// Combines dtype, quantization and normalisation into one map per channel.
#include "image/value_map.h"

#include <algorithm>
#include <cmath>

#include "base/text/format_error.h"

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

// Whether the quantization means only "real = code / 255".
bool is_plain(const Quantization& q, std::int32_t zero_point) {
  return q.is_per_tensor() && std::abs(static_cast<double>(q.scale_at(0)) * 255 - 1) < 1e-6 &&
         q.zero_point_at(0) == zero_point;
}

ValueMap affine_map(const Normalize& n) {
  return {ValueMap::Kind::affine, n.scale, n.bias};
}

// real / scale + zero_point for each channel; a single scale serves all channels.
Result<ValueMap> quantized_map(const Quantization& q, const Normalize& n) {
  ValueMap map;
  map.kind = ValueMap::Kind::affine;
  for (std::size_t c = 0; c < 4; ++c) {
    const std::size_t i = std::min(c, q.scale.size() - 1);
    const auto scale = static_cast<double>(q.scale_at(i));
    map.scale[c] = static_cast<float>(static_cast<double>(n.scale[c]) / scale);
    map.bias[c] = static_cast<float>(static_cast<double>(n.bias[c]) / scale + q.zero_point_at(i));
    if (!std::isfinite(map.scale[c]) || !std::isfinite(map.bias[c])) {
      return fail(Errc::invalid_argument,
                  "normalize: scale and bias over dst's quantization scale must be finite",
                  "channel {}: {} and {} over {}", c, n.scale[c], n.bias[c], scale);
    }
  }
  return map;
}

Status check_axis(const Quantization& q, std::optional<std::size_t> channel_axis) {
  if (q.is_per_tensor() || q.axis == channel_axis) return {};
  return fail(Errc::invalid_argument, "dst: its quantization must be along the channels",
              "{} scales along axis {}", q.scale.size(), q.axis.value_or(0));
}

}  // namespace

Result<ValueMap> make_value_map(DType dtype, const std::optional<Quantization>& quantization,
                                const std::optional<Normalize>& normalize,
                                std::optional<std::size_t> channel_axis) {
  if (normalize) HALYARD_RETURN_IF_ERROR(check(*normalize));
  if (is_float(dtype)) return affine_map(normalize.value_or(Normalize{}));
  if (normalize && !quantization) {
    return fail(Errc::invalid_argument,
                "normalize: needs a float destination, or an integer one with quantization",
                "dst is {}", to_string(dtype));
  }
  if (quantization) {
    HALYARD_RETURN_IF_ERROR(check_axis(*quantization, channel_axis));
    const bool plain =
        dtype != DType::u16 && is_plain(*quantization, dtype == DType::i8 ? -128 : 0);
    if (normalize || !plain) return quantized_map(*quantization, normalize.value_or(Normalize{}));
  }
  ValueMap map;
  if (dtype == DType::i8) map.kind = ValueMap::Kind::flip_sign;
  if (dtype == DType::u16) map = {ValueMap::Kind::affine, {257, 257, 257, 257}, {}};
  return map;
}

}  // namespace image
}  // namespace halyard
