// SPDX-License-Identifier: Apache-2.0
// FrameQueue: the frames of all sources that wait for a lane.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/lane.h"

namespace halyard::pipeline {

/// Sources take turns. Its user holds the lock of the scheduler.
class FrameQueue {
 public:
  FrameQueue(std::size_t sources, std::size_t depth);

  bool is_empty() const noexcept { return size_ == 0; }
  bool has_room(std::size_t source) const noexcept { return counts_[source] < depth_; }
  /// Requires has_room().
  void push(WaitingFrame frame);
  /// The oldest frame of the source whose turn it is. Requires a frame.
  WaitingFrame pop();
  /// The oldest frame of a source. Requires one.
  WaitingFrame pop(std::size_t source);

 private:
  std::size_t depth_;
  std::vector<WaitingFrame> frames_;  ///< a ring of `depth_` for each source
  std::vector<std::size_t> firsts_;   ///< index in its ring of each source's oldest frame
  std::vector<std::size_t> counts_;   ///< of each source
  std::size_t size_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace halyard::pipeline
