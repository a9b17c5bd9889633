// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_program.h"

#include <atomic>

namespace halyard::image {
namespace {

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

GlProgram::GlProgram(const Plan& plan)
    : plan_(plan),
      taps_(make_tap_table(plan)),
      source_planes_(info(plan.src.format).planes),
      target_planes_(info(plan.dst.format).planes),
      id_(next_id()) {
  for (std::size_t plane = 0; plane < target_planes_; ++plane)
    shaders_[plane] = fragment_shader_text(plan, taps_, plane);
}

}  // namespace halyard::image
