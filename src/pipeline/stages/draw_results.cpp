// SPDX-License-Identifier: Apache-2.0
// What heads give besides boxes and masks, drawn by an Overlay.
#include <algorithm>
#include <array>
#include <vector>

#include "base/text/format_error.h"
#include "halyard/frame_record.h"
#include "halyard/palette.h"
#include "halyard/pipeline_stages.h"

namespace halyard {
namespace {

constexpr float min_keypoint_score = 0.3F;
constexpr int margin_px = 8;
constexpr int min_line_px = 24;

}  // namespace

Status draw_shapes(Overlay& overlay, Tensor& image, const ShapeDrawing& shapes) {
  const Decoded& decoded = *shapes.decoded;
  if (decoded.rotated.empty() && decoded.keypoints.empty()) return {};
  const Size source = shapes.placement->source();
  const auto scale_x = static_cast<float>(image.width()) / static_cast<float>(source.width);
  const auto scale_y = static_cast<float>(image.height()) / static_cast<float>(source.height);
  const auto on_image = [&](Point at) {
    const Point found = shapes.placement->to_source(at);
    return Point{found.x * scale_x, found.y * scale_y};
  };
  const auto is_shown = [&](std::size_t i) {
    return shapes.track_ids.empty() || shapes.track_ids[i] != 0;
  };
  const auto color_of = [&](std::size_t i) {
    const auto label = static_cast<std::uint64_t>(decoded.detections[i].label);
    return palette_color(shapes.track_ids.empty() ? label : shapes.track_ids[i]);
  };
  std::vector<std::array<Point, 4>> quads;
  std::vector<Point> points;
  std::vector<Color> quad_colors, point_colors;
  for (std::size_t i = 0; i < decoded.rotated.size(); ++i) {
    if (!is_shown(i)) continue;
    auto& quad = quads.emplace_back(corners(decoded.rotated[i]));
    std::transform(quad.begin(), quad.end(), quad.begin(), on_image);
    quad_colors.push_back(color_of(i));
  }
  for (std::size_t i = 0; i < decoded.keypoints.size(); ++i) {
    const std::size_t object = i / decoded.keypoints_each;
    if (!(decoded.keypoints[i].score >= min_keypoint_score) || !is_shown(object)) continue;
    points.push_back(on_image(decoded.keypoints[i].at));
    point_colors.push_back(color_of(object));
  }
  HALYARD_RETURN_IF_ERROR(overlay.outlines(image, quads, quad_colors));
  return overlay.points(image, points, point_colors);
}

Status draw_classes(Overlay& overlay, Tensor& image, std::span<const ClassScore> classes,
                    std::span<const std::string> labels) {
  int y = margin_px;
  for (const auto& [label, score] : classes) {
    const std::string line =
        fmt::format("{} {:.0f}%", label_of(labels, label), 100.0 * static_cast<double>(score));
    const Color color = palette_color(static_cast<std::uint64_t>(label));
    HALYARD_RETURN_IF_ERROR(overlay.text(image, margin_px, y, line, color));
    y += std::max(min_line_px, static_cast<int>(image.height()) / 20);
  }
  return {};
}

}  // namespace halyard
