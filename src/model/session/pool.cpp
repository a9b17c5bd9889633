// SPDX-License-Identifier: Apache-2.0
// Hands out requests and takes them back.
#include "model/session/pool.h"

#include <utility>

#include "base/text/format_error.h"

namespace halyard::model {

Result<std::unique_ptr<Flight>> Pool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Flight> flight = std::move(idle_.back());
      idle_.pop_back();
      return flight;
    }
    if (limit_ != 0 && made_ >= limit_)
      return fail(Errc::exhausted, "engine: all requests are in flight or have living results",
                  "at most {} (requests of the options)", limit_);
    idle_.reserve(made_ + 1);
    ++made_;
  }
  auto made = make();
  if (!made) {
    const std::lock_guard lock(mutex_);
    --made_;
  }
  return made;
}

Result<std::unique_ptr<Flight>> Pool::make() {
  HALYARD_TRY(auto request, session_->make_request());
  return std::make_unique<Flight>(std::move(request), session_->is_asynchronous());
}

void Pool::give_back(std::unique_ptr<Flight> flight) noexcept {
  flight->release();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(flight));
}

Lease::~Lease() {
  if (generation == fork_generation()) {
    pool->give_back(std::move(flight));
    return;
  }
  // A child of fork(): the request's threads and locks are the parent's.
  static_cast<void>(flight.release());
  static_cast<void>(new (std::nothrow) std::shared_ptr<Pool>(std::move(pool)));
}

}  // namespace halyard::model
