// SPDX-License-Identifier: Apache-2.0
// Phases of buffers that a module holds.
#pragma once

#include "reconcile/buffer/negotiated_state.h"

namespace halyard {

/// Whether buffers are still made; the error names the party. Errors: permission.
Status check_phase(const BufferModule& module, std::string_view party);

}  // namespace halyard
