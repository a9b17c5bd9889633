// SPDX-License-Identifier: Apache-2.0
// Checks that the document written from a description can be read again.
#pragma once

#include "halyard/description.h"

namespace halyard::decode {

/// Checks that the document of a description respects DocumentLimits, so that from_json() accepts
/// what to_json() writes. Errors: exhausted (too long).
Status check_written(const ModelDescription& description);

}  // namespace halyard::decode
