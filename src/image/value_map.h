// SPDX-License-Identifier: Apache-2.0
// ValueMap: from codes to the values that the destination stores.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "halyard/format.h"
#include "halyard/image.h"
#include "halyard/quantization.h"
#include "halyard/result.h"

namespace halyard::image {

/// How channel c (R G B A, Y U V or grey) stores value v, a code with a fraction:
/// - identity: the nearest code, halves up;
/// - flip_sign: the code xor 0x80, alpha unchanged (i8, scale 1/255, zero point -128);
/// - affine: v * scale + bias in single precision, the product rounded before the sum; integers are
/// rounded to nearest even and clamped to the range of the dtype.
struct ValueMap {
  enum class Kind : std::uint8_t { identity, flip_sign, affine };
  Kind kind = Kind::identity;
  std::array<float, 4> scale{1, 1, 1, 1};
  std::array<float, 4> bias{};
};

/// Makes the map of a destination. `channel_axis`: the axis of its shape that counts channels; none
/// for YUV. Errors: invalid_argument (normalize is not finite, also when divided by the
/// quantization's scale; normalize for an integer destination without quantization; quantization
/// along another axis).
Result<ValueMap> make_value_map(DType dtype, const std::optional<Quantization>& quantization,
                                const std::optional<Normalize>& normalize,
                                std::optional<std::size_t> channel_axis);

}  // namespace halyard::image
