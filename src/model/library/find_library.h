// SPDX-License-Identifier: Apache-2.0
// Finds the library of an engine: in a folder that a variable names, or where the loader searches.
// The current folder is never searched.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/shared_object.h"
#include "halyard/result.h"

namespace halyard::model {

/// Where an engine's library may be.
struct LibraryPlaces {
  const char* variable;     ///< literal: its name, with what must hold: "X: must be absolute"
  const char* not_found;    ///< literal: "X: the folder lacks the library"
  const char* not_loaded;   ///< literal: what to install or to set
  std::string_view prefix;  ///< of the file's name in the folder: "libonnxruntime.so"
  std::vector<std::string_view> inner;  ///< folders inside: "", "capi"
  std::vector<const char*> names;       ///< for the loader, in their order
};

/// `folder`: the variable's value. Errors: invalid_argument (not absolute), unsupported (not there,
/// cannot be loaded; with the reason).
Result<SharedObject> find_library(const LibraryPlaces& places,
                                  const std::optional<std::string>& folder);

}  // namespace halyard::model
