// SPDX-License-Identifier: Apache-2.0
// Completes descriptions by the reference's defaults, so that boxes keep the tensors' units.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "halyard/compat/decode.h"
#include "halyard/description.h"
#include "halyard/output_matcher.h"

namespace halyard::compat {

/// A model as this layer decodes it.
struct CompletedModel {
  ModelDescription description;  ///< for halyard::Decoder; boxes "in pixels" are not scaled
  OutputMatcher outputs{ModelDescription()};
  std::optional<std::size_t> segmentation;  ///< output with class scores
  std::optional<std::size_t> prototypes;    ///< output that instance masks are made from
  bool has_boxes = true;                    ///< false: class scores only
  bool has_angles = false;                  ///< rotated boxes
  bool is_scaled = false;                   ///< halyard::Decoder's boxes are divided by `input`
  std::string model_type;
  std::optional<bool> normalized;  ///< whether the boxes of results are fractions
  std::optional<Size> input;
};

/// Errors: those of arrangement_of() and validate(); invalid_argument (an input size that is not
/// above 0; with the native convention masks or fractions without one).
Result<CompletedModel> complete(const ModelDescription& document, std::optional<Size> input_dims,
                                Convention convention);

/// Errors: invalid_argument (enumerators; anchors or units on outputs that cannot have them).
Result<ModelDescription> describe(std::span<const Output> outputs,
                                  std::optional<DecoderVersion> version);

}  // namespace halyard::compat
