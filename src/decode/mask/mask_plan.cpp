// SPDX-License-Identifier: Apache-2.0
// Plans a mask: target and prototype pixels of a box, and the place of its logits.
#include "decode/mask/mask_plan.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace halyard::decode {
namespace {

struct MaskAxes {
  AxisBox x, y;
};

MaskAxes mask_axes(const Box& box, const MaskTarget& target) noexcept {
  const auto [x1, x2] = std::minmax(box.x1, box.x2);
  const auto [y1, y2] = std::minmax(box.y1, box.y2);
  return {{x1, x2, static_cast<double>(target.input.width), target.grid.width, target.content.x,
           target.content.width},
          {y1, y2, static_cast<double>(target.input.height), target.grid.height, target.content.y,
           target.content.height}};
}

// One axis of a plan: target pixels, and the prototype pixels that they sample.
std::pair<PixelRange, PixelRange> plan_axis(MaskRule rule, const AxisBox& box,
                                            const AxisSamples& samples) {
  PixelRange target, source;
  switch (rule) {
    case MaskRule::prototype:
    case MaskRule::probability:
      source = prototype_span(box);
      return {source, source};
    case MaskRule::ultralytics_quick:
      source = quick_span(box);
      return {touched_span(samples, source), source};
    case MaskRule::ultralytics:
      target = input_span(box);
      break;
    case MaskRule::logits:
      target = target_span(box, samples.map.target);
      break;
  }
  if (target.is_empty()) return {target, {}};
  return {target, samples.source_of(target)};
}

// The map offset + (p + 1/2) * step in prototype pixels, for target pixel p.
AxisMap map_of(std::int32_t grid, double input, double content, double content_size,
               std::int32_t target) noexcept {
  return {grid, target, content * grid / input, content_size * grid / (input * target)};
}

}  // namespace

MaskPlan plan_of(const Box& box, const MaskTarget& target, const MaskWorkspace& work) {
  const MaskAxes axes = mask_axes(box, target);
  MaskPlan plan;
  std::tie(plan.columns, plan.source_columns) = plan_axis(target.rule, axes.x, work.x);
  std::tie(plan.rows, plan.source_rows) = plan_axis(target.rule, axes.y, work.y);
  if (plan.columns.is_empty() || plan.rows.is_empty()) return {};
  return plan;
}

void prepare_samples(const MaskTarget& t, MaskWorkspace& work) {
  if (t.rule == MaskRule::prototype || t.rule == MaskRule::probability) return;
  const double width = t.input.width, height = t.input.height;
  if (t.rule != MaskRule::ultralytics) {
    work.x.prepare(map_of(t.grid.width, width, t.content.x, t.content.width, t.size.width));
    work.y.prepare(map_of(t.grid.height, height, t.content.y, t.content.height, t.size.height));
    return;
  }
  work.x.prepare(map_of(t.grid.width, width, 0, width, t.input.width));
  work.y.prepare(map_of(t.grid.height, height, 0, height, t.input.height));
  if (t.is_input) return;
  const auto inner = [](double size, std::int32_t target) {
    return AxisMap{static_cast<std::int32_t>(size), target, 0, size / target};
  };
  work.second_x.prepare(inner(t.content.width, t.size.width));
  work.second_y.prepare(inner(t.content.height, t.size.height));
}

// The grid has one more column and row on each side, with logits of 0. Rules that cut logits sample
// them; other rules do so only with weight 0.
std::size_t place_logits(MaskPlan& plan, std::size_t offset) noexcept {
  const auto columns = static_cast<std::size_t>(plan.source_columns.length());
  const auto rows = static_cast<std::size_t>(plan.source_rows.length()) + 2;
  plan.grid_stride = (columns + 2 + pixel_padding + 15) / 16 * 16;
  plan.grid = offset;
  return rows * plan.grid_stride;
}

void compute_logits(MaskWorkspace& work, std::size_t first, std::size_t end, std::size_t floats) {
  const std::size_t needed = floats + 64;
  if (work.logits.size() < needed) work.logits.resize(needed);
  work.jobs.clear();
  for (std::size_t i = first; i < end; ++i) {
    const MaskPlan& plan = work.plans[i];
    if (plan.rows.is_empty()) continue;
    float* grid = work.logits.data() + plan.grid;
    const auto rows = static_cast<std::size_t>(plan.source_rows.length()) + 2;
    std::fill_n(grid, plan.grid_stride, 0.0F);
    std::fill_n(grid + (rows - 1) * plan.grid_stride, plan.grid_stride, 0.0F);
    work.jobs.push_back(
        {i, plan.source_columns, plan.source_rows, grid + plan.grid_stride + 1, plan.grid_stride});
  }
  work.engine.run(work.jobs);
  for (const LogitJob& job : work.jobs) {
    float* before = job.out - 1;  // the column before the first, which the engine does not write
    for (std::int32_t y = 0; y < job.rows.length(); ++y)
      before[static_cast<std::size_t>(y) * job.stride] = 0;
  }
}

void sample_rows(MaskWorkspace& work, const MaskPlan& plan, PixelRange rows, ByteRows out) {
  const LogitGrid grid{work.logits.data() + plan.grid, plan.grid_stride,
                       plan.source_columns.begin - 1, plan.source_rows.begin - 1};
  const std::size_t floats = line_floats(static_cast<std::size_t>(plan.columns.length()));
  if (work.lines.size() < floats) work.lines.resize(floats);
  sample_mask(grid, work.x, plan.columns, work.y, rows, work.lines.data(), out);
}

}  // namespace halyard::decode
