// SPDX-License-Identifier: Apache-2.0
// What the fakes of TFLite's library and of a delegate agree on.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace fake {

/// The object of a delegate.
struct Delegate {
  int magic;
  /// Computes the network in the delegate's buffers; false: it was not handed its input.
  bool (*run)(float scale);
};
inline constexpr int delegate_magic = 0x0de1e6a7;

/// Ends the test program: the library was used in a wrong way.
[[noreturn]] inline void misused(const char* rule) {
  std::fprintf(stderr, "fake tflite: %s\n", rule);
  std::abort();
}

}  // namespace fake
