// SPDX-License-Identifier: Apache-2.0
// The same as C++.
#include "fake_delegate.c"  // NOLINT(bugprone-suspicious-include)
