// SPDX-License-Identifier: Apache-2.0
// Session: the interface of an inference runtime behind Engine. A build has one runtime.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/model.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard::model {

/// A loaded network that can be run. run() is thread-safe; Engine has checked the inputs.
class Session {
 public:
  virtual ~Session() = default;
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) = 0;
};

/// Texts of a model file, by key.
using Metadata = std::map<std::string, std::string>;

/// A model file that a runtime has loaded.
struct Loaded {
  std::string runtime;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  Metadata metadata;
  std::unique_ptr<Session> session;
};

/// The kind of a model file, by its extension in any case.
enum class FileKind : std::uint8_t { onnx, tflite, ir };

/// Loads a file that exists and has a known extension. `metadata` is what Halyard itself read from
/// the file; the runtime adds its own. Errors: as Engine::open().
Result<Loaded> load(const std::string& path, const EngineOptions& options, Metadata metadata);

/// One line for available_engines().
std::string describe_runtime();

}  // namespace halyard::model
