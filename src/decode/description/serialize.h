// SPDX-License-Identifier: Apache-2.0
// Whether the document that is written of a description can be read again.
#pragma once

#include "halyard/description.h"

namespace halyard::decode {

/// That its document keeps to DocumentLimits, so that what to_json() gives is read again.
Status check_written(const ModelDescription& description);

}  // namespace halyard::decode
