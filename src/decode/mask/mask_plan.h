// SPDX-License-Identifier: Apache-2.0
// Shared by making and drawing masks: the pixels of a mask, its logits and its rows.
#pragma once

#include <cstddef>

#include "decode/mask/mask_checks.h"
#include "decode/mask/mask_sample.h"
#include "decode/mask/mask_workspace.h"

namespace halyard::decode {

/// Max floats of logits that are computed together: 1.5 MiB, so that they stay in the cache.
inline constexpr std::size_t group_floats = 3U << 17;

/// Fills the sampling tables of a target. Keeps those that are already right.
void prepare_samples(const MaskTarget& target, MaskWorkspace& work);
/// The pixels of one mask. Call after prepare_samples(). No rows: an empty mask.
MaskPlan plan_of(const Box& box, const MaskTarget& target, const MaskWorkspace& work);

/// Places the logits of a mask at `offset` in the workspace. Returns the number of floats needed.
std::size_t place_logits(MaskPlan& plan, std::size_t offset) noexcept;
/// Computes the logits of plans first..end-1, which have been placed within `floats`.
void compute_logits(MaskWorkspace& work, std::size_t first, std::size_t end, std::size_t floats);
/// Writes 255 or 0 for `rows` of a mask with computed logits. `rows` lie in plan.rows.
void sample_rows(MaskWorkspace& work, const MaskPlan& plan, PixelRange rows, ByteRows out);

}  // namespace halyard::decode
