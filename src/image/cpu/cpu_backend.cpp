// SPDX-License-Identifier: Apache-2.0
// Chooses between the fused kernels and the oracle.
#include "image/cpu/cpu_backend.h"

namespace halyard::image {

Verdict CpuBackend::supports(const Plan&) const noexcept {
  return Verdict::accept();
}

Status CpuBackend::submit(const Plan& plan) {
  return Fused::serves(plan) ? fused_.run(plan) : oracle_.run(plan);
}

}  // namespace halyard::image
