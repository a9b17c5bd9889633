// SPDX-License-Identifier: Apache-2.0
// Free sampler: each pixel's centre mapped back and filtered there.
#include "image/cpu/sampler.h"

namespace halyard::image {

std::unique_ptr<const Sampler> make_free(const Plan& plan, std::size_t channels) {
  return make_separable(plan, channels);
}

}  // namespace halyard::image
