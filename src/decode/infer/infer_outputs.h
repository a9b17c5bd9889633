// SPDX-License-Identifier: Apache-2.0
// Infers the outputs of a description from the shapes of a network's tensors.
#pragma once

#include <string>
#include <vector>

#include "decode/infer/metadata.h"
#include "halyard/describe.h"

namespace halyard::decode {

/// Adds the outputs, and what follows from facts and shapes. Errors: as infer_description().
Status infer_outputs(const ModelMetadata& metadata, const Facts& facts, ModelDescription& out);

/// Names and shapes of the outputs, such as `"output0" [1, 84, 8400]`, separated by commas.
std::string shapes_seen(const ModelMetadata& metadata);

}  // namespace halyard::decode
