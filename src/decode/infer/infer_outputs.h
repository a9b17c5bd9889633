// SPDX-License-Identifier: Apache-2.0
// Outputs of a description, inferred from the shapes of a network's tensors.
#pragma once

#include <string>
#include <vector>

#include "decode/infer/metadata.h"
#include "halyard/describe.h"

namespace halyard::decode {

/// Outputs, and what follows from facts and shapes. Errors: as infer_description().
Status infer_outputs(const ModelMetadata& metadata, const Facts& facts, ModelDescription& out);

/// `"output0" [1, 84, 8400]`, a comma between them.
std::string shapes_seen(const ModelMetadata& metadata);

}  // namespace halyard::decode
