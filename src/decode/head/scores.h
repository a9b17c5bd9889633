// SPDX-License-Identifier: Apache-2.0
// Finds the boxes of a level that pass, with class and score.
#pragma once

#include "decode/head/candidates.h"

namespace halyard::decode {

/// Fills work.hits with boxes of the level in ascending order; `raw` is the score.
void scan_level(const HeadProgram& program, const Level& level, const LevelView& view,
                const ScoreFilter& filter, Scratch& work);

/// Reads the activated scores of one box into `out`.
void read_scores(const HeadProgram& program, const FieldView& field, const BoxView& box,
                 std::vector<float>& out);

}  // namespace halyard::decode
