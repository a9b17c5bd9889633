// SPDX-License-Identifier: Apache-2.0
// Draws outlines of boxes, upright and rotated, and points.
#include <algorithm>

#include "compat/marks.h"
#include "compat/painter_marks.h"
#include "compat/painter_state.h"

namespace halyard::compat {

Box on_image(const Box& box, const std::optional<Letterbox>& letterbox, Size size) noexcept {
  const Letterbox l = letterbox.value_or(Letterbox{0, 0, 1, 1});
  const auto width = static_cast<float>(size.width), height = static_cast<float>(size.height);
  const float x = width / (l[2] - l[0]), y = height / (l[3] - l[1]);
  return {(box.x1 - l[0]) * x, (box.y1 - l[1]) * y, (box.x2 - l[0]) * x, (box.y2 - l[1]) * y};
}

Box as_fraction(const Box& box, Size input) noexcept {
  const auto width = static_cast<float>(input.width), height = static_cast<float>(input.height);
  return {box.x1 / width, box.y1 / height, box.x2 / width, box.y2 / height};
}

Painter::Impl::Outlines Painter::Impl::outlines_of(const Call& call, const Target& target,
                                                   std::span<const Detection> boxes,
                                                   std::size_t first) const {
  Outlines out;
  for (const MaskColor& color : colors)
    out.paints.push_back(target.paints_of(color, 255));
  for (std::size_t i = boxes.size(); i-- > first;) {
    const Box box =
        on_image(as_fraction(boxes[i].box, call.input), call.options.letterbox, target.size());
    const auto color = static_cast<std::size_t>(&color_of(call, boxes[i], i) - colors.data());
    if (const auto pixels = pixels_of(box, target.size(), outline_px))
      out.boxes.emplace_back(*pixels, color);
  }
  return out;
}

Status Painter::Impl::outlines(const Call& call, std::span<const Detection> boxes,
                               std::size_t first) const {
  if (boxes.size() <= first) return {};
  HALYARD_TRY(Target target, Target::open(call.dst));
  outlines_of(call, target, boxes, first).draw(target, {});
  return {};
}

Status Painter::Impl::marks(const Call& call, const Decoded& decoded) const {
  constexpr std::int32_t dot_px = 5;
  constexpr float min_visibility = 0.5F;
  const std::span<const Detection> boxes = decoded.detections;
  HALYARD_RETURN_IF_ERROR(outlines(call, boxes, decoded.rotated.size()));
  if (decoded.rotated.empty() && decoded.keypoints.empty()) return {};
  HALYARD_TRY(Target target, Target::open(call.dst));
  const auto place = [&](Point p) {
    const Box at = on_image(as_fraction({p.x, p.y, p.x, p.y}, call.input), call.options.letterbox,
                            target.size());
    return Point{at.x1, at.y1};
  };
  for (std::size_t i = boxes.size(); i-- > 0;) {
    const auto paints = target.paints_of(color_of(call, boxes[i], i), 255);
    if (i < decoded.rotated.size()) {
      std::array<Point, 4> corners = corners_of(decoded.rotated[i]);
      for (Point& corner : corners)
        corner = place(corner);
      draw_quad(target, corners, outline_px, paints);
    }
    const std::size_t first = i * decoded.keypoints_each;
    for (std::size_t k = first;
         k < std::min(first + decoded.keypoints_each, decoded.keypoints.size()); ++k)
      if (decoded.keypoints[k].score >= min_visibility)
        draw_dot(target, place(decoded.keypoints[k].at), dot_px, paints);
  }
  return {};
}

}  // namespace halyard::compat
