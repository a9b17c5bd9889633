// SPDX-License-Identifier: Apache-2.0
// Facts from metadata and sidecar files, each with its source as text. Output tensors are not read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decode/nms/selector.h"
#include "halyard/describe.h"

namespace halyard::decode {

/// A value and its source.
template <class T>
struct Sourced {
  T value;
  std::string source;
};

struct Facts {
  std::optional<Sourced<std::vector<std::string>>> labels = {};
  std::optional<Sourced<Task>> task = {};
  std::optional<Sourced<Size>> input = {};
  std::optional<Sourced<KeypointShape>> keypoints = {};
  std::optional<Sourced<bool>> is_final = {};        ///< the network suppresses boxes itself
  std::optional<Sourced<std::string>> version = {};  ///< a decoder_version, or "yolov10"
  std::optional<Sourced<BoxUnits>> box_units = {};
  std::optional<Sourced<Activation>> activation = {};  ///< still to be applied to scores
  bool is_transformer = false;  ///< outputs are logits and pred_boxes of queries
  bool has_no_object = false;   ///< the last of the transformer's classes is "no object"
  std::vector<std::string> warnings = {};
};

/// Reads metadata, Hugging Face files, labels.txt, image tensors, the file name and the defaults,
/// in that order. The first source of a fact wins, except that an image tensor overrides the input
/// size.
Facts facts_of(const ModelMetadata& metadata);

}  // namespace halyard::decode
