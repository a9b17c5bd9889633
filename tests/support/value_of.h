// SPDX-License-Identifier: Apache-2.0
// Calls that must succeed, in one expression: where one fails, the test fails with its message.
#pragma once

#include <stdexcept>
#include <utility>

#include "halyard/result.h"

namespace halyard::test {

/// The value of a call that must not fail.
template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return *std::move(result);
}

/// A call that must not fail.
inline void must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message());
}

}  // namespace halyard::test
