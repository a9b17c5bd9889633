// SPDX-License-Identifier: Apache-2.0
// Whether a combined detection holds the rows of a network that suppresses boxes itself.
#pragma once

#include <cstddef>
#include <optional>

#include "halyard/description.h"

namespace halyard::decode {

/// Features of a row: the corners, the score, the class; what else the head gives follows.
inline constexpr std::size_t end_to_end_features = 6;

/// Most rows where the version does not say that there are any. A head has a box for each cell.
inline constexpr std::size_t max_end_to_end_rows = 300;

/// The axis of the features where `output`, of role detection, holds rows of suppressed boxes;
/// nothing where it holds boxes before suppression. decoder_version decides, then the names of the
/// axes, then the shape. Errors: invalid_argument (rows of 6 with two labels, "yolo26" of no rows).
Result<std::optional<std::size_t>> end_to_end_axis(const ModelDescription& description,
                                                   const OutputDescription& output);

}  // namespace halyard::decode
