// SPDX-License-Identifier: Apache-2.0
#include "image/gl/limits.h"

#include <algorithm>
#include <cstddef>

#include "image/gl/shader/affine_rows.h"
#include "image/gl/shader/source_layout.h"
#include "image/gl/shader/store_text.h"
#include "image/gl/shader/tap_table.h"

namespace halyard::image {
namespace {

// Of all loops that make one texel. A texel must not keep a GPU busy for so long that the driver
// resets it, and llvmpipe ends loops silently after 65535 iterations in all.
constexpr std::int64_t max_iterations = 32768;

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
  if (loop_iterations(plan) * pixels_of_texel(plan.dst) > max_iterations)
    return Verdict::decline("the filter needs more than 32768 loop iterations for four bytes");
  if (tap_table_rows(plan) > most)
    return Verdict::decline("the filter's weights need a larger texture than the GPU's largest");
  return Verdict::accept();
}

}  // namespace halyard::image
