// SPDX-License-Identifier: Apache-2.0
// InferenceRequest: the caller's handle of a run.
#include <utility>

#include "base/text/format_error.h"
#include "halyard/model.h"
#include "model/session/session.h"

namespace halyard {
namespace {

bool is_here(const std::shared_ptr<model::Lease>& lease) {
  return lease && lease->generation == fork_generation();
}

}  // namespace

InferenceRequest::InferenceRequest() noexcept = default;
InferenceRequest::InferenceRequest(std::shared_ptr<model::Lease> lease) noexcept
    : lease_(std::move(lease)) {}
InferenceRequest::InferenceRequest(InferenceRequest&&) noexcept = default;
InferenceRequest& InferenceRequest::operator=(InferenceRequest&& other) noexcept {
  if (this == &other) return *this;
  abandon();
  lease_ = std::move(other.lease_);
  times_ = other.times_;
  is_taken_ = std::move(other.is_taken_);
  return *this;
}
InferenceRequest::~InferenceRequest() {
  abandon();
}

void InferenceRequest::abandon() noexcept {
  if (is_here(lease_) && !is_taken_) {
    lease_->flight->cancel();
    static_cast<void>(lease_->flight->finish());
  }
  lease_.reset();
}

bool InferenceRequest::is_ready() const noexcept {
  return !is_here(lease_) || lease_->flight->is_ready();
}

bool InferenceRequest::wait_for(std::chrono::nanoseconds limit) const noexcept {
  return !is_here(lease_) || lease_->flight->wait_for(limit);
}

Result<std::vector<Tensor>> InferenceRequest::wait() {
  if (!lease_ || is_taken_)
    return fail(Errc::invalid_argument, "run: there is none, or its outputs were taken");
  HALYARD_RETURN_IF_ERROR(model::check_process());
  const Status status = lease_->flight->finish();
  times_ = lease_->flight->times();
  is_taken_ = true;
  if (!status) {
    lease_->flight->release();
    return status.error();
  }
  return model::outputs_of(lease_);
}

void InferenceRequest::cancel() noexcept {
  if (is_here(lease_)) lease_->flight->cancel();
}

}  // namespace halyard
