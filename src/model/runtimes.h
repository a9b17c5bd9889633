// SPDX-License-Identifier: Apache-2.0
// The runtimes that this library knows, and which of them a file is opened with.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/model.h"
#include "halyard/result.h"
#include "model/runtime.h"

namespace halyard::model {

struct KnownRuntime {
  std::string name;
  std::vector<std::string> extensions;  ///< ".onnx"; empty: any
  std::string install = {};             ///< the command that brings it
  bool takes_delegate = false;
  bool is_only_named = false;  ///< never tried without its name: a damaged file may end the process
  /// Errors: unsupported, version. Calls after the first success give the same runtime.
  std::function<Result<const Runtime*>()> load;
};

/// In the order in which they are tried. Thread-safe.
std::vector<KnownRuntime> known_runtimes();

/// The runtimes to open a file with, in their order, never none. `extension` is in lower case, with
/// its dot. Errors: invalid_argument (no engine has the name), unsupported (the engine reads other
/// files or takes no delegate; no engine reads such files).
Result<std::vector<KnownRuntime>> runtimes_for(const std::string& path, std::string_view extension,
                                               const EngineOptions& options);

}  // namespace halyard::model
