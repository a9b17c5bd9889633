// SPDX-License-Identifier: Apache-2.0
// Flight: an inference request of the pool, with the state of its run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/ranked_condition.h"
#include "base/system/ranked_mutex.h"
#include "halyard/model.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "model/runtime.h"

namespace halyard::model {

/// A run is begun by one thread and ended by one; is_ready(), wait_for() and cancel() may be called
/// by any thread meanwhile.
class Flight {
 public:
  Flight(std::unique_ptr<RuntimeRequest> request, bool is_asynchronous)
      : request_(std::move(request)), is_asynchronous_(is_asynchronous) {}
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  ~Flight();

  RuntimeRequest& request() noexcept { return *request_; }
  /// Runs what is bound on the calling thread.
  Status run();
  /// Begins to run what is bound: by the runtime, or on this object's own thread. If the system
  /// refuses the thread, the run is over at return. Errors: device.
  Status start();
  bool is_ready() noexcept;
  /// Returns is_ready().
  bool wait_for(std::chrono::nanoseconds limit);
  /// Waits for the end of the run. Errors: device, cancelled.
  Status finish();
  void cancel() noexcept;
  /// Of a finished run.
  InferenceTimes times() const noexcept;

  /// Forgets the tensors of the run.
  void release() noexcept;

  // What the bound run reads and writes; kept alive until release().
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;  ///< the caller's; empty: the request's own memory
  std::vector<TensorMap> maps;
  std::vector<PortMemory> input_memory;
  std::vector<PortMemory> output_memory;

 private:
  enum class State : std::uint8_t { idle, queued, running, done };
  using Clock = std::chrono::steady_clock;

  static void on_done(void* self) noexcept;
  bool has_worker();
  void work() noexcept;
  Status run_caught() noexcept;
  void end(Status status) noexcept;

  std::unique_ptr<RuntimeRequest> request_;
  bool is_asynchronous_;
  std::thread worker_;
  RankedMutex<LockRank::leaf> mutex_;
  RankedCondition changed_;
  State state_ = State::idle;
  bool is_native_ = false;  ///< the run was begun by the runtime
  bool stops_ = false;
  Status status_;
  Clock::time_point submitted_{};
  Clock::time_point started_{};
  Clock::time_point ended_{};
};

}  // namespace halyard::model
