// SPDX-License-Identifier: Apache-2.0
// Writer for destinations where each pixel has its own channels: packed, planar or in between.
#include <algorithm>
#include <cmath>

#include "image/cpu/kernels/store.h"
#include "image/cpu/store/writer_kinds.h"

namespace halyard::image {
namespace {

// The channel of the frame's target at each site.
std::size_t channel_at(const Plan& plan, std::size_t site) {
  return plan.bgr && site != 1 && site != 3 ? 2 - site : site;
}

// Whether the results of all channels fit 16 bits before they are clamped.
bool is_narrow(const Plan& plan) {
  const float lowest = plan.dst.dtype == DType::u16 ? 0 : -32768;
  const float highest = plan.dst.dtype == DType::u16 ? 65535 : 32767;
  for (std::size_t c = 0; c < plan.dst.channels->count; ++c) {
    const float bias = plan.values.bias[c];
    const float end = 255 * plan.values.scale[c] + bias;
    if (!(std::min(bias, end) >= lowest && std::max(bias, end) <= highest)) return false;
  }
  return true;
}

class RowWriter final : public Writer {
 public:
  RowWriter(const Plan& plan, int fraction) : Writer(1, 1), dtype_(plan.dst.dtype) {
    codes_ = writes_codes(plan);
    const float unit = std::ldexp(1.0F, -fraction);
    for (std::size_t s = 0; s < plan.dst.channels->count; ++s) {
      const ChannelSite& site = plan.dst.channels->sites[s];
      const std::size_t c = channel_at(plan, s);
      TargetPlane& plane = planes_[site.plane];
      plane.job.narrow = is_narrow(plan);
      plane_count_ = std::max<std::size_t>(plane_count_, site.plane + 1U);
      ++plane.job.channels;
      plane.channel[site.offset] = static_cast<std::uint8_t>(c);
      if (plan.values.kind == ValueMap::Kind::flip_sign && c != 3)
        plane.job.flip[site.offset] = 0x80;
      plane.job.scale[site.offset] = plan.values.scale[c] * unit;
      plane.job.bias[site.offset] = plan.values.bias[c];
    }
  }

  bool wants_codes() const noexcept override { return codes_; }

  void store(const MappedImages& frame, const Piece& piece) const noexcept override {
    const ResultRows& row = piece.rows.front();
    for (std::size_t p = 0; p < plane_count_; ++p) {
      const TargetPlane& plane = planes_[p];
      const TargetChannel& target = frame.target[plane.channel[0]];
      StoreJob job = plane.job;
      job.width = piece.width;
      job.out = target.row(piece.y) + static_cast<std::size_t>(piece.x) * target.step_bytes;
      for (std::size_t k = 0; k < job.channels; ++k) {
        job.codes[k] = row.codes[plane.channel[k]];
        job.values[k] = row.values[plane.channel[k]];
      }
      codes_ ? store_codes(job) : store_values(job, dtype_);
    }
  }

 private:
  struct TargetPlane {
    StoreJob job{.channels = 0};
    std::array<std::uint8_t, 4> channel{};  // in the order of memory
  };
  std::array<TargetPlane, 4> planes_;
  std::size_t plane_count_ = 0;
  DType dtype_;
  bool codes_ = false;
};

// Whether the unit of the fixed point can be multiplied into the scale without loss.
bool folds(float scale, int fraction) {
  return scale == 0 || std::isnormal(std::ldexp(scale, -fraction));
}

}  // namespace

std::unique_ptr<const Writer> make_row_writer(const Plan& plan, int fraction) {
  const FormatInfo& to = info(plan.dst.format);
  if (to.chroma_shift_x != 0 || to.chroma_shift_y != 0) return nullptr;
  if (!writes_codes(plan)) {
    if (to.model == ColorModel::yuv) return nullptr;
    for (std::size_t c = 0; c < plan.dst.channels->count; ++c)
      if (!folds(plan.values.scale[c], fraction)) return nullptr;
  }
  return std::make_unique<RowWriter>(plan, fraction);
}

}  // namespace halyard::image
