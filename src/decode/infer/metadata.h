// SPDX-License-Identifier: Apache-2.0
// What metadata and sidecars tell, each fact with its source in words. Tensors come later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decode/nms/selector.h"
#include "halyard/describe.h"

namespace halyard::decode {

/// A value and where it came from.
template <class T>
struct Told {
  T value;
  std::string source;
};

struct Facts {
  std::optional<Told<std::vector<std::string>>> labels = {};
  std::optional<Told<Task>> task = {};
  std::optional<Told<Size>> input = {};
  std::optional<Told<KeypointShape>> keypoints = {};
  std::optional<Told<bool>> is_final = {};        ///< boxes are suppressed already
  std::optional<Told<std::string>> version = {};  ///< a decoder_version, or "yolov10"
  std::optional<Told<BoxUnits>> box_units = {};
  std::optional<Told<Activation>> activation = {};  ///< that scores lack
  bool is_transformer = false;                      ///< logits and pred_boxes of queries
  bool has_no_object = false;                       ///< the last of its classes is "no object"
  std::vector<std::string> warnings = {};
};

/// Reads metadata, Hugging Face's files, labels.txt, tensors that are images, the file's name and
/// the defaults, in that order: the first that tells a fact wins.
Facts facts_of(const ModelMetadata& metadata);

}  // namespace halyard::decode
