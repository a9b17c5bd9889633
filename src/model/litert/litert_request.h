// SPDX-License-Identifier: Apache-2.0
// A compiled model of LiteRT with the memory of one run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "halyard/result.h"
#include "model/litert/litert_api.h"
#include "model/runtime.h"

namespace halyard::model::litert {

/// An input or output of the model.
struct ModelPort {
  RankedType type{};
  std::size_t size_bytes = 0;
};

/// A model file. Requests keep it.
struct LiteFile {
  LiteFile(const LiteRt& from, LiteModel* loaded) noexcept : api(from), model(loaded) {}
  LiteFile(const LiteFile&) = delete;
  LiteFile& operator=(const LiteFile&) = delete;
  ~LiteFile() { api.destroy_model(model); }
  const LiteRt& api;
  LiteModel* model;
  std::vector<ModelPort> inputs;
  std::vector<ModelPort> outputs;
};

/// `what`: a literal.
Error litert_error(int status, const char* what);

/// Errors: device, no_memory.
Result<std::unique_ptr<RuntimeRequest>> make_litert_request(std::shared_ptr<const LiteFile> file);

}  // namespace halyard::model::litert
