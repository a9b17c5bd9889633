// SPDX-License-Identifier: Apache-2.0
// Shared by the files that lower descriptions: outputs by role, and the program as it grows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decode/compile/axes.h"
#include "decode/compile/program.h"

namespace halyard::decode {

/// The logical outputs that are decoded.
struct Outputs {
  std::vector<NamedOutput> detections;
  NamedOutput boxes, scores, objectness, classes, coefficients, prototypes, keypoints, angles,
      priors, segmentation, classification;
  std::size_t tensor_count = 0;
};

/// Errors: invalid_argument (a role twice, extents), unsupported (a role without a head).
Result<Outputs> outputs_of(const ModelDescription& description);

/// unsupported: "outputs: no detection head fits them", with the reason and the shapes seen.
Error no_head(const ModelDescription& description, std::string_view reason);

/// Adds a tensor to the program; its index.
std::size_t add_tensor(HeadProgram& program, const NamedOutput& output, const TensorAxes& axes);

/// Prototypes: [batch, rows, columns, K] or [batch, K, rows, columns]. Adds them to the program and
/// returns K.
Result<std::size_t> add_prototypes(HeadProgram& program, const ModelDescription& description,
                                   const NamedOutput& output);

/// The one part of an output that has a single one, else the output.
NamedOutput only_part(const NamedOutput& output);

/// Adds a flat tensor of `boxes` boxes; all its features, or `features` of them (0: any). Errors:
/// invalid_argument (count of boxes or features), unsupported (parts).
Result<Field> add_flat(HeadProgram& program, const ModelDescription& description,
                       const NamedOutput& output, const FlatHint& hint);
/// Coefficients, keypoints and angles that have tensors of their own.
Status add_extras(HeadProgram& program, const ModelDescription& description, const Outputs& outputs,
                  Level& level);

/// One tensor with everything: [batch, features, boxes] or [batch, boxes, features].
Result<HeadProgram> compile_combined(const ModelDescription& description, const Outputs& outputs);
/// Boxes, scores and the rest in tensors of their own.
Result<HeadProgram> compile_split(const ModelDescription& description, const Outputs& outputs);
/// The same with parts for each stride.
Result<HeadProgram> compile_levels(const ModelDescription& description, const Outputs& outputs);
/// Grids of anchors, one detection tensor for each stride.
Result<HeadProgram> compile_anchor_grids(const ModelDescription& description,
                                         const Outputs& outputs);

/// Scores of the whole image: one extent above 1, or an axis named num_classes.
Result<HeadProgram> compile_classes(const ModelDescription& description, const Outputs& outputs);

/// Errors: invalid_argument (shapes, contradictions), unsupported (no head fits; the message lists
/// the shapes seen and what is known).
Result<HeadProgram> compile_program(const ModelDescription& description);

}  // namespace halyard::decode
