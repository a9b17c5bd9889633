// SPDX-License-Identifier: Apache-2.0
// The same in C++.
#include "nvmedia_tensor.c"  // NOLINT(bugprone-suspicious-include)
