// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_program.h"

#include <atomic>

#include "image/cpu/resample/axes.h"
#include "image/gl/shader/source_text.h"

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
  if (plan.affine) affine_ = affine_numbers(plan);
  for (std::size_t group = 0; group < group_count; ++group) {
    const ChannelSite* const site = first_in_group(plan.src, group);
    if (site != nullptr) add_group(group, *site);
  }
  add_draws();
}

void GlProgram::add_draws() {
  const auto draw = [this](PlaneRange planes) {
    return PlaneDraw{planes, fragment_shader_text(plan_, taps_, planes)};
  };
  for (std::size_t plane = 0; plane < target_planes_; ++plane)
    separate_draws_.push_back(draw({plane, 1}));
  PlaneRange planes{0, 0};
  for (std::size_t next = 0; next < target_planes_; next += planes.count) {
    planes = planes_alike(plan_.dst, next);
    joint_draws_.push_back(planes.count == 1 ? separate_draws_[next] : draw(planes));
  }
  if (joint_draws_.size() == separate_draws_.size()) joint_draws_.clear();
}

void GlProgram::add_group(std::size_t group, const ChannelSite& site) {
  const ChannelAxes axes = channel_axes(plan_, site);
  std::int32_t* const range = &sample_range_[4 * group];
  range[0] = axes.columns.begin;
  range[1] = axes.rows.begin;
  range[2] = axes.columns.end - 1;
  range[3] = axes.rows.end - 1;
  if (!takes_two_passes(plan_)) return;
  row_passes_.push_back({group, row_texel(plan_.src, group).components,
                         Size{axes.x.outputs, axes.rows.count()},
                         row_shader_text(plan_, taps_, group)});
}

}  // namespace halyard::image
