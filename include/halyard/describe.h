// SPDX-License-Identifier: Apache-2.0
// Describe: makes descriptions without a document, from the name of a family of networks or from
// the metadata of a model file.
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

/// The open parameters of a preset. Unset values are those of the published networks.
struct PresetOptions {
  Size input = {};                                ///< {0, 0}: 640 x 640, or the family's own
  std::vector<std::string> labels = {};           ///< their count is the number of classes
  std::size_t classes = 0;                        ///< used if there are no labels; 0: the family's
                                                  ///< own
  std::optional<KeypointShape> keypoints = {};    ///< for -pose; unset: 17 points with visibility
  std::size_t boxes = 0;                          ///< rows, queries or priors; 0: from the input
  Size map = {};                                  ///< size of the segmentation output; {0, 0}: from
                                                  ///< the input
  std::vector<std::vector<Anchor>> anchors = {};  ///< for modelpack-split: anchors of each level
  std::optional<BoxUnits> box_units = {};         ///< unset: as in ONNX files
};

/// Makes a description in one line: `describe_model("yolov8-seg", {.labels = names})`. Families:
/// - yolov5, yolov8, yolo11, yolo26; also with the suffix -seg, -pose, -obb or -cls: as Ultralytics
///   exports them to ONNX (yolo26: rows of boxes after suppression).
/// - modelpack (boxes and scores), modelpack-split (grids of strides 16 and 32; needs anchors),
///   modelpack-seg.
/// - ssd (with priors; scores are logits, softmax), nanodet (strides 8 16 32, 8 bins), nanodet-plus
///   (8 16 32 64), rt-detr (one tensor), segformer (scores at a quarter of the input), deeplabv3.
/// Errors: unsupported (no such family; the message lists them), invalid_argument (an option does
/// not fit; those of validate()).
Result<ModelDescription> describe_model(std::string_view family, const PresetOptions& options = {});
/// Names that describe_model() accepts.
std::span<const std::string_view> model_families() noexcept;

/// The kind of a model file. It decides the units of boxes if nothing else does.
enum class ModelFormat { unknown, onnx, tflite, openvino };

/// What is known about a model without running it.
struct ModelMetadata {
  /// A text that belongs to a model: in a ZIP archive at the end of its file, or in a file next to
  /// it.
  struct Attachment {
    std::string name = {};  ///< "edgefirst.json", "labels.txt", "config.json"...
    std::string text = {};
    bool is_embedded = false;
  };
  std::string file = {};  ///< name of the model, for messages and as a last hint of its version
  ModelFormat format = ModelFormat::unknown;
  std::vector<TensorSpec> inputs = {};
  std::vector<TensorSpec> outputs = {};
  std::map<std::string, std::string> metadata = {};  ///< of ONNX files, or the dict of a TFLite
                                                     ///< file
  std::vector<Attachment> attachments = {};
};

/// Finds the description of a model. Sources, in this order:
/// 1. a description document: an embedded edgefirst.json or edgefirst.yaml, then one next to the
///    model, then a .json or .yaml with the model's own name;
/// 2. Ultralytics' metadata: task, names, imgsz, kpt_shape, end2end, nms, description, box_units;
/// 3. Hugging Face's config.json (id2label, model_type, architectures) and
///    preprocessor_config.json (size), and a labels.txt;
/// 4. shapes and names of the tensors, and the name of the file;
/// 5. defaults: boxes are fractions in TFLite files, pixels elsewhere.
/// `origins` lists each value that does not come from a document, with its source. Sources that
/// contradict each other are refused; the message names both. Pure. Errors: invalid_argument
/// (contradiction), unsupported (outputs of an unknown kind; a task or family that is not
/// supported), those of documents.
Result<ModelDescription> infer_description(const ModelMetadata& metadata);

}  // namespace halyard
HALYARD_EXPORTS_END
