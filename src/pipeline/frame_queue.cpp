// SPDX-License-Identifier: Apache-2.0
#include "pipeline/frame_queue.h"

#include <utility>

#include "base/assert.h"

namespace halyard::pipeline {

FrameQueue::FrameQueue(std::size_t sources, std::size_t depth)
    : depth_(depth), frames_(sources * depth), firsts_(sources), counts_(sources) {}

void FrameQueue::push(WaitingFrame frame) {
  const std::size_t source = frame.source;
  HALYARD_ASSERT(has_room(source));
  const std::size_t place = (firsts_[source] + counts_[source]) % depth_;
  frames_[source * depth_ + place] = std::move(frame);
  ++counts_[source];
  ++size_;
}

WaitingFrame FrameQueue::pop(std::size_t source) {
  HALYARD_ASSERT(counts_[source] > 0);
  WaitingFrame out = std::exchange(frames_[source * depth_ + firsts_[source]], {});
  firsts_[source] = (firsts_[source] + 1) % depth_;
  --counts_[source];
  --size_;
  return out;
}

WaitingFrame FrameQueue::pop() {
  HALYARD_ASSERT(size_ > 0);
  while (counts_[turn_] == 0)
    turn_ = (turn_ + 1) % counts_.size();
  WaitingFrame out = pop(turn_);
  turn_ = (turn_ + 1) % counts_.size();
  return out;
}

}  // namespace halyard::pipeline
