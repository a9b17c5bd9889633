// SPDX-License-Identifier: Apache-2.0
#include "image/gl/limits.h"

#include <algorithm>

#include "image/gl/shader/affine_rows.h"
#include "image/gl/shader/source_layout.h"
#include "image/gl/shader/tap_table.h"

namespace halyard::image {
namespace {

// 64 x 64: one pixel must not keep the GPU busy for so long that the driver resets it.
constexpr std::int64_t max_samples_of_affine = 4096;

}  // namespace

Verdict gl_verdict(const Plan& plan, const GlLimits& limits) noexcept {
  const std::int32_t most = limits.max_texture_size;
  // Pixels of three bytes are three texels of the source. Rows are at most 16 bytes of elements for
  // each pixel of the destination, in texels of 4 bytes.
  const std::int32_t texels = stored_channels(plan.src).sites[0].step == 3 ? 3 : 1;
  if (std::max(plan.src.size.width, plan.src.size.height) > most / texels ||
      plan.dst.size.width > most / 4 || plan.dst.size.height > most) {
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
