// SPDX-License-Identifier: Apache-2.0
// The phases of a module that holds buffers.
#pragma once

#include "reconcile/buffer/negotiated_state.h"

namespace halyard {

/// Whether the module may still make buffers. Errors: permission (with the party's name).
Status check_phase(const BufferModule& module, std::string_view party);

}  // namespace halyard
