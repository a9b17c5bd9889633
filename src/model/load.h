// SPDX-License-Identifier: Apache-2.0
// Loads a model file with the first runtime that can.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halyard/model.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "model/session/session.h"

namespace halyard::model {

/// A model file that a runtime has loaded.
struct Loaded {
  std::string name;     ///< of the runtime
  std::string runtime;  ///< name, version and device
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  Metadata metadata;
  std::optional<Session> session;
};

/// Loads a file that exists. `metadata` is what Halyard itself read from the file; the runtime adds
/// its own. Errors: as Engine::open().
Result<Loaded> load(const std::string& path, const EngineOptions& options, Metadata metadata);

}  // namespace halyard::model
