// SPDX-License-Identifier: Apache-2.0
// Version of the headers and of the loaded library.
#pragma once

#define HALYARD_VERSION_MAJOR 0
#define HALYARD_VERSION_MINOR 1
#define HALYARD_VERSION_PATCH 0
#define HALYARD_VERSION_STRING "0.1.0"

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Version of the loaded library, such as "0.1.0".
const char* version() noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
