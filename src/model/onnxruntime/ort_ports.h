// SPDX-License-Identifier: Apache-2.0
// Inputs, outputs and metadata of a session of ONNX Runtime.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halyard/format.h"
#include "halyard/result.h"
#include "model/onnxruntime/ort_api.h"
#include "model/runtime.h"

namespace halyard::model::ort {

/// An input or output as the model has it.
struct Shape {
  std::string name;
  int type = 0;                       ///< ElementType, or another value of the library
  std::vector<std::int64_t> extents;  ///< -1: open
  bool is_tensor = false;

  bool is_fixed() const noexcept;
};

std::optional<DType> dtype_of_element(int type) noexcept;
Port port_of(const Shape& shape);

/// `is_input`: else outputs. Errors: device.
Result<std::vector<Shape>> shapes_of(const Library& library, const Session& session, bool is_input);
/// The shape of a computed tensor. Errors: device.
Result<std::vector<std::int64_t>> extents_of(const Library& library, const Value& value);
/// Entries that cannot be read are left out.
Metadata texts_of(const Library& library, const Session& session);

}  // namespace halyard::model::ort
