// SPDX-License-Identifier: Apache-2.0
// The CPU backend: serves every plan; fused kernels where there are some, the oracle elsewhere.
#pragma once

#include "image/backend.h"
#include "image/cpu/fused.h"
#include "image/cpu/oracle.h"
#include "image/cpu/parallel.h"

namespace halyard::image {

class CpuBackend final : public ImageBackend {
 public:
  /// threads: most threads for one plan, 0: all cores.
  explicit CpuBackend(unsigned threads)
      : parallel_(threads), oracle_(parallel_), fused_(parallel_) {}

  std::string_view name() const noexcept override { return "cpu"; }
  Verdict supports(const Plan& plan) const noexcept override;
  Status submit(const Plan& plan) override;
  Status finish() override { return {}; }

 private:
  Parallel parallel_;
  Oracle oracle_;
  Fused fused_;
};

}  // namespace halyard::image
