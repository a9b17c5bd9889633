// SPDX-License-Identifier: Apache-2.0
// HALYARD_PUBLIC: marks what the shared library exports; everything else is hidden.
#pragma once

#if defined(__GNUC__)
#define HALYARD_PUBLIC __attribute__((visibility("default")))
#else
#define HALYARD_PUBLIC
#endif
