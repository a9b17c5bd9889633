// SPDX-License-Identifier: Apache-2.0
// A model over the images of a COCO file, and its detections as such a file's results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "input/coco_files.h"
#include "input/detector.h"
#include "options/preset_options.h"

namespace halyard::tool {

struct ModelRun {
  DetectorOptions detector;
  PresetOptions preset;  ///< goes before what `detector` says
  std::string images;    ///< folder of the images
  bool is_quiet = false;
};

/// match_categories(), whose error also names the label that is nearly a category.
Result<std::vector<std::optional<std::size_t>>> match_labels(
    const std::vector<std::string>& labels, const std::vector<CocoCategory>& categories);

/// As the preset has it. Reports its error itself. Nothing on failure.
std::optional<Detector> open_detector(const ModelRun& run);

/// Boxes, and masks where the detector makes them; areas are those of the boxes. Reports its error
/// itself, naming the option or image. Nothing on failure or interrupt.
std::optional<CocoResults> find_objects(const ModelRun& run, Detector& detector,
                                        const CocoTruth& truth);

/// A results file: [{"image_id", "category_id", "bbox", "score"}, ...], with masks also
/// "segmentation" as pycocotools writes it. Errors: as OutputFile.
Status write_results(const std::string& path, const CocoTruth& truth, const CocoResults& results);

}  // namespace halyard::tool
