// SPDX-License-Identifier: Apache-2.0
// Finds the axes of a semantic head's output by layout or by name.
#include "decode/semantic/score_axes.h"

#include <fmt/ranges.h>

#include "base/text/format_error.h"
#include "decode/description/shapes.h"

namespace halyard::decode {

Result<ScoreAxes> score_axes(const Layout& scores, SemanticLayout layout) {
  const std::size_t rank = scores.rank;
  ScoreAxes out;
  if (layout == SemanticLayout::class_map) {
    const bool channel_last = rank >= 3 && scores.shape[rank - 1] == 1;
    const bool fits =
        rank == 2 || rank == 3 || (rank == 4 && (channel_last || scores.shape[1] == 1));
    if (fits) {
      out.y = rank == 2 ? 0 : rank == 3 ? (channel_last ? 0 : 1) : (channel_last ? 1 : 2);
      out.x = out.y + 1;
      if (out.y > 0) out.batch = 0;
      return out;
    }
  } else if (rank == 3 || rank == 4) {
    const bool first = layout == SemanticLayout::classes_first;
    const std::size_t base = rank - 3;
    if (rank == 4) out.batch = 0;
    out.classes = first ? base : base + 2;
    out.y = first ? base + 1 : base;
    out.x = out.y + 1;
    return out;
  }
  return fail(Errc::invalid_argument,
              "scores: must have height, width, and classes unless a class map; batch is optional",
              "shape [{}]", fmt::join(scores.dims(), ", "));
}

Result<SemanticView> view_scores(const Layout& all, const ScoreAxes& axes, std::size_t batch) {
  const std::size_t images = axes.batch ? all.shape[*axes.batch] : 1;
  if (batch >= images)
    return fail(Errc::invalid_argument, "batch: must be below the batch extent", "{} of {}", batch,
                images);
  SemanticView out;
  out.layout.dtype = all.dtype;
  out.layout.rank = 3;
  out.layout.shape = {all.shape[axes.y], all.shape[axes.x],
                      axes.classes ? all.shape[*axes.classes] : 1};
  out.layout.stride_bytes = {all.stride_bytes[axes.y], all.stride_bytes[axes.x],
                             axes.classes ? all.stride_bytes[*axes.classes] : 0};
  if (axes.batch)
    out.offset_bytes = static_cast<std::ptrdiff_t>(batch) * all.stride_bytes[*axes.batch];
  return out;
}

}  // namespace halyard::decode

namespace halyard {

Result<SemanticView> semantic_view(const Layout& scores, const OutputDescription& output,
                                   std::size_t batch) {
  if (output.axes.size() == scores.rank) {
    const auto axis = [&](AxisName name) { return decode::find_axis(output, name); };
    const auto y = axis(AxisName::height), x = axis(AxisName::width);
    if (y && x) {
      const decode::ScoreAxes named{axis(AxisName::batch), axis(AxisName::num_classes), *y, *x};
      return decode::view_scores(scores, named, batch);
    }
  }
  HALYARD_TRY(const auto axes, decode::score_axes(scores, output.family == Family::semantic
                                                              ? SemanticLayout::classes_first
                                                              : SemanticLayout::classes_last));
  return decode::view_scores(scores, axes, batch);
}

}  // namespace halyard
