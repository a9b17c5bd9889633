// SPDX-License-Identifier: Apache-2.0
// From a program and the tensors of one call to fields with bytes.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "decode/compile/program.h"
#include "decode/head/field.h"

namespace halyard::decode {

/// A level with its bytes.
struct LevelView {
  FieldView boxes, sizes, scores, objectness, classes, coefficients, keypoints, angles, priors;
};

/// Everything of one tensor but its bytes.
struct StoredAs {
  std::size_t missing = 0;  ///< leading axes of the plan that the tensor lacks
  Dequantization affine;
  const Quantization* quantization = nullptr;  ///< of integers
};

/// Tensors of one call, mapped. Reused from call to call.
struct Binding {
  std::vector<const Tensor*> tensors;  ///< one per TensorPlan
  std::vector<TensorMap> maps;
  std::vector<StoredAs> stored;  ///< by tensor
  std::vector<LevelView> levels;
  float scale_x = 1;  ///< stored box unit to input pixels
  float scale_y = 1;
  /// Gives the maps back; keeps memory.
  void release() noexcept { maps.clear(); }
};

/// Finds a tensor for every plan - by name where both have one, else the one at the same place,
/// else the only one of the shape -, checks and maps it. Errors: invalid_argument (count, shape,
/// ambiguity, batch out of range, integers without quantization, fractions without input size),
/// unsupported (dtype, quantization per channel of another axis), those of mapping.
Status bind(const HeadProgram& program, const ModelDescription& description,
            std::span<const Tensor> tensors, std::size_t batch, Binding& out);

}  // namespace halyard::decode
