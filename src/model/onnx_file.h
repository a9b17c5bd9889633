// SPDX-License-Identifier: Apache-2.0
// Reads the metadata of an ONNX file without a runtime, and names, shapes and element types of its
// inputs and outputs. Weights and operators are skipped.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "halyard/tensor.h"
#include "model/runtime.h"

namespace halyard::model {

/// Limits against malicious files. The error beyond one is `exhausted`, and the message has the
/// limit.
struct OnnxLimits {
  static constexpr std::size_t name_bytes = std::size_t{1} << 12;
  static constexpr std::size_t text_bytes = std::size_t{4} << 20;       ///< one metadata entry
  static constexpr std::size_t metadata_bytes = std::size_t{16} << 20;  ///< all entries together
  static constexpr std::size_t entries = 4096;
  static constexpr std::size_t tensors = 1024;  ///< inputs, and also outputs
};

struct OnnxFile {
  std::vector<TensorSpec> inputs;  ///< without inputs whose values are in the file
  std::vector<TensorSpec> outputs;
  Metadata metadata;
};

/// Reads inputs and outputs as Engine has them: a dynamic batch is 1, a dynamic image has the size
/// of "imgsz", an image input has its format. Errors: malformed (not an ONNX model), unsupported
/// (an element type, a rank above 8, a shape that only a runtime can find), exhausted, those of
/// opening a file.
Result<OnnxFile> read_onnx(const std::string& path);

/// The files that hold the values of tensors, with the names that the file uses, relative to its
/// folder; each once, at most OnnxLimits::entries. Subgraphs are not searched. Errors: as
/// read_onnx().
Result<std::vector<std::string>> external_files(const std::string& path);

}  // namespace halyard::model
