// SPDX-License-Identifier: Apache-2.0
// Runs a request on the calling thread, by the runtime's own threads, or on a thread of its own.
#include "model/session/flight.h"

#include <new>
#include <system_error>
#include <utility>

#include "base/system/fork.h"

namespace halyard::model {

Flight::~Flight() {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  worker_.join();
}

Status Flight::run_caught() noexcept {
  try {
    return request_->run();
  } catch (const std::bad_alloc&) {
    return make_error(Errc::no_memory, "engine: no memory for the run");
  }
}

Status Flight::run() {
  submitted_ = started_ = Clock::now();
  Status status = run_caught();
  ended_ = Clock::now();
  return status;
}

void Flight::end(Status status) noexcept {
  ended_ = Clock::now();
  status_ = std::move(status);
  state_ = State::done;
  changed_.notify_all();
}

void Flight::on_done(void* self) noexcept {
  auto& flight = *static_cast<Flight*>(self);
  const std::lock_guard lock(flight.mutex_);
  flight.end({});
}

void Flight::work() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stops_ || state_ == State::queued; });
    if (stops_) return;
    state_ = State::running;
    started_ = Clock::now();
    lock.unlock();
    Status status = run_caught();
    lock.lock();
    end(std::move(status));
  }
}

bool Flight::has_worker() {
  if (worker_.joinable()) return true;
  threads_start();
  try {
    worker_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

Status Flight::start() {
  is_native_ = is_asynchronous_;
  const bool is_queued = !is_native_ && has_worker();
  {
    const std::lock_guard lock(mutex_);
    submitted_ = started_ = Clock::now();
    status_ = {};
    state_ = is_queued ? State::queued : State::running;
    if (is_queued) changed_.notify_all();
  }
  if (is_queued) return {};
  if (is_native_) {
    auto started = request_->start({&Flight::on_done, this});
    if (started) return {};
    const std::lock_guard lock(mutex_);
    state_ = State::idle;
    return started;
  }
  Status status = run_caught();
  const std::lock_guard lock(mutex_);
  end(std::move(status));
  return {};
}

bool Flight::is_ready() noexcept {
  const std::lock_guard lock(mutex_);
  return state_ == State::done;
}

bool Flight::wait_for(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  const auto is_done = [this] { return state_ == State::done; };
  // Longer waits would overflow the clock.
  constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
  return changed_.wait_for(lock, std::min(limit, longest), is_done);
}

Status Flight::finish() {
  Status status;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_ == State::done; });
    status = status_;
  }
  return is_native_ ? request_->wait() : status;
}

void Flight::cancel() noexcept {
  bool is_running = false;
  {
    const std::lock_guard lock(mutex_);
    is_running = state_ == State::running;
    if (state_ == State::queued) end(make_error(Errc::cancelled, "run: was cancelled"));
  }
  // Not under the lock: a runtime may report the end of the run from here.
  if (is_running) request_->cancel();
}

InferenceTimes Flight::times() const noexcept {
  return {started_ - submitted_, ended_ - started_};
}

void Flight::release() noexcept {
  maps.clear();
  inputs.clear();
  outputs.clear();
  input_memory.clear();
  output_memory.clear();
}

}  // namespace halyard::model
