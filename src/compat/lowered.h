// SPDX-License-Identifier: Apache-2.0
// From a description to what halyard::Decoder is made from so that boxes keep the tensors' units.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/compat/decode.h"
#include "halyard/description.h"

namespace halyard::compat {

/// A tensor that the outputs have, in the order of the description.
struct ExpectedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::optional<std::size_t> batch_axis;
  bool is_shared = false;  ///< one table may serve all elements of a batch
  std::optional<Quantization> quantization;
};

/// What becomes of the boxes that halyard::Decoder gives.
enum class BoxScale { none, by_input };

struct Lowered {
  ModelDescription description;  ///< for halyard::Decoder; boxes "in pixels" come as they are
  bool has_boxes = true;         ///< false: class scores alone
  bool has_masks = false;        ///< instance masks
  bool has_angles = false;       ///< rotated boxes
  std::string model_type;
  BoxScale scale = BoxScale::none;
  std::optional<bool> normalized;
  std::optional<Size> input;
  std::vector<ExpectedTensor> tensors;
  std::optional<std::size_t> segmentation;  ///< index into `tensors`
  std::optional<std::size_t> prototypes;    ///< the same; there where has_masks
  OutputDescription segmentation_output;
};

/// Errors: those of arrangement_of() and validate(); of native also invalid_argument (masks and no
/// input size).
Result<Lowered> lower(const ModelDescription& document, std::optional<Size> input_dims,
                      Convention convention);

/// Errors: invalid_argument (axes, anchors or units where they do not belong).
Result<ModelDescription> describe(std::span<const Output> outputs,
                                  std::optional<DecoderVersion> version);

}  // namespace halyard::compat
