// SPDX-License-Identifier: Apache-2.0
// From the 8-bit result to what the destination stores. Every dtype is a function of the 8-bit
// result, so all backends agree on it to the bit.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "halyard/format.h"
#include "halyard/image.h"
#include "halyard/quantization.h"
#include "halyard/result.h"

namespace halyard::image {

/// How channel c stores code v:
/// - identity: v
/// - flip_sign: v xor 0x80, alpha unchanged (i8, scale 1/255, zero point -128)
/// - table: bytes[c][v] (any other quantization)
/// - affine: v * scale_high + (v * scale_low + bias) as float. scale_high has 16 significant bits
/// and
///   scale_low the rest, so both products are exact and the result is the same with and without
///   fused multiply-add.
struct ValueMap {
  enum class Kind : std::uint8_t { identity, flip_sign, table, affine };
  using Bytes = std::array<std::array<std::uint8_t, 256>, 4>;
  Kind kind = Kind::identity;
  std::array<float, 4> scale_high{};
  std::array<float, 4> scale_low{};
  std::array<float, 4> bias{};
  std::shared_ptr<const Bytes> bytes;  ///< table only

  float to_float(std::uint8_t code, std::size_t channel) const noexcept {
    const auto v = static_cast<float>(code);
    return v * scale_high[channel] + (v * scale_low[channel] + bias[channel]);
  }
  /// `is_alpha` marks the channel that flip_sign leaves alone.
  std::uint8_t to_byte(std::uint8_t code, std::size_t channel, bool is_alpha) const noexcept {
    if (kind == Kind::table) return (*bytes)[channel][code];
    return kind == Kind::flip_sign && !is_alpha ? code ^ 0x80U : code;
  }
};

/// Errors: invalid_argument (normalize not finite; normalize for an integer destination without
/// quantization; per-channel quantization), unsupported (dtype).
Result<ValueMap> make_value_map(DType dtype, const std::optional<Quantization>& quantization,
                                const std::optional<Normalize>& normalize);

}  // namespace halyard::image
