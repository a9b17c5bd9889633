// SPDX-License-Identifier: Apache-2.0
// Functions of a test in the place of the driver's.
#pragma once

namespace halyard::test {

/// Puts a function in the place of one of libepoxy's until the end of the block. libepoxy finds a
/// function at its first call, and would then replace it again: call the real one before.
template <class Function>
class Replaced {
 public:
  Replaced(Function& place, Function other) : place_(place), real_(place) { place = other; }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  ~Replaced() { place_ = real_; }

 private:
  Function& place_;
  Function real_;
};

}  // namespace halyard::test
