// SPDX-License-Identifier: Apache-2.0
// The question of each thread, and the nesting of its scopes.
#include "codec/cancel.h"

namespace halyard::codec {
namespace {
thread_local CancelScope* current = nullptr;
}  // namespace

CancelScope::CancelScope(const std::function<bool()>* question) noexcept
    : question_(question != nullptr && *question ? question : nullptr), outer_(current) {
  current = this;
}

CancelScope::~CancelScope() {
  current = outer_;
}

bool is_cancelled() {
  if (current == nullptr || current->question_ == nullptr) return false;
  if (!current->was_cancelled_) current->was_cancelled_ = (*current->question_)();
  return current->was_cancelled_;
}

Error cancelled_error() {
  return make_error(Errc::cancelled, "the caller asked to stop decoding");
}

}  // namespace halyard::codec
