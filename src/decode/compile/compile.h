// SPDX-License-Identifier: Apache-2.0
// Shared by the files that compile descriptions: the outputs by role, and the program while it is
// built.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decode/compile/axes.h"
#include "decode/compile/program.h"

namespace halyard::decode {

/// The logical outputs to decode.
struct Outputs {
  std::vector<NamedOutput> detections;
  NamedOutput boxes, scores, objectness, classes, coefficients, prototypes, keypoints, angles,
      priors, segmentation, classification;
  std::size_t tensor_count = 0;
};

/// Errors: unsupported (a role that no head decodes).
Result<Outputs> outputs_by_role(const ModelDescription& description);

/// unsupported: "outputs: no detection head fits them", with the reason and the shapes seen.
Error no_head(const ModelDescription& description, std::string_view reason);

/// Adds a tensor to the program. Returns its index.
std::size_t add_tensor(HeadProgram& program, const NamedOutput& output, const TensorAxes& axes);

/// Adds prototypes to the program: [batch, rows, columns, K] or [batch, K, rows, columns]. Returns
/// K.
Result<std::size_t> add_prototypes(HeadProgram& program, const ModelDescription& description,
                                   const NamedOutput& output);

/// The part of an output that has exactly one part, else the output itself.
NamedOutput only_part(const NamedOutput& output);

/// Adds a flat tensor with one entry per box. The hint gives the required counts of boxes and
/// features (0: any). Errors: invalid_argument (wrong count of boxes or features), unsupported
/// (parts).
Result<Field> add_flat(HeadProgram& program, const ModelDescription& description,
                       const NamedOutput& output, const FlatHint& hint);
/// Adds coefficients, keypoints and angles that have tensors of their own.
Status add_extras(HeadProgram& program, const ModelDescription& description, const Outputs& outputs,
                  Level& level);

/// One tensor holds everything: [batch, features, boxes] or [batch, boxes, features].
Result<HeadProgram> compile_combined(const ModelDescription& description, const Outputs& outputs);
/// Boxes, scores and the other roles have separate tensors.
Result<HeadProgram> compile_split(const ModelDescription& description, const Outputs& outputs);
/// As compile_split(), with one part per stride for each role.
Result<HeadProgram> compile_levels(const ModelDescription& description, const Outputs& outputs);
/// Grids of anchors: one detection tensor per stride.
Result<HeadProgram> compile_anchor_grids(const ModelDescription& description,
                                         const Outputs& outputs);

/// Scores of the whole image: one extent is above 1, or an axis is named num_classes.
Result<HeadProgram> compile_classes(const ModelDescription& description, const Outputs& outputs);

/// Chooses the head and compiles it. validate() must have accepted the description; its rules are
/// asserted here. Errors: invalid_argument (shapes, contradictions), unsupported (no head fits; the
/// message lists the shapes seen).
Result<HeadProgram> compile_program(const ModelDescription& description);

}  // namespace halyard::decode
