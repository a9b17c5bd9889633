// SPDX-License-Identifier: Apache-2.0
// Pool: the inference requests of a compiled network, and Lease: one of them in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/threads.h"
#include "model/runtime.h"
#include "model/session/flight.h"

namespace halyard::model {

/// Every lease keeps the pool alive, so results may outlive the engine. Thread-safe.
class Pool {
 public:
  /// `limit`: of requests; 0: none. `own_inputs`: see RuntimeSession::input_memory().
  Pool(std::unique_ptr<RuntimeSession> session, std::vector<TensorSpec> outputs, std::size_t limit,
       std::vector<std::optional<Tensor>> own_inputs)
      : session_(std::move(session)),
        outputs_(std::move(outputs)),
        own_inputs_(std::move(own_inputs)),
        limit_(limit) {}

  RuntimeSession& session() noexcept { return *session_; }
  const std::vector<TensorSpec>& outputs() const noexcept { return outputs_; }
  const std::vector<std::optional<Tensor>>& own_inputs() const noexcept { return own_inputs_; }
  /// An idle request, or a new one. Errors: exhausted, those of make_request().
  Result<std::unique_ptr<Flight>> take();
  void give_back(std::unique_ptr<Flight> flight) noexcept;

 private:
  Result<std::unique_ptr<Flight>> make();

  std::unique_ptr<RuntimeSession> session_;
  std::vector<TensorSpec> outputs_;
  std::vector<std::optional<Tensor>> own_inputs_;
  std::size_t limit_;
  RankedMutex<LockRank::leaf> mutex_;
  std::vector<std::unique_ptr<Flight>> idle_;
  std::size_t made_ = 0;  ///< idle_ has capacity for all of them, so a return cannot fail
};

/// A request in use. It returns to its pool when the last result in its memory is gone.
struct HALYARD_LOCAL Lease {
  Lease(std::shared_ptr<Pool> from, std::unique_ptr<Flight> taken)
      : pool(std::move(from)), flight(std::move(taken)), generation(fork_generation()) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();
  std::shared_ptr<Pool> pool;
  std::unique_ptr<Flight> flight;
  std::uint32_t generation;  ///< of the process that took it
};

}  // namespace halyard::model
