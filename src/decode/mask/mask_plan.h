// SPDX-License-Identifier: Apache-2.0
// What making masks and drawing them share: which pixels a mask has, its logits, its rows.
#pragma once

#include <cstddef>

#include "decode/mask/mask_checks.h"
#include "decode/mask/mask_sample.h"
#include "decode/mask/mask_workspace.h"

namespace halyard::decode {

/// Logits of masks that are computed together: 1.5 MiB, so that they stay in the cache.
inline constexpr std::size_t group_floats = 3U << 17;

/// Sampling tables of a target; those of the last one are kept where they serve.
void prepare_samples(const MaskTarget& target, MaskWorkspace& work);
/// The pixels of one mask, after prepare_samples(). Without rows: an empty mask.
MaskPlan plan_of(const Box& box, const MaskTarget& target, const MaskWorkspace& work);

/// Puts the logits of a mask at `offset` of the workspace; returns how many floats they take.
std::size_t place_logits(MaskPlan& plan, std::size_t offset) noexcept;
/// Computes the logits of plans first..end-1, which have been placed within `floats`.
void compute_logits(MaskWorkspace& work, std::size_t first, std::size_t end, std::size_t floats);
/// 255 and 0 for `rows` of a mask whose logits have been computed; rows lie in plan.rows.
void sample_rows(MaskWorkspace& work, const MaskPlan& plan, PixelRange rows, ByteRows out);

}  // namespace halyard::decode
