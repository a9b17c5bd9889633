// SPDX-License-Identifier: Apache-2.0
// Runs a model on the images of a COCO file, and writes its detections in COCO's results format.
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
  PresetArguments preset;  ///< overrides `detector`
  std::string images;      ///< folder of the images
  bool is_quiet = false;
};

/// As match_categories(), but the error also names the label that resembles a category.
Result<std::vector<std::optional<std::size_t>>> match_labels(
    const std::vector<std::string>& labels, const std::vector<CocoCategory>& categories);

/// Opens the model with the preset applied. Reports its own errors. Nullopt on failure.
std::optional<PipelineModel> open_preset_model(const ModelRun& run);

/// Finds boxes with what the model gives beside them, masks if it has a mask_rule; or classes of
/// images. Reports its own errors, with the option or image. Nullopt on failure or interrupt.
std::optional<CocoResults> find_objects(const ModelRun& run, const PipelineModel& model,
                                        const CocoTruth& truth);

/// A results file: [{"image_id", "category_id", "bbox", "score"}, ...], with masks also
/// "segmentation" as pycocotools writes it, and "keypoints"; with rotated boxes "poly"; of classes
/// without "bbox", and only those of the ground truth. Errors: as OutputFile.
Status write_results(const std::string& path, const CocoTruth& truth, const CocoResults& results,
                     CocoKind kind);

}  // namespace halyard::tool
