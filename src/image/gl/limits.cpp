// SPDX-License-Identifier: Apache-2.0
#include "image/gl/limits.h"

#include <algorithm>
#include <cstddef>

#include "image/gl/shader/affine_rows.h"
#include "image/gl/shader/source_layout.h"
#include "image/gl/shader/tap_table.h"

namespace halyard::image {
namespace {

// 64 x 64: one pixel must not keep the GPU busy for so long that the driver resets it.
constexpr std::int64_t max_samples_of_affine = 4096;

// Texels of the widest row of a target, of four bytes each.
std::int64_t target_texels(const ImageSpec& dst) noexcept {
  std::int64_t bytes = 0;
  for (std::size_t c = 0; c < dst.channels->count; ++c) {
    const ChannelSite& site = dst.channels->sites[c];
    const auto element = static_cast<std::int64_t>(size_of(dst.dtype));
    const std::int64_t samples = (dst.size.width + (1 << site.shift_x) - 1) >> site.shift_x;
    bytes = std::max(bytes, samples * site.step * element);
  }
  return (bytes + 3) / 4;
}

}  // namespace

Verdict gl_verdict(const Plan& plan, const GlLimits& limits) noexcept {
  const std::int32_t most = limits.max_texture_size;
  // Pixels of three bytes are three texels of the source. The columns of the destination are also
  // columns of the table of taps.
  const std::int32_t texels = stored_channels(plan.src).sites[0].step == 3 ? 3 : 1;
  if (std::max(plan.src.size.width, plan.src.size.height) > most / texels ||
      std::max(plan.dst.size.width, plan.dst.size.height) > most ||
      target_texels(plan.dst) > most) {
    return Verdict::decline("the images are larger than the GPU's largest texture");
  }
  if (plan.affine && !fits_affine_range(plan))
    return Verdict::decline("the affine map leads further than 2^29 pixels");
  if (plan.affine && max_samples(plan) > max_samples_of_affine)
    return Verdict::decline("the affine map's filter reads more than 4096 samples for each pixel");
  if (tap_table_rows(plan) > most)
    return Verdict::decline("the filter's weights need a larger texture than the GPU's largest");
  return Verdict::accept();
}

}  // namespace halyard::image
