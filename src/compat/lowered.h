// SPDX-License-Identifier: Apache-2.0
// Turns a description into one for halyard::Decoder whose boxes keep the tensors' units.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/compat/decode.h"
#include "halyard/description.h"

namespace halyard::compat {

/// An expected tensor of the outputs, in the order of the description.
struct ExpectedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::optional<std::size_t> batch_axis;
  bool is_shared = false;  ///< one table may be used for all elements of a batch
  std::optional<Quantization> quantization;
};

/// How the boxes of halyard::Decoder are scaled: not at all, or by the size of the input.
enum class BoxScale { none, by_input };

struct Lowered {
  ModelDescription description;  ///< for halyard::Decoder; boxes "in pixels" are not scaled
  bool has_boxes = true;         ///< false: class scores only
  bool has_masks = false;        ///< instance masks
  bool has_angles = false;       ///< rotated boxes
  std::string model_type;
  BoxScale scale = BoxScale::none;
  std::optional<bool> normalized;
  std::optional<Size> input;
  std::vector<ExpectedTensor> tensors;
  std::optional<std::size_t> segmentation;  ///< index into `tensors`
  std::optional<std::size_t> prototypes;    ///< index into `tensors`; set if has_masks
  OutputDescription segmentation_output;
};

/// Errors: those of arrangement_of() and validate(); with the native convention also
/// invalid_argument (masks without an input size).
Result<Lowered> lower(const ModelDescription& document, std::optional<Size> input_dims,
                      Convention convention);

/// Errors: invalid_argument (axes, anchors or units on outputs that cannot have them).
Result<ModelDescription> describe(std::span<const Output> outputs,
                                  std::optional<DecoderVersion> version);

}  // namespace halyard::compat
