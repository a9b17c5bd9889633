// SPDX-License-Identifier: Apache-2.0
// Describe: descriptions without a document, from the name of a family of networks or from what a
// model file says about itself.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/description.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Class names of a data set, in the order of its class indices: "coco" (80), "voc" (20),
/// "dota" (15, of oriented boxes), "cityscapes" (19). Empty for any other name.
std::vector<std::string> labels_of(std::string_view data_set);

/// What a preset leaves open. Unset values are those that the networks are published with.
struct PresetOptions {
  Size input = {};                              ///< {0, 0}: 640 x 640, or the family's own
  std::vector<std::string> labels = {};         ///< their count is the count of classes
  std::size_t classes = 0;                      ///< where there are no labels; 0: the family's own
  std::optional<KeypointShape> keypoints = {};  ///< of -pose; unset: 17 points, visible or not
  std::size_t boxes = 0;                        ///< rows, queries or priors; 0: from the input
  Size map = {};                                ///< of segmentation; {0, 0}: from the input
  std::vector<std::vector<Anchor>> anchors = {};  ///< of modelpack-split: for each level
  std::optional<BoxUnits> box_units = {};         ///< unset: as ONNX files have them
};

/// A description in one line: `describe_model("yolov8-seg", {.labels = names})`. Families:
/// - yolov5, yolov8, yolo11, yolo26; with -seg, -pose, -obb or -cls behind: as Ultralytics exports
///   them to ONNX (yolo26: rows of suppressed boxes).
/// - modelpack (boxes and scores), modelpack-split (grids of strides 16 and 32; needs anchors),
///   modelpack-seg.
/// - ssd (with priors; scores are logits, softmax), nanodet (strides 8 16 32, 8 bins), nanodet-plus
///   (8 16 32 64), rt-detr (one tensor), segformer (scores at a quarter of the input), deeplabv3.
/// Errors: unsupported (no such family; the message lists them), invalid_argument (an option does
/// not fit; those of validate()).
Result<ModelDescription> describe_model(std::string_view family, const PresetOptions& options = {});
/// Names that describe_model() takes.
std::span<const std::string_view> model_families() noexcept;

/// The kind of a model file; it says what units its boxes have where nothing else does.
enum class ModelFormat { unknown, onnx, tflite, openvino };

/// What is known of a model without running it.
struct ModelMetadata {
  /// A text that travels with a model: in a ZIP archive at its end, or in a file beside it.
  struct Attachment {
    std::string name = {};  ///< "edgefirst.json", "labels.txt", "config.json"...
    std::string text = {};
    bool is_embedded = false;
  };
  std::string file = {};  ///< name of the model, for messages and as a last hint of its version
  ModelFormat format = ModelFormat::unknown;
  std::vector<TensorSpec> inputs = {};
  std::vector<TensorSpec> outputs = {};
  std::map<std::string, std::string> metadata = {};  ///< of ONNX files, or a TFLite's dict
  std::vector<Attachment> attachments = {};
};

/// The description of a model from, in this order:
/// 1. a description document: an embedded edgefirst.json or edgefirst.yaml, then one beside the
///    model, then a .json or .yaml with the model's own name;
/// 2. Ultralytics' metadata: task, names, imgsz, kpt_shape, end2end, nms, description, box_units;
/// 3. Hugging Face's config.json (id2label, model_type, architectures) and
///    preprocessor_config.json (size), and a labels.txt;
/// 4. shapes and names of the tensors, the name of the file;
/// 5. defaults: boxes are fractions in TFLite files, pixels elsewhere.
/// Each value that no document gave stands in `origins` with its source. Sources that contradict
/// each other are refused, and the message names both. Pure. Errors: invalid_argument
/// (contradiction), unsupported (outputs of no known kind; a task or family that is not decoded),
/// those of documents.
Result<ModelDescription> infer_description(const ModelMetadata& metadata);

}  // namespace halyard
HALYARD_EXPORTS_END
