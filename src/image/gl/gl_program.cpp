// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_program.h"

#include <algorithm>

namespace halyard::image {
namespace {

std::size_t planes_of(const ImageSpec& image) noexcept {
  std::size_t count = 0;
  for (std::size_t c = 0; c < image.channels->count; ++c)
    count = std::max<std::size_t>(count, image.channels->sites[c].plane + 1U);
  return count;
}

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

GlProgram::GlProgram(const Plan& plan)
    : plan_(plan),
      taps_(make_tap_table(plan)),
      source_planes_(planes_of(plan.src)),
      target_planes_(planes_of(plan.dst)),
      id_(next_id()) {
  for (std::size_t plane = 0; plane < target_planes_; ++plane)
    shaders_[plane] = fragment_shader_text(plan, taps_, plane);
}

}  // namespace halyard::image
