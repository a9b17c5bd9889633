// SPDX-License-Identifier: Apache-2.0
// A source is opened when it is needed, so that thousands of files do not need thousands of
// descriptors.
#include "input/inputs.h"

#include <utility>

namespace halyard::tool {

Result<Inputs> Inputs::open(std::vector<std::string> paths, const FrameSourceOptions& options) {
  Inputs inputs(std::move(paths), options);
  if (inputs.paths_.size() > 1) {
    inputs.total_ = inputs.paths_.size();
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
      if (opened_ == paths_.size()) return std::optional<Frame>{};
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
    (*frame)->index = frames_++;
    (*frame)->timestamp += offset_;
    last_ = (*frame)->timestamp;
    return frame;
  }
}

}  // namespace halyard::tool
