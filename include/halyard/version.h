// SPDX-License-Identifier: Apache-2.0
// Version of the headers and of the library that runs.
#pragma once

#define HALYARD_VERSION_MAJOR 0
#define HALYARD_VERSION_MINOR 1
#define HALYARD_VERSION_PATCH 0
#define HALYARD_VERSION_STRING "0.1.0"

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// "0.1.0", of the library that is loaded.
const char* version() noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
