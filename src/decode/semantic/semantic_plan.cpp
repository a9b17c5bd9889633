// SPDX-License-Identifier: Apache-2.0
// Checks a semantic request.
#include "decode/semantic/semantic_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text/format_error.h"
#include "decode/head/stored_types.h"
#include "decode/semantic/score_axes.h"

namespace halyard::decode {
namespace {

constexpr std::size_t max_score_pixels = 1U << 15;  // per axis

Result<PrototypeGrid> grid_of_scores(const Tensor& scores, const SemanticOptions& options) {
  if (scores.is_image() && scores.plane_count() > 1)
    return fail(Errc::unsupported, "scores: an image of several planes cannot be a network output");
  HALYARD_TRY(const ScoreAxes axes, score_axes(scores.layout(), options.layout));
  HALYARD_TRY(const SemanticView view, view_scores(scores.layout(), axes, options.batch));
  const Layout& layout = view.layout;
  PrototypeGrid grid;
  grid.dtype = layout.dtype;
  grid.height = layout.shape[0];
  grid.width = layout.shape[1];
  grid.channels = layout.shape[2];
  grid.row_stride_bytes = layout.stride_bytes[0];
  grid.pixel_stride_bytes = layout.stride_bytes[1];
  grid.channel_stride_bytes = layout.stride_bytes[2];
  const std::size_t minimum = std::min({grid.height, grid.width, grid.channels});
  if (minimum == 0 || std::max(grid.height, grid.width) > max_score_pixels ||
      grid.channels > 65536) {
    return fail(Errc::invalid_argument, "scores: extents must be 1..32768, classes at most 65536",
                "shape [{}]", fmt::join(scores.shape(), ", "));
  }
  if (axes.classes ? is_stored_type(grid.dtype) : is_integer(grid.dtype)) return grid;
  return fail(Errc::unsupported,
              "scores: must be f32, f16, bf16 or integers of 8 or 16 bits; class maps: integers",
              "{}", to_string(grid.dtype));
}

Status check_scales(const Tensor& scores, const SemanticOptions& options,
                    const PrototypeGrid& grid) {
  const auto& quantization = scores.quantization();
  if (!quantization || options.layout == SemanticLayout::class_map || !is_integer(grid.dtype))
    return {};
  HALYARD_RETURN_IF_ERROR(validate(*quantization, grid.dtype, scores.shape()));
  if (quantization->is_per_tensor()) return {};
  const std::size_t classes =
      options.layout == SemanticLayout::classes_first ? scores.rank() - 3 : scores.rank() - 1;
  if (quantization->axis == classes) return {};
  return fail(Errc::unsupported, "scores: several scales must lie along the classes",
              "axis {}, classes are axis {}", quantization->axis.value_or(scores.rank()), classes);
}

// The size of a plane of adjacent pixels.
Result<Size> plane_size(const Tensor& plane, const char* what) {
  const Layout& layout = plane.layout();
  const bool is_plane = layout.rank == 2 || (layout.rank == 3 && layout.shape[2] == 1);
  const bool fits = is_plane && layout.shape[0] > 0 && layout.shape[1] > 0 &&
                    layout.shape[0] <= max_score_pixels && layout.shape[1] <= max_score_pixels &&
                    static_cast<std::size_t>(layout.stride_bytes[1]) == size_of(layout.dtype);
  if (fits)
    return Size{static_cast<std::int32_t>(layout.shape[1]),
                static_cast<std::int32_t>(layout.shape[0])};
  return fail(Errc::invalid_argument, what, "shape [{}]", fmt::join(plane.shape(), ", "));
}

Status check_out(const Tensor& out, std::size_t classes, bool is_map) {
  if (out.dtype() != DType::u8 && out.dtype() != DType::u16) {
    return fail(Errc::unsupported, "out: must be u8 or u16", "{}", to_string(out.dtype()));
  }
  if (is_map || classes <= (out.dtype() == DType::u8 ? 256U : 65536U)) return {};
  return fail(Errc::invalid_argument, "out: u8 holds at most 256 classes", "{} classes", classes);
}

Status check_confidence(const Tensor& scores, const SemanticOptions& options, const Tensor& plane,
                        Size target) {
  if (options.layout == SemanticLayout::class_map)
    return fail(Errc::unsupported, "confidence: not available for a class map");
  if (plane.dtype() != DType::f32 && plane.dtype() != DType::u8) {
    return fail(Errc::unsupported, "confidence: must be f32 or u8", "{}", to_string(plane.dtype()));
  }
  HALYARD_TRY(const Size size,
              plane_size(plane, "confidence: must be [H, W] with adjacent pixels"));
  if (size != target) {
    return fail(Errc::invalid_argument, "confidence: must have the extent of out", "{}x{}, {}x{}",
                size.width, size.height, target.width, target.height);
  }
  if (is_integer(scores.dtype()) && !scores.quantization())
    return fail(Errc::invalid_argument, "scores: confidence of integers needs quantization");
  return {};
}

Result<RegionF> checked_content(const SemanticOptions& options, const Size& input) {
  const RegionF c = options.content.value_or(Region{0, 0, input.width, input.height});
  const bool fits = input.width > 0 && input.height > 0 && c.x >= 0 && c.y >= 0 && c.width > 0 &&
                    c.height > 0 && c.x + c.width <= input.width + 1e-3 &&
                    c.y + c.height <= input.height + 1e-3;
  if (fits) return c;
  return fail(Errc::invalid_argument, "content: must be a rectangle inside the network's input",
              "({}, {}) {}x{} in {}x{}", c.x, c.y, c.width, c.height, input.width, input.height);
}

}  // namespace

Result<SemanticPlan> plan_semantic(const Tensor& scores, const SemanticOptions& options,
                                   const Tensor& out, const Tensor* confidence) {
  SemanticPlan plan;
  HALYARD_TRY(plan.scores, grid_of_scores(scores, options));
  const PrototypeGrid& grid = plan.scores;
  HALYARD_RETURN_IF_ERROR(check_scales(scores, options, grid));
  HALYARD_TRY(plan.target, plane_size(out, "out: must be [H, W] with adjacent pixels"));
  HALYARD_RETURN_IF_ERROR(
      check_out(out, grid.channels, options.layout == SemanticLayout::class_map));
  if (confidence != nullptr) {
    HALYARD_RETURN_IF_ERROR(check_confidence(scores, options, *confidence, plan.target));
    plan.confidence = confidence->dtype();
  }
  const auto width = static_cast<std::int32_t>(grid.width);
  const auto height = static_cast<std::int32_t>(grid.height);
  const Size input = options.input.value_or(Size{width, height});
  HALYARD_TRY(const RegionF content, checked_content(options, input));
  const auto axis = [](std::int32_t source, double size, double from, double extent,
                       std::int32_t target) {
    return AxisMap{source, target, from * source / size, extent * source / (size * target)};
  };
  plan.x = axis(width, input.width, content.x, content.width, plan.target.width);
  plan.y = axis(height, input.height, content.y, content.height, plan.target.height);
  plan.out = out.dtype();
  return plan;
}

}  // namespace halyard::decode
