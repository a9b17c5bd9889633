// SPDX-License-Identifier: Apache-2.0
// Which boxes of a level pass, with which class and score.
#pragma once

#include "decode/head/candidates.h"

namespace halyard::decode {

/// Fills work.hits with boxes of the level, ascending; `raw` is the score.
void scan_level(const HeadProgram& program, const Level& level, const LevelView& view,
                const ScoreFilter& filter, Scratch& work);

/// The scores of one box, activated, into `out`.
void read_scores(const HeadProgram& program, const FieldView& field, const BoxView& box,
                 std::vector<float>& out);

}  // namespace halyard::decode
