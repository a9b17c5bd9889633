// SPDX-License-Identifier: Apache-2.0
// Reading of one output record of a description document.
#pragma once

#include "decode/document/document.h"
#include "halyard/description.h"

namespace halyard::decode {

/// A record of `outputs`, with its parts. Types and words are checked; validate() judges the rest.
Result<OutputDescription> read_output(const Node& record, int schema, Warnings& warnings);

}  // namespace halyard::decode
