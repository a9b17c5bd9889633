// SPDX-License-Identifier: Apache-2.0
// Runs a test once for each instruction set of this machine.
#pragma once

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <cstdint>

namespace halyard::test {

inline void use_targets(std::int64_t mask) {
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().DeInit();  // the next call chooses again
}

/// Targets that are not compiled use the portable one.
template <class Body>
void for_each_target(const Body& body) {
  use_targets(0);
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    SCOPED_TRACE(hwy::TargetName(left & -left));
    use_targets(left & -left);
    body();
  }
  use_targets(0);
}

}  // namespace halyard::test
