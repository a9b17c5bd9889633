// SPDX-License-Identifier: Apache-2.0
// The same as C++.
#include "generation_27.c"  // NOLINT(bugprone-suspicious-include)
