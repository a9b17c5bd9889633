// SPDX-License-Identifier: Apache-2.0
// Whether a combined detection holds the rows of a network that suppresses boxes itself.
#pragma once

#include <cstddef>
#include <optional>

#include "halyard/description.h"

namespace halyard::decode {

/// Features of a row: four corners, score, class. Other features of the head follow.
inline constexpr std::size_t end_to_end_features = 6;

/// Max rows if decoder_version does not state that the output holds rows. A head before suppression
/// has one box per cell, so it has more.
inline constexpr std::size_t max_end_to_end_rows = 300;

/// The axis of features if `output` (role detection) holds rows of suppressed boxes. Empty if it
/// holds boxes before suppression. decoder_version decides first, then the names of the axes, then
/// the shape. Errors: invalid_argument (rows of 6 features with two labels; "yolo26" without such
/// rows).
Result<std::optional<std::size_t>> end_to_end_axis(const ModelDescription& description,
                                                   const OutputDescription& output);

}  // namespace halyard::decode
