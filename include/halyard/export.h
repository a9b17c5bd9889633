// SPDX-License-Identifier: Apache-2.0
// The shared library exports what public headers declare between these two macros, and nothing else
// (the library is built with hidden visibility).
#pragma once

#if defined(__GNUC__)
#define HALYARD_EXPORTS_BEGIN _Pragma("GCC visibility push(default)")
#define HALYARD_EXPORTS_END _Pragma("GCC visibility pop")
#else
#define HALYARD_EXPORTS_BEGIN
#define HALYARD_EXPORTS_END
#endif
