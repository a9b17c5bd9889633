// SPDX-License-Identifier: Apache-2.0
// For definitions of classes that a public header only declares: keeps their members out of the
// exported symbols. clang takes the visibility of the declaration, and exports them.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#define HALYARD_LOCAL [[gnu::visibility("hidden")]]
#else
#define HALYARD_LOCAL
#endif
