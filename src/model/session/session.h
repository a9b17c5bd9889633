// SPDX-License-Identifier: Apache-2.0
// Session: runs a compiled network on tensors. Checks the process, gives the runtime the tensors'
// memory, and wraps the runtime's memory as tensors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "halyard/model.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "model/runtime.h"
#include "model/session/pool.h"

namespace halyard::model {

/// A loaded network that can be run. Thread-safe. Engine has checked the tensors; `outputs` are all
/// of them, or none: then results are in the engine's memory.
class Session {
 public:
  /// `requests`: as EngineOptions::requests. Errors: those of import.
  static Result<Session> create(std::unique_ptr<RuntimeSession> session,
                                std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs,
                                unsigned requests);
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  Result<std::shared_ptr<Lease>> submit(std::span<const Tensor> inputs,
                                        std::span<const Tensor> outputs);
  Result<std::vector<Tensor>> make_inputs() const;

 private:
  Session(std::shared_ptr<Pool> pool, std::vector<TensorSpec> inputs) noexcept
      : pool_(std::move(pool)), inputs_(std::move(inputs)) {}
  Result<std::shared_ptr<Lease>> bound(std::span<const Tensor> inputs,
                                       std::span<const Tensor> outputs);
  std::shared_ptr<Pool> pool_;
  std::vector<TensorSpec> inputs_;
};

/// The outputs of a finished run: the caller's, or tensors that hold the lease.
Result<std::vector<Tensor>> outputs_of(const std::shared_ptr<Lease>& lease);

/// Errors: unsupported, in a child of a process that has opened a model: it has none of the
/// runtime's threads and would wait for them for ever.
Status check_process();

}  // namespace halyard::model
