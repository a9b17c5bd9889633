// SPDX-License-Identifier: Apache-2.0
// Boxes with a known unit: from the Detections that hold them, or by input_dims.
#pragma once

#include <optional>
#include <vector>

#include "tensor/arrays.h"

namespace halyard::python {

/// (width, height) of a network's input; none for None. Raises TypeError, OverflowError and
/// InvalidArgumentError naming "input_dims".
std::optional<Size> input_dims_from(nb::handle dims);

/// Detections as fractions of the network's input. `boxes` is an array (N, 4) of fractions, or of
/// pixels of an input of `input_dims`; or Detections, which know their unit and provide scores and
/// classes if these are None. Raises as detections_from(), and InvalidArgumentError for boxes
/// that are not fractions: plain ones beyond 2, and Detections of another unit or without a size.
void fractions_from(nb::handle boxes, nb::handle scores, nb::handle classes,
                    const DetectionNames& names, nb::handle input_dims,
                    std::vector<Detection>& out);

/// Whether an object is one of halyard's results, which have a unit.
bool is_result(nb::handle object);

/// The bytes of a result's masks: a list of uint8 arrays, as drawing takes them; or None.
nb::object masks_of(nb::handle result);

}  // namespace halyard::python
