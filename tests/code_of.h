// SPDX-License-Identifier: Apache-2.0
// How a call ended, for tests that expect a code.
#pragma once

#include "halyard/result.h"

namespace halyard {

template <class T>
Errc code_of(const Result<T>& result) {
  return result ? Errc::ok : result.error().code;
}

}  // namespace halyard
