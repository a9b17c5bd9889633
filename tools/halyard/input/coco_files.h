// SPDX-License-Identifier: Apache-2.0
// Reads files in COCO's format; "-" is standard input.
#pragma once

#include <string>

#include "halyard/evaluate.h"

namespace halyard::tool {

/// The text of a file, up to 1 GiB. Errors: those of read_path().
Result<std::string> read_document(const std::string& path);

/// Reads a file of instances, up to 1 GiB. Errors: those of read_path() and parse_coco_truth().
Result<CocoTruth> read_truth(const std::string& path, CocoKind kind);

/// Reads a file of results, up to 1 GiB. Errors: those of read_path() and parse_coco_results().
Result<CocoResults> read_results(const std::string& path, const CocoTruth& truth, CocoKind kind);

}  // namespace halyard::tool
