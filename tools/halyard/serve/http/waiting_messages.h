// SPDX-License-Identifier: Apache-2.0
// WaitingMessages: what one viewer of a stream has not taken yet, within a fixed number of bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "serve/http/stream_message.h"

namespace halyard::tool {

/// Thread-bound.
class WaitingMessages {
 public:
  /// False: the stream has another head than the one that this viewer began with, so that the
  /// viewer must begin anew.
  bool add(const StreamMessage& message);
  bool is_empty() const noexcept { return waiting_.empty(); }
  /// The next message, with the stream's head if it is the first one. There must be one.
  StreamMessage take();
  /// Messages that this viewer did not get, since the last call.
  std::uint64_t take_skipped() noexcept { return std::exchange(skipped_, 0); }

 private:
  void skip_all();

  std::deque<StreamMessage> waiting_;
  std::size_t bytes_ = 0;
  StreamMessage::Bytes head_;  ///< of the stream; null before its first message
  bool has_sent_head_ = false;
  bool is_lost_ = true;  ///< waits for a message to begin with
  std::uint64_t skipped_ = 0;
};

}  // namespace halyard::tool
