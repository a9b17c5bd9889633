// SPDX-License-Identifier: Apache-2.0
// FusedWriter: from rows of samples straight to the destination's RGB bytes.
#pragma once

#include <optional>

#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/fused_write.h"
#include "image/cpu/resample/sampler.h"
#include "image/plan.h"

namespace halyard::image {

/// A ColorConverter and a Writer in one step, for the commonest pairs: the same bytes, and no rows
/// of codes in between. Immutable.
class FusedWriter {
 public:
  /// None where the plan needs the separate steps. `setup`: of the colours.
  static std::optional<FusedWriter> create(const Plan& plan, const ColorSetup& setup);
  /// Row `y` of the destination from a whole row of the content.
  void store(const SampleRows& samples, const MappedImages& frame, std::int32_t y) const noexcept;

 private:
  explicit FusedWriter(const Plan& plan) noexcept : content_(plan.content) {}
  Region content_;
  FusedWriteSetup setup_;
};

}  // namespace halyard::image
