// SPDX-License-Identifier: Apache-2.0
// Session: what an inference runtime brings to Engine. One runtime per build; Engine is the front.
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

/// A loaded network that can be run. run() is thread-safe; the inputs have been checked by Engine.
class Session {
 public:
  virtual ~Session() = default;
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) = 0;
};

/// Text that a model file carries, by key.
using Metadata = std::map<std::string, std::string>;

/// What a runtime made of a file.
struct Loaded {
  std::string runtime;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  Metadata metadata;
  std::unique_ptr<Session> session;
};

/// What a model file is, by its extension in any case; nothing for any other name.
enum class FileKind : std::uint8_t { onnx, tflite, ir };

/// Loads a file that exists and has a known extension. `metadata` is what Halyard itself read from
/// it; the runtime adds its own. Errors: as Engine::open.
Result<Loaded> load(const std::string& path, const Engine::Options& options, Metadata metadata);

/// One line for available_engines().
std::string describe_runtime();

}  // namespace halyard::model
