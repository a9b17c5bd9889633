// SPDX-License-Identifier: Apache-2.0
// Bytes of an image as the numbers that a network reads, without a change of size or channels.
// Where an image is resized or converted too, Convert::normalize does both in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "halyard/export.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

enum class ByteScale : std::uint8_t {
  none,       ///< the byte itself, 0..255
  unit,       ///< byte / 255, in [0, 1]
  symmetric,  ///< byte / 127.5 less an offset, in [-1, 1] by default
};

struct ByteNormalization {
  ByteScale scale = ByteScale::symmetric;
  /// 0..255. Of ByteScale::symmetric: i8 receives byte - zero_point, clamped, 128 by default;
  /// floats lose zero_point / 127.5, 1 by default.
  std::optional<int> zero_point = {};
};

/// Writes each byte of an array as a number. `from`: u8, [height, width, channels]. `to`: the same
/// shape, or three channels of four; u8 (ByteScale::none), i8 (ByteScale::symmetric), f16, f32 or
/// f64. `source` and `destination` are the addresses of the first elements; any strides and any
/// alignment. Where both share bytes, the source is copied first; elements of `to` must not share
/// bytes among each other. Quotients are those of a division in the destination's type, f16's of
/// one in f32 that is rounded to nearest even. Thread-safe. Errors: invalid_argument (shapes that
/// differ; zero_point out of range, or without ByteScale::symmetric), unsupported (other types, or
/// a scale that the type does not take).
Status normalize_bytes(const Layout& from, const std::byte* source, const Layout& to,
                       std::byte* destination, const ByteNormalization& how);

}  // namespace halyard
HALYARD_EXPORTS_END
