// SPDX-License-Identifier: Apache-2.0
// A source is opened when it is needed, so that thousands of files do not need thousands of
// descriptors.
#include "input/inputs.h"

#include <utility>

namespace halyard::tool {

Result<Inputs> Inputs::open(std::vector<std::string> paths, const FrameSourceOptions& options) {
  Inputs inputs(std::move(paths), options);
  if (inputs.paths_.size() > 1) {
    inputs.play_list();
    inputs.rate_ = options.picture_rate;
    return inputs;
  }
  HALYARD_RETURN_IF_ERROR(inputs.advance());
  inputs.total_ = inputs.source_->frame_count;
  inputs.is_live_ = inputs.source_->is_live;
  const double rate = inputs.source_->rate;
  inputs.rate_ = rate > 0 ? rate : options.picture_rate;
  return inputs;
}

// A single image has no speed and no loop of its own.
void Inputs::play_list() {
  loops_ = std::exchange(options_.loops, false);
  if (!loops_) total_ = paths_.size();
  if (options_.speed > 0) pacer_.emplace(std::exchange(options_.speed, 0));
}

Status Inputs::advance() {
  source_.reset();
  current_ = paths_[opened_++];
  HALYARD_TRY(auto source, PipelineSource::open(current_, options_));
  // A folder or video among several inputs: the total count of frames is unknown.
  if (paths_.size() > 1 && source.frame_count != 1) total_.reset();
  source_ = std::move(source);
  const auto step = std::chrono::duration<double>(1 / options_.picture_rate);
  if (frames_ != 0) offset_ = last_ + std::chrono::duration_cast<std::chrono::nanoseconds>(step);
  return {};
}

Result<std::optional<Frame>> Inputs::next() {
  while (true) {
    if (!source_) {
      if (opened_ == paths_.size()) {
        if (!loops_ || frames_ == frames_before_pass_) return std::optional<Frame>{};
        opened_ = 0;
        frames_before_pass_ = frames_;
      }
      HALYARD_RETURN_IF_ERROR(advance());
    }
    auto frame = source_->next();
    if (!frame) {
      // After a damaged image the source continues; a broken stream cannot.
      if (!source_->frame_count || source_->is_video) source_.reset();
      return std::move(frame).error();
    }
    if (!*frame) {
      source_.reset();
      continue;
    }
    return timed(**std::move(frame));
  }
}

// Numbers and times of several inputs count over all of them.
Result<std::optional<Frame>> Inputs::timed(Frame frame) {
  if (paths_.size() > 1) frame.index = frames_;
  ++frames_;
  frame.timestamp += offset_;
  last_ = frame.timestamp;
  if (pacer_ && !pacer_->wait(last_, options_.load.is_cancelled))
    return make_error(Errc::cancelled, "input: the caller asked to stop");
  return std::optional<Frame>(std::move(frame));
}

}  // namespace halyard::tool
