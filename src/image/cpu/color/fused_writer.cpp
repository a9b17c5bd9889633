// SPDX-License-Identifier: Apache-2.0
// Decides which plans the fused writer serves, and finds the addresses of their rows.
#include "image/cpu/color/fused_writer.h"

#include <algorithm>

namespace halyard::image {
namespace {

using FusedStore = FusedWriteSetup::Store;

std::optional<FusedStore> fused_store(const Plan& plan) noexcept {
  const ChannelMap& map = *plan.dst.channels;
  const bool packed = map.sites[0].step > 1;
  if (plan.color.to != ColorModel::rgb || (!packed && map.count != 3)) return std::nullopt;
  switch (plan.values.kind) {
    case ValueMap::Kind::identity:
      break;
    case ValueMap::Kind::flip_sign:
      if (packed) return std::nullopt;
      break;
    case ValueMap::Kind::affine:
      return std::nullopt;
  }
  if (!packed) return FusedStore::planes;
  return map.count == 3 ? FusedStore::packed3 : FusedStore::packed4;
}

// Whether the samples are RGB already, or become RGB in fixed point.
bool takes(const Plan& plan, const ColorSetup& setup) noexcept {
  if (setup.exact || setup.in_fraction != 7) return false;
  if (setup.change == ColorChange::none) return plan.color.from == ColorModel::rgb;
  return setup.change == ColorChange::yuv_to_rgb;
}

}  // namespace

std::optional<FusedWriter> FusedWriter::create(const Plan& plan, const ColorSetup& setup) {
  const std::optional<FusedStore> store = fused_store(plan);
  // Transposed rows need a tile; rows of an affine map may begin and end anywhere.
  if (!store || !takes(plan, setup) || plan.swaps_axes() || plan.affine) return std::nullopt;
  FusedWriter fused_writer(plan);
  const ChannelSite& red = plan.dst.channels->sites[0];
  fused_writer.setup_ = {
      *store,
      setup.change == ColorChange::yuv_to_rgb,
      plan.color.keeps_alpha && plan.dst.channels->count == 4,
      (red.offset != 0) != plan.bgr,
      plan.values.kind == ValueMap::Kind::flip_sign ? std::uint8_t{0x80} : std::uint8_t{0},
      setup.fixed};
  return fused_writer;
}

void FusedWriter::store(const SampleRows& samples, const MappedImages& frame,
                        std::int32_t y) const noexcept {
  FusedWriteJob job;
  job.width = static_cast<std::size_t>(content_.width);
  for (std::size_t c = 0; c < 4; ++c)
    job.in[c] = samples.channel[c];
  for (std::size_t c = 0; c < 3; ++c) {
    const TargetChannel& target = frame.target[c];
    job.out[c] = reinterpret_cast<std::uint8_t*>(target.row(y)) +
                 static_cast<std::size_t>(content_.x) * target.step_bytes;
  }
  // Packed pixels begin with red or blue, whichever comes first in memory.
  if (setup_.store != FusedStore::planes) job.out[0] = std::min(job.out[0], job.out[2]);
  fused_write_row(setup_, job);
}

}  // namespace halyard::image
