// SPDX-License-Identifier: Apache-2.0
// For definitions of classes that a public header only names: keeps their members out of what the
// library exports. clang takes the visibility of the name, and exports them.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#define HALYARD_LOCAL [[gnu::visibility("hidden")]]
#else
#define HALYARD_LOCAL
#endif
