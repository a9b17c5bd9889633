// SPDX-License-Identifier: Apache-2.0
// Stages scores in blocks of rows. Whole pages of each class are read at once. Planes whose
// distance is a power of two are copied to other distances, so that they do not evict each other
// from the cache.
#include "decode/semantic/semantic_staged.h"

#include <algorithm>

#include "decode/semantic/semantic_kernels.h"

namespace halyard::decode {
namespace {
constexpr std::size_t slack = 64;  // vectors read and write beyond the end
constexpr std::size_t staged_floats = 3U
                                      << 16;  // of both blocks together, if rows are short enough
}  // namespace

StagedScores::StagedScores(const PrototypeGrid& scores, const ChannelScales& scales, bool softmax,
                           float scale, SemanticWorkspace& work)
    : scores_(scores), scales_(scales), softmax_(softmax), scale_(scale), work_(work) {
  const std::size_t row = scores.width * scores.channels;
  rows_ = std::clamp<std::size_t>(staged_floats / 2 / row, 1, scores.height);
  stride_ = (rows_ * scores.width + 15) / 16 * 16 + 48;
  if (stride_ % 1024 < 64) stride_ += 64;
  const std::size_t pixels = scores.width * scores.height + slack;
  hold(work.best, pixels);
  hold(work.label, pixels);
  if (softmax) hold(work.sum, pixels);
}

const float* StagedScores::row(std::int32_t y) const noexcept {
  const std::size_t block = static_cast<std::size_t>(y) / rows_;
  const std::size_t at = static_cast<std::size_t>(y) % rows_;
  return work_.staged[block % 2].data() + at * scores_.width;
}

void StagedScores::need(std::int32_t y) {
  const std::size_t block = static_cast<std::size_t>(y) / rows_;
  if (held_[block % 2] == block) return;
  stage(block);
  held_[block % 2] = block;
}

void StagedScores::stage(std::size_t block) {
  std::vector<float>& to = work_.staged[block % 2];
  hold(to, stride_ * scores_.channels + slack);
  const std::size_t first = block * rows_;
  const std::size_t rows = std::min(rows_, scores_.height - first);
  StoredRow row;
  row.data = scores_.data + static_cast<std::ptrdiff_t>(first) * scores_.row_stride_bytes;
  row.pixel_stride_bytes = scores_.pixel_stride_bytes;
  row.channel_stride_bytes = scores_.channel_stride_bytes;
  row.channels = scores_.channels;
  row.dtype = scores_.dtype;
  const bool one_run = scores_.row_stride_bytes ==
                       static_cast<std::ptrdiff_t>(scores_.width) * scores_.pixel_stride_bytes;
  row.pixels = one_run ? rows * scores_.width : scores_.width;
  bool is_finite = true;
  for (std::size_t y = 0; y < (one_run ? 1 : rows); ++y) {
    is_finite &= stage_real(row, scales_, to.data() + y * scores_.width, stride_);
    row.data += scores_.row_stride_bytes;
  }
  const std::size_t pixels = rows * scores_.width;
  const std::size_t at = first * scores_.width;
  if (!is_finite) make_finite(to.data(), stride_, scores_.channels, pixels);
  best_classes(to.data(), stride_, scores_.channels, pixels, work_.best.data() + at,
               work_.label.data() + at);
  if (softmax_) {
    sum_of_exponentials(to.data(), stride_, scores_.channels, work_.best.data() + at, scale_,
                        pixels, work_.sum.data() + at);
  }
}

}  // namespace halyard::decode
