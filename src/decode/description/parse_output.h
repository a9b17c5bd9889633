// SPDX-License-Identifier: Apache-2.0
// Reads one output record of a description document.
#pragma once

#include "decode/document/document.h"
#include "halyard/description.h"

namespace halyard::decode {

/// Reads a record of `outputs`, with its parts. Checks types and names of values; validate() checks
/// the rest.
Result<OutputDescription> read_output(const Node& record, int schema, Warnings& warnings);

}  // namespace halyard::decode
