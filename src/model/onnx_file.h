// SPDX-License-Identifier: Apache-2.0
// What an ONNX file says of itself, without a runtime: its metadata, and names, shapes and element
// types of its inputs and outputs. Weights and operators are stepped over.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "halyard/tensor.h"
#include "model/session.h"

namespace halyard::model {

/// Limits against files made to exhaust: beyond is `exhausted`, and the message has the limit.
struct OnnxLimits {
  static constexpr std::size_t name_bytes = std::size_t{1} << 12;
  static constexpr std::size_t text_bytes = std::size_t{4} << 20;       ///< of one metadata entry
  static constexpr std::size_t metadata_bytes = std::size_t{16} << 20;  ///< of all
  static constexpr std::size_t entries = 4096;
  static constexpr std::size_t tensors = 1024;  ///< inputs, and outputs
};

struct OnnxFile {
  std::vector<TensorSpec> inputs;  ///< without those that the file itself has values for
  std::vector<TensorSpec> outputs;
  Metadata metadata;
};

/// As Engine has them: a dynamic batch is 1, a dynamic image has the size that "imgsz" names, an
/// image input has its format. Errors: malformed (no ONNX model), unsupported (an element type, a
/// rank above 8, a shape that only a runtime can find), exhausted, those of opening a file.
Result<OnnxFile> read_onnx(const std::string& path);

/// The files that hold the values of tensors, as the file names them, relative to its folder; each
/// once, at most OnnxLimits::entries. Subgraphs are not looked into. Errors: as read_onnx().
Result<std::vector<std::string>> external_files(const std::string& path);

}  // namespace halyard::model
