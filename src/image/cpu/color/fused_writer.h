// SPDX-License-Identifier: Apache-2.0
// FusedWriter: converts rows of samples directly to the destination's RGB bytes.
#pragma once

#include <optional>

#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/fused_write.h"
#include "image/cpu/resample/sampler.h"
#include "image/plan.h"

namespace halyard::image {

/// A ColorConverter and a Writer in one step, for the most common pairs: the same bytes, without
/// rows of codes in between. Immutable.
class FusedWriter {
 public:
  /// Returns none if the plan needs the separate steps. `setup`: the constants of the colour
  /// change.
  static std::optional<FusedWriter> create(const Plan& plan, const ColorSetup& setup);
  /// Stores row `y` of the destination from a whole row of the content.
  void store(const SampleRows& samples, const MappedImages& frame, std::int32_t y) const noexcept;

 private:
  explicit FusedWriter(const Plan& plan) noexcept : content_(plan.content) {}
  Region content_;
  FusedWriteSetup setup_;
};

}  // namespace halyard::image
