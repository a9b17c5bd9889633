// SPDX-License-Identifier: Apache-2.0
// The scores of `halyard val` as text and as JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "halyard/evaluate.h"

namespace halyard::tool {

/// The scores of one kind.
struct ValTable {
  CocoKind kind = CocoKind::boxes;
  CocoTruth truth;
  std::size_t detections = 0;
  std::size_t left_out = 0;
  CocoScores scores;
};

/// Detections of categories without keypoints are left out if keypoints are compared. Errors: those
/// of evaluate_coco().
Result<ValTable> measure(CocoTruth truth, const CocoResults& results, CocoKind kind);

void print_table(const ValTable& table, bool lists_classes);

/// Writes the first table; the others are members of it, named after their kind. "-" is standard
/// output. Errors: as OutputFile.
Status write_tables(const std::string& path, std::span<const ValTable> tables);

}  // namespace halyard::tool
