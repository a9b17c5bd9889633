// SPDX-License-Identifier: Apache-2.0
// Exports two generations of a function from one library: see halyard/hal_base.h.
#pragma once

/// Put it before the definition of NAME_27: it also exports the function as NAME with version
/// HAL_0.27, for programs that look up symbols by name and version. cmake/exports.map has the
/// versions.
#if defined(__has_attribute)
#if __has_attribute(symver)
#define HALYARD_HAL_0_27(name) __attribute__((symver(#name "@HAL_0.27")))
#endif
#endif
#ifndef HALYARD_HAL_0_27
#define HALYARD_HAL_0_27(name) __asm__(".symver " #name "_27, " #name "@HAL_0.27");
#endif
