// SPDX-License-Identifier: Apache-2.0
// Reads files in COCO's format; "-" is standard input.
#pragma once

#include <string>

#include "halyard/evaluate.h"

namespace halyard::tool {

/// Reads a file of instances, up to 1 GiB. Errors: those of read_path() and parse_coco_truth().
Result<CocoTruth> read_truth(const std::string& path, bool has_masks);

/// Reads a file of results, up to 1 GiB. Errors: those of read_path() and parse_coco_results().
Result<CocoResults> read_results(const std::string& path, const CocoTruth& truth, bool has_masks);

}  // namespace halyard::tool
