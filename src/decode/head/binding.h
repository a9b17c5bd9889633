// SPDX-License-Identifier: Apache-2.0
// Connects a program with the tensors of one call: fields with data.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "decode/compile/program.h"
#include "decode/head/field.h"

namespace halyard::decode {

/// The fields of a level with their data.
struct LevelView {
  FieldView boxes, sizes, scores, objectness, classes, coefficients, keypoints, angles, priors;
};

/// How a tensor stores its values.
struct StoredAs {
  std::size_t missing = 0;  ///< leading axes of the plan that the tensor lacks
  Dequantization affine;
  const Quantization* quantization = nullptr;  ///< for integers only
};

/// Tensors of one call, mapped. Reused by later calls.
struct Binding {
  std::vector<const Tensor*> tensors;  ///< one per TensorPlan
  std::vector<TensorMap> maps;
  std::vector<StoredAs> stored;  ///< by tensor
  std::vector<LevelView> levels;
  float scale_x = 1;  ///< from the stored box unit to input pixels
  float scale_y = 1;
  /// Unmaps the tensors; keeps the memory.
  void release() noexcept { maps.clear(); }
};

/// Finds a tensor for every plan, checks and maps it. The tensor is the one of the same name if
/// both have names, else the one at the same position, else the only one of that shape. Errors:
/// invalid_argument (count, shape, ambiguity, batch out of range, integers without quantization,
/// fractions without input size), unsupported (dtype, per-channel quantization along another axis),
/// those of Tensor::map().
Status bind(const HeadProgram& program, const ModelDescription& description,
            std::span<const Tensor> tensors, std::size_t batch, Binding& out);

}  // namespace halyard::decode
