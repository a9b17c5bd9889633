// SPDX-License-Identifier: Apache-2.0
// Overlay: checks the image, converts detections and tracks to shapes, places the tags.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "draw/boxes.h"
#include "draw/canvas.h"
#include "draw/draw_engine.h"
#include "draw/font.h"
#include "draw/marks.h"
#include "draw/polyline.h"
#include "draw/style.h"
#include "draw/text_color.h"
#include "halyard/draw.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using draw::Canvas;
using draw::Rect;
using draw::Style;

constexpr int max_line_px = 256;
constexpr int min_text_px = 6;
constexpr int max_text_px = 512;
constexpr std::size_t max_trail_points = 10000;
constexpr unsigned trail_alpha = 220;
constexpr int point_px = 5;

// Coordinates are clamped to this, which is beyond every valid image (65535 pixels a side). Sums of
// a few of them cannot overflow.
constexpr float max_coordinate = 1 << 20;

Status check_colors(std::span<const Color> colors, std::size_t count) {
  if (colors.size() == count) return {};
  return fail(Errc::invalid_argument, "colors: must be one for each shape", "{} colours, {} shapes",
              colors.size(), count);
}

// The pixels that a box covers, at least one; nullopt for NaN, infinite, empty and inverted boxes.
std::optional<Rect> pixels_of(const Box& box) noexcept {
  const float sides[] = {box.x1, box.y1, box.x2, box.y2};
  if (!std::all_of(std::begin(sides), std::end(sides), [](float v) { return std::isfinite(v); })) {
    return std::nullopt;
  }
  if (box.x2 <= box.x1 || box.y2 <= box.y1) return std::nullopt;
  const auto pixel = [](float v) {
    return static_cast<int>(std::lround(std::clamp(v, -max_coordinate, max_coordinate)));
  };
  Rect r{pixel(box.x1), pixel(box.y1), pixel(box.x2), pixel(box.y2)};
  r.x1 = std::max(r.x1, r.x0 + 1);
  r.y1 = std::max(r.y1, r.y0 + 1);
  return r;
}

// Outer edge of a line that is centred on the box's edge; of an odd width the extra pixel is
// inside.
Rect outer_edge(const Rect& r, int line) noexcept {
  const int out = line / 2;
  return {r.x0 - out, r.y0 - out, r.x1 + out, r.y1 + out};
}

Point center(const Box& b) noexcept {
  return {(b.x1 + b.x2) / 2, (b.y1 + b.y2) / 2};
}

struct Tag {
  Rect outer;  // of its box
  int line = 0;
  std::string text;
  Color color{};
};

}  // namespace

struct HALYARD_LOCAL Overlay::Impl {
  struct Trail {
    std::vector<Point> points;  // oldest first
    bool alive = false;
  };

  OverlayOptions options;
  draw::Font font;
  draw::CornerCache corners;
  std::unordered_map<std::uint64_t, Trail> trails;
  draw::DrawEngine engine;
  draw::DrawList list;

  Impl(OverlayOptions o, draw::Font f, draw::DrawEngine e)
      : options(std::move(o)), font(std::move(f)), engine(std::move(e)) {}

  template <class Draw>
  Status paint_on(const Tensor& image, const Draw& draw) {
    return paint(engine, list, image, draw);
  }

  // `index`: in the list of detections or tracks.
  Color color_for(std::int32_t label, std::size_t index, std::uint64_t track) const noexcept {
    if (options.color_by == ColorBy::track) return palette_color(track);
    if (options.color_by == ColorBy::instance) return palette_color(index);
    return palette_color(static_cast<std::uint32_t>(label));
  }
  void tag_at(const Canvas& canvas, const Style& style, const Rect& tag, bool round_bottom,
              std::string_view text, const Color& color);
  void box_tag(const Canvas& canvas, const Style& style, const Tag& tag);
  void remember(std::span<const Track> tracks);
  void draw_trails(const Canvas& canvas, const Style& style, std::span<const Track> tracks);
  std::optional<Tag> draw_box(const Canvas& canvas, const Style& style, const Track& track,
                              const Color& color);
};

// Fills the tag and draws its text; capital letters are vertically centred.
void Overlay::Impl::tag_at(const Canvas& canvas, const Style& style, const Rect& tag,
                           bool round_bottom, std::string_view text, const Color& color) {
  fill_round(canvas, tag, style.tag_radius, round_bottom, canvas.ink(color), corners);
  const int baseline = tag.y0 + (tag.height() + font.cap_height(style.text) + 1) / 2;
  font.draw(canvas.clipped(tag), tag.x0 + style.padding, baseline, text, style.text,
            canvas.ink(draw::text_color_on(color)));
}

// Places the tag above the box, over its top line; if there is no space, inside the box below that
// line. The tag stays within the image if it fits. Boxes outside the image have no tag.
void Overlay::Impl::box_tag(const Canvas& canvas, const Style& style, const Tag& tag) {
  if (intersect(tag.outer, canvas.bounds()).empty()) return;
  const int width = font.width(tag.text, style.text) + 2 * style.padding;
  const int height = style.tag_height;
  const int x = std::max(0, std::min(tag.outer.x0, canvas.width() - width));
  const int above = tag.outer.y0 + tag.line - height;
  const bool has_room = above >= 0;
  const int y =
      std::max(0, std::min(has_room ? above : tag.outer.y0 + tag.line, canvas.height() - height));
  tag_at(canvas, style, {x, y, x + width, y + height}, !has_room, tag.text, tag.color);
}

void Overlay::Impl::remember(std::span<const Track> tracks) {
  if (options.trail_length == 0) return;
  for (auto& [id, trail] : trails)
    trail.alive = false;
  for (const Track& track : tracks) {
    Trail& trail = trails[track.id];
    trail.alive = true;
    if (trail.points.size() >= options.trail_length) trail.points.erase(trail.points.begin());
    trail.points.push_back(center(track.box));
  }
  std::erase_if(trails, [](const auto& entry) { return !entry.second.alive; });
}

void Overlay::Impl::draw_trails(const Canvas& canvas, const Style& style,
                                std::span<const Track> tracks) {
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const auto found = trails.find(tracks[i].id);
    if (found == trails.end()) continue;
    const Color color = color_for(tracks[i].label, i, tracks[i].id);
    fading_polyline(canvas, found->second.points, style.trail_width,
                    canvas.ink(color, trail_alpha));
  }
}

std::optional<Tag> Overlay::Impl::draw_box(const Canvas& canvas, const Style& style,
                                           const Track& track, const Color& color) {
  const auto rect = pixels_of(track.box);
  if (!rect) return std::nullopt;
  const bool coasting = track.detection < 0;
  const int line = coasting ? style.thin_line : style.line;
  const Rect outer = outer_edge(*rect, line);
  if (coasting) {
    stroke_dashed(canvas, outer, line, style.dash, canvas.ink(color));
  } else {
    stroke_box(canvas, outer, line, style.radius, canvas.ink(color), corners);
  }
  return Tag{outer, line, draw::tag_text(options, track), color};
}

Overlay::Overlay(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Overlay::Overlay(Overlay&&) noexcept = default;
Overlay& Overlay::operator=(Overlay&&) noexcept = default;
Overlay::~Overlay() = default;

Result<Overlay> Overlay::create(OverlayOptions options) {
  const trace::Span span("draw.create");
  if (options.line_px < 0 || options.line_px > max_line_px) {
    return fail(Errc::invalid_argument, "line_px must be 0..256", "{}", options.line_px);
  }
  if (options.text_px != 0 && (options.text_px < min_text_px || options.text_px > max_text_px)) {
    return fail(Errc::invalid_argument, "text_px must be 0 or 6..512", "{}", options.text_px);
  }
  if (options.trail_length > max_trail_points) {
    return fail(Errc::invalid_argument, "trail_length must be 0..10000", "{}",
                options.trail_length);
  }
  HALYARD_TRY(draw::Font font, draw::Font::open(options.font, draw::packaged_fonts()));
  HALYARD_TRY(draw::DrawEngine engine, draw::DrawEngine::create(options.backend));
  return Overlay(std::make_unique<Impl>(std::move(options), std::move(font), std::move(engine)));
}

Status Overlay::draw(Tensor& image, std::span<const Detection> detections) {
  trace::Span span("draw.detections");
  span.arg("width", image.width()).arg("height", image.height());
  span.arg("count", detections.size());
  return impl_->paint_on(image, [&](const Canvas& canvas) {
    const Style style = draw::style_for(impl_->options, canvas.width(), canvas.height());
    // Detections come best first and are drawn in reverse, so that the best is on top.
    std::vector<Tag> tags;
    tags.reserve(detections.size());
    for (std::size_t i = detections.size(); i-- > 0;) {
      const Detection& d = detections[i];
      const auto rect = pixels_of(d.box);
      if (!rect) continue;
      const Color color = impl_->color_for(d.label, i, i);
      const Rect outer = outer_edge(*rect, style.line);
      stroke_box(canvas, outer, style.line, style.radius, canvas.ink(color), impl_->corners);
      tags.push_back({outer, style.line, draw::tag_text(impl_->options, d), color});
    }
    for (const Tag& tag : tags)
      impl_->box_tag(canvas, style, tag);
  });
}

Status Overlay::draw(Tensor& image, std::span<const Track> tracks) {
  trace::Span span("draw.tracks");
  span.arg("width", image.width()).arg("height", image.height());
  span.arg("count", tracks.size());
  bool is_remembered = false;
  return impl_->paint_on(image, [&](const Canvas& canvas) {
    const Style style = draw::style_for(impl_->options, canvas.width(), canvas.height());
    if (!std::exchange(is_remembered, true)) impl_->remember(tracks);
    impl_->draw_trails(canvas, style, tracks);
    std::vector<Tag> tags;
    tags.reserve(tracks.size());
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const Color color = impl_->color_for(tracks[i].label, i, tracks[i].id);
      auto tag = impl_->draw_box(canvas, style, tracks[i], color);
      if (tag) tags.push_back(*std::move(tag));
    }
    for (const Tag& tag : tags)
      impl_->box_tag(canvas, style, tag);
  });
}

Status Overlay::text(Tensor& image, int x, int y, std::string_view line, Color background) {
  const trace::Span span("draw.text");
  return impl_->paint_on(image, [&](const Canvas& canvas) {
    const Style style = draw::style_for(impl_->options, canvas.width(), canvas.height());
    constexpr int far = static_cast<int>(max_coordinate);
    const int left = std::clamp(x, -far, far);
    const int top = std::clamp(y, -far, far);
    const int width = impl_->font.width(line, style.text) + 2 * style.padding;
    impl_->tag_at(canvas, style, {left, top, left + width, top + style.tag_height}, true, line,
                  background);
  });
}

Status Overlay::outlines(Tensor& image, std::span<const std::array<Point, 4>> quads,
                         std::span<const Color> colors, int line_px) {
  const trace::Span span("draw.outlines");
  if (line_px < 1 || line_px > max_line_px)
    return fail(Errc::invalid_argument, "line_px must be 1..256", "{}", line_px);
  HALYARD_RETURN_IF_ERROR(check_colors(colors, quads.size()));
  return impl_->paint_on(image, [&](const Canvas& canvas) {
    for (std::size_t i = 0; i < quads.size(); ++i)
      stroke_quad(canvas, quads[i], line_px, canvas.ink(colors[i]));
  });
}

Status Overlay::points(Tensor& image, std::span<const Point> points,
                       std::span<const Color> colors) {
  const trace::Span span("draw.points");
  HALYARD_RETURN_IF_ERROR(check_colors(colors, points.size()));
  return impl_->paint_on(image, [&](const Canvas& canvas) {
    for (std::size_t i = 0; i < points.size(); ++i)
      fill_dot(canvas, points[i], point_px, canvas.ink(colors[i]));
  });
}

Result<std::string> Overlay::explain(const Tensor& image) const {
  HALYARD_RETURN_IF_ERROR(Canvas::check(image));
  return impl_->engine.explain(image);
}

std::uint64_t Overlay::fallback_count() const noexcept {
  return impl_->engine.fallback_count();
}

}  // namespace halyard
