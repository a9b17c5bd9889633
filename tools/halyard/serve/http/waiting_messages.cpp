// SPDX-License-Identifier: Apache-2.0
#include "serve/http/waiting_messages.h"

namespace halyard::tool {

bool WaitingMessages::add(const StreamMessage& message) {
  using Role = StreamMessage::Role;
  if (message.role == Role::first) {
    if (head_ && head_ != message.head) return false;
    head_ = message.head;
    is_lost_ = false;
  }
  if (message.role == Role::follows && is_lost_) {
    // What came before the viewer's first message is not skipped for it.
    if (head_) ++skipped_;
    return true;
  }
  const bool is_full = bytes_ + message.bytes->size() > max_waiting_bytes;
  if (message.role == Role::whole || is_full) skip_all();
  if (message.role == Role::follows && is_full) {
    is_lost_ = true;
    ++skipped_;
    return true;
  }
  bytes_ += message.bytes->size();
  waiting_.push_back(message);
  return true;
}

StreamMessage WaitingMessages::take() {
  StreamMessage out = std::move(waiting_.front());
  waiting_.pop_front();
  bytes_ -= out.bytes->size();
  out.head = has_sent_head_ ? nullptr : head_;
  has_sent_head_ = true;
  return out;
}

void WaitingMessages::skip_all() {
  skipped_ += waiting_.size();
  waiting_.clear();
  bytes_ = 0;
}

}  // namespace halyard::tool
