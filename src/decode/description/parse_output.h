// SPDX-License-Identifier: Apache-2.0
// Reads one output record of a description document, and the values that other records have, too.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "decode/document/document.h"
#include "halyard/description.h"

namespace halyard::decode {

struct NamedShape {
  std::vector<AxisName> axes = {};  ///< empty if the axes have no names
  std::vector<std::size_t> shape = {};
};
/// Reads `shape` and `dshape` of a record. They must agree if both are present.
Result<NamedShape> read_shapes(const Node& record, Warnings& warnings);

/// Reads quantization. Version 1: [scale, zero_point]. Version 2: {scale, zero_point, axis, dtype}.
/// The dtype is stored in `dtype` and must agree with a value that is set already.
Result<Quantization> read_quantization(const Node& node, std::optional<DType>& dtype,
                                       Warnings& warnings);

Result<DType> read_dtype(const Node& node);
/// The length of a list. Errors: invalid_argument (not a list, too long).
Result<std::size_t> list_size(const Node& node, std::size_t maximum);

/// Reads a record of `outputs`, with its parts. Checks types and names of values; validate() checks
/// the rest.
Result<OutputDescription> read_output(const Node& record, int schema, Warnings& warnings);

}  // namespace halyard::decode
