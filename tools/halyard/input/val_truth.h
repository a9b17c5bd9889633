// SPDX-License-Identifier: Apache-2.0
// The ground truth of `halyard val`: a file in COCO's format, or a folder for each class.
#pragma once

#include <string>
#include <vector>

#include "halyard/evaluate.h"

namespace halyard::tool {

class ValTruth {
 public:
  /// A file of instances, up to 1 GiB, "-" is standard input; or a folder whose folders are the
  /// classes and hold images. `sigmas` replace those of all categories with keypoints: one number
  /// for all keypoints, or one for each. Errors: those of read_path(); not_found (a folder without
  /// images in folders), os.
  static Result<ValTruth> open(const std::string& path, std::vector<double> sigmas);

  bool is_folder() const noexcept { return is_folder_; }
  /// A folder holds nothing but classes. Errors: those of parse_coco_truth(); invalid_argument
  /// (another kind of a folder, another number of sigmas than keypoints).
  Result<CocoTruth> read(CocoKind kind) const;

 private:
  Status use_sigmas(CocoTruth& truth) const;
  std::string text_;
  CocoTruth classes_;
  bool is_folder_ = false;
  std::vector<double> sigmas_;
};

}  // namespace halyard::tool
