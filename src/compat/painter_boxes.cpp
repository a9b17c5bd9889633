// SPDX-License-Identifier: Apache-2.0
// Draws outlines of boxes, upright and rotated, and points.
#include "compat/painter_boxes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/box_math.h"
#include "draw/boxes.h"
#include "draw/marks.h"

namespace halyard::compat {
namespace {

constexpr std::int32_t outline_px = 3;
constexpr std::int32_t dot_px = 5;
constexpr float min_visibility = 0.5F;

struct Outline {
  draw::Rect outer;
  draw::Ink ink;
};

Point point_on_image(Point p, const PaintCall& call) noexcept {
  const Box at = on_image(Box{p.x, p.y, p.x, p.y}, call);
  return {at.x1, at.y1};
}

// The outer edge of an outline around the box, rounded to pixels and cut to where it can be
// visible. nullopt if the box is not finite.
std::optional<draw::Rect> outer_edge(const Box& box, Size image) noexcept {
  if (!is_finite(box)) return std::nullopt;
  const auto pixel = [](float v, std::int32_t maximum) {
    constexpr auto margin = static_cast<float>(outline_px);
    return static_cast<std::int32_t>(
        std::lround(std::clamp(v, -margin, static_cast<float>(maximum) + margin)));
  };
  const auto [left, right] = std::minmax(box.x1, box.x2);
  const auto [top, bottom] = std::minmax(box.y1, box.y2);
  return draw::Rect{pixel(left, image.width) - outline_px, pixel(top, image.height) - outline_px,
                    pixel(right, image.width) + outline_px,
                    pixel(bottom, image.height) + outline_px};
}

// In drawing order: the best last.
std::vector<Outline> outlines_of(const PaintCall& call, const draw::Canvas& canvas,
                                 std::span<const Detection> boxes, std::size_t first) {
  std::vector<Outline> out;
  for (std::size_t i = boxes.size(); i-- > first;) {
    if (const auto outer = outer_edge(on_image(boxes[i].box, call), call.dst.size()))
      out.push_back({*outer, canvas.ink(color_for(call, boxes[i], i), 255)});
  }
  return out;
}

void stroke(const draw::Canvas& canvas, std::span<const Outline> outlines) noexcept {
  for (const Outline& each : outlines)
    stroke_box(canvas, each.outer, outline_px, each.ink);
}

// Rotated outlines and points, the best on top.
void draw_shapes(const PaintCall& call, const Decoded& decoded, const draw::Canvas& canvas) {
  const std::span<const Detection> boxes = decoded.detections;
  for (std::size_t i = boxes.size(); i-- > 0;) {
    const draw::Ink ink = canvas.ink(color_for(call, boxes[i], i), 255);
    if (i < decoded.rotated.size()) {
      auto corners = halyard::corners(decoded.rotated[i]);
      for (Point& corner : corners)
        corner = point_on_image(corner, call);
      stroke_quad(canvas, corners, outline_px, ink);
    }
    const std::size_t first = i * decoded.keypoints_each;
    for (std::size_t k = first;
         k < std::min(first + decoded.keypoints_each, decoded.keypoints.size()); ++k)
      if (decoded.keypoints[k].score >= min_visibility)
        fill_dot(canvas, point_on_image(decoded.keypoints[k].at, call), dot_px, ink);
  }
}

}  // namespace

const Color& color_for(const PaintCall& call, const Detection& box, std::size_t index) noexcept {
  const std::span<const Color> colors = call.masks.palette;
  if (call.options.color_mode == ColorBy::label)
    index = static_cast<std::size_t>(std::max(box.label, 0));
  if (call.options.color_mode == ColorBy::track && index < call.masks.track_ids.size())
    index = call.masks.track_ids[index];
  return colors[index % colors.size()];
}

Box on_image(const Box& box, const PaintCall& call) noexcept {
  const Letterbox l = call.options.letterbox.value_or(Letterbox{0, 0, 1, 1});
  const Size size = call.dst.size();
  const auto width = static_cast<float>(call.input.width);
  const auto height = static_cast<float>(call.input.height);
  const float x = static_cast<float>(size.width) / (l[2] - l[0]);
  const float y = static_cast<float>(size.height) / (l[3] - l[1]);
  return {(box.x1 / width - l[0]) * x, (box.y1 / height - l[1]) * y, (box.x2 / width - l[0]) * x,
          (box.y2 / height - l[1]) * y};
}

Status draw_outlines(const PaintCall& call, std::span<const Detection> boxes, std::size_t first) {
  if (boxes.size() <= first) return {};
  return paint(call.engine, call.list, call.dst, [&](const draw::Canvas& canvas) {
    stroke(canvas, outlines_of(call, canvas, boxes, first));
  });
}

Status draw_boxes_alone(const PaintCall& call, std::span<const Detection> boxes) {
  constexpr std::int32_t band = 64;
  std::optional<TensorMap> background;
  if (call.masks.background != nullptr) {
    HALYARD_TRY(background, call.masks.background->map(Access::read));
  }
  HALYARD_TRY(const TensorMap map, call.dst.map(Access::read_write));
  const draw::Canvas canvas(call.dst, map);
  const auto outlines = outlines_of(call, canvas, boxes, 0);
  for (std::int32_t y = 0; y < canvas.height(); y += band) {
    const std::int32_t end = std::min(y + band, canvas.height());
    if (background || call.masks.clear)
      canvas.start_rows(background ? &*background : nullptr, y, end);
    stroke(canvas.clipped({0, y, canvas.width(), end}), outlines);
  }
  return {};
}

Status draw_marks(const PaintCall& call, const Decoded& decoded) {
  const std::span<const Detection> boxes = decoded.detections;
  HALYARD_RETURN_IF_ERROR(draw_outlines(call, boxes, decoded.rotated.size()));
  if (decoded.rotated.empty() && decoded.keypoints.empty()) return {};
  return paint(call.engine, call.list, call.dst,
               [&](const draw::Canvas& canvas) { draw_shapes(call, decoded, canvas); });
}

}  // namespace halyard::compat
