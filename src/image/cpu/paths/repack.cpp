// SPDX-License-Identifier: Apache-2.0
// Repack path: RGB and grey images whose values stay and which are neither resampled nor rotated.
// Channels are interleaved, deinterleaved or dropped.
#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/repack.h"
#include "image/cpu/store/pad.h"

namespace halyard::image {
namespace {

using Group = RepackJob::Group;

Group group_of(const ChannelMap& map) noexcept {
  if (map.count == 1) return Group::grey;
  if (map.sites[0].step == 1) return Group::planes;
  return map.sites[0].step == 3 ? Group::packed3 : Group::packed4;
}

bool keeps_bytes(const Plan& plan) noexcept {
  if (plan.src.channels == nullptr || plan.src.dtype != DType::u8) return false;
  if (plan.alpha != AlphaStep::keep || plan.color.to != ColorModel::rgb) return false;
  if (plan.color.from != ColorModel::rgb && plan.color.from != ColorModel::grey) return false;
  switch (plan.values.kind) {
    case ValueMap::Kind::identity:
      return plan.dst.dtype == DType::u8;
    case ValueMap::Kind::flip_sign:
      return plan.dst.dtype == DType::i8;
    case ValueMap::Kind::affine:
      break;
  }
  return false;
}

/// The address of the sample at (x, y); null for a channel that does not exist.
template <class Byte>
auto sample_place(const ChannelView<Byte>& channel, std::int32_t x, std::int32_t y) noexcept {
  using Code = std::conditional_t<std::is_const_v<Byte>, const std::uint8_t, std::uint8_t>;
  if (channel.base == nullptr) return static_cast<Code*>(nullptr);
  return reinterpret_cast<Code*>(channel.row(y)) + static_cast<std::size_t>(x) * channel.step_bytes;
}

class RepackProgram final : public CpuProgram {
 public:
  explicit RepackProgram(const Plan& plan)
      : content_(plan.content),
        size_(plan.dst.size),
        crop_x_(static_cast<std::int32_t>(plan.crop.x)),
        crop_y_(static_cast<std::int32_t>(plan.crop.y)) {
    job_.from = group_of(*plan.src.channels);
    job_.to = group_of(*plan.dst.channels);
    job_.flip = plan.values.kind == ValueMap::Kind::flip_sign ? 0x80 : 0;
    job_.width = static_cast<std::size_t>(content_.width);
    if (plan.pads()) pad_.emplace(plan, content_);
  }

  std::int32_t units() const noexcept override { return size_.height; }

  // About 25 us of work.
  std::int32_t grain() const noexcept override {
    constexpr std::int32_t min_pixels = 1 << 17;
    return std::max(min_pixels / size_.width, 1);
  }

  std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const MappedImages& frame, std::int32_t begin, std::int32_t end,
           std::byte*) const override {
    if (pad_) pad_->fill(frame, begin, end);
    const std::int32_t top = std::max(begin, content_.y);
    const std::int32_t bottom = std::min(end, content_.y + content_.height);
    if (top >= bottom) return;
    RepackJob job = job_;
    const bool in_packed = job.from == Group::packed3 || job.from == Group::packed4;
    const bool in_swapped = in_packed && frame.source[0].base > frame.source[2].base;
    const bool out_swapped = job.to != Group::planes && frame.target[0].base > frame.target[2].base;
    job.swaps_ends = in_swapped != out_swapped;
    for (std::size_t c = 0; c < 4; ++c) {
      job.in[c] = sample_place(frame.source[c], crop_x_, top - content_.y + crop_y_);
      job.out[c] = sample_place(frame.target[c], content_.x, top);
    }
    if (in_swapped) job.in[0] = job.in[2];
    if (out_swapped) job.out[0] = job.out[2];
    const SourceChannel& source = frame.source[0];
    const TargetChannel& target = frame.target[0];
    job.in_stride = source.stride_bytes;
    job.out_stride = target.stride_bytes;
    job.rows = static_cast<std::size_t>(bottom - top);
    if (job.width * source.step_bytes == job.in_stride &&
        job.width * target.step_bytes == job.out_stride) {
      job.width *= std::exchange(job.rows, 1);
    }
    repack_rows(job);
  }

 private:
  Region content_;
  Size size_;
  std::int32_t crop_x_;
  std::int32_t crop_y_;
  RepackJob job_;  // all but the pointers and strides of a frame
  std::optional<PadWriter> pad_;
};

}  // namespace

ProgramPtr compile_repack(const Plan& plan) {
  if (plan.resampled || plan.orientation != Orientation{} || !keeps_bytes(plan)) return nullptr;
  return std::make_unique<RepackProgram>(plan);
}

}  // namespace halyard::image
