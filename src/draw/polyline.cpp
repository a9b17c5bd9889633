// SPDX-License-Identifier: Apache-2.0
// Fading polylines. Each segment is a capsule. If two neighbours overlap, only the nearer one draws
// a pixel, so that joints show no darker dots.
#include <array>
#include <cmath>
#include <optional>

#include "draw/draw_list.h"
#include "draw/line_clip.h"
#include "draw/polyline.h"

namespace halyard::draw {
namespace {

struct Segment {
  Point a;
  Point b;
};

constexpr float piece_px = 24;  // long segments are cut: a capsule scans its bounding box
constexpr float max_line_coordinate = 1e6F;
// Distances closer than this, in pixels, are equal: they differ by the rounding of a processor.
constexpr float tie_px = 1.0F / 1024;

bool is_usable(const Point& p) noexcept {
  return std::abs(p.x) <= max_line_coordinate &&
         std::abs(p.y) <= max_line_coordinate;  // false for NaN
}

float distance(const Segment& s, float x, float y) noexcept {
  const float dx = s.b.x - s.a.x;
  const float dy = s.b.y - s.a.y;
  const float length2 = dx * dx + dy * dy;
  const float t =
      length2 > 0 ? std::clamp(((x - s.a.x) * dx + (y - s.a.y) * dy) / length2, 0.0F, 1.0F) : 0.0F;
  const float ex = x - (s.a.x + t * dx);
  const float ey = y - (s.a.y + t * dy);
  return std::sqrt(ex * ex + ey * ey);
}

// A short piece of the line. `joined`: it begins at the end of the previous piece.
struct Piece {
  Segment line;
  float opacity = 0;
  bool joined = false;
};

// Appends the visible part of one segment, cut into pieces with opacities from `first` to `last`.
void append_pieces(const Segment& s, const Canvas& canvas, float margin, float first, float last,
                   bool joined, std::vector<Piece>& pieces) {
  const auto part = visible_part(s.a, s.b, canvas.width(), canvas.height(), margin);
  if (!part) return;
  const auto [from, to] = *part;
  const float length = std::hypot(s.b.x - s.a.x, s.b.y - s.a.y) * (to - from);
  const int count = std::max(1, static_cast<int>(std::ceil(length / piece_px)));
  for (int i = 0; i < count; ++i) {
    const float t0 = from + (to - from) * static_cast<float>(i) / static_cast<float>(count);
    const float t1 = from + (to - from) * static_cast<float>(i + 1) / static_cast<float>(count);
    const bool continues = i > 0 || (joined && from == 0 && !pieces.empty());
    pieces.push_back(
        {{point_at(s.a, s.b, t0), point_at(s.a, s.b, t1)}, first + (last - first) * t1, continues});
  }
}

// Cuts the line into pieces. Points closer than this to the last kept point are skipped: they add
// only overlap.
std::vector<Piece> cut(const Canvas& canvas, std::span<const Point> points, float width_px) {
  std::vector<Piece> pieces;
  const float nearest = std::max(1.0F, width_px / 2);
  const float margin = width_px / 2 + 1;
  const auto count = static_cast<float>(points.size());
  std::optional<std::size_t> last;
  bool joined = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_usable(points[i])) {
      last.reset();
      joined = false;
      continue;
    }
    if (last) {
      const Segment s{points[*last], points[i]};
      const bool newest = i + 1 == points.size();
      if (!newest && std::hypot(s.b.x - s.a.x, s.b.y - s.a.y) < nearest) continue;
      append_pieces(s, canvas, margin, static_cast<float>(*last + 1) / count,
                    static_cast<float>(i + 1) / count, joined, pieces);
      joined = true;
    }
    last = i;
  }
  return pieces;
}

Rect bounds(const Segment& s, float reach) noexcept {
  const auto [left, right] = std::minmax(s.a.x, s.b.x);
  const auto [top, bottom] = std::minmax(s.a.y, s.b.y);
  return {static_cast<int>(std::floor(left - reach)), static_cast<int>(std::floor(top - reach)),
          static_cast<int>(std::ceil(right + reach)), static_cast<int>(std::ceil(bottom + reach))};
}

TrailPiece trail_piece(const Piece& piece, const Segment* before, const Segment* after,
                       float radius) noexcept {
  TrailPiece out{.line = {piece.line.a, piece.line.b},
                 .has_before = before != nullptr,
                 .has_after = after != nullptr,
                 .radius = radius,
                 .opacity = piece.opacity};
  if (before != nullptr) out.before = {before->a, before->b};
  if (after != nullptr) out.after = {after->a, after->b};
  return out;
}

// Blends pieces[i], except pixels to which a joined neighbour is nearer. `coverage` is memory.
// Shaders do the same.
void blend_piece(const Canvas& canvas, const std::vector<Piece>& pieces, std::size_t i,
                 float radius, const Ink& ink, std::vector<std::uint8_t>& coverage) {
  const Piece& piece = pieces[i];
  const Segment* before = piece.joined ? &pieces[i - 1].line : nullptr;
  const Segment* after =
      i + 1 < pieces.size() && pieces[i + 1].joined ? &pieces[i + 1].line : nullptr;
  const Rect box = intersect(bounds(piece.line, radius + 1), canvas.clip());
  if (box.empty()) return;
  if (canvas.list() != nullptr)
    return canvas.list()->piece(box, trail_piece(piece, before, after, radius), ink);
  coverage.resize(static_cast<std::size_t>(box.width()) * static_cast<std::size_t>(box.height()));
  std::uint8_t* out = coverage.data();
  for (int py = box.y0; py < box.y1; ++py) {
    const float y = static_cast<float>(py) + 0.5F;
    for (int px = box.x0; px < box.x1; ++px) {
      const float x = static_cast<float>(px) + 0.5F;
      const float d = distance(piece.line, x, y);
      const float part = std::clamp(radius + 0.5F - d, 0.0F, 1.0F);
      *out++ = 0;
      if (part <= 0) continue;
      // In a tie the later piece draws the pixel, so that each pixel is drawn once.
      if (before != nullptr && d - distance(*before, x, y) > tie_px) continue;
      if (after != nullptr && distance(*after, x, y) - d <= tie_px) continue;
      out[-1] = static_cast<std::uint8_t>(
          std::lround(part * piece.opacity * static_cast<float>(ink.alpha)));
    }
  }
  canvas.blend_coverage(box.x0, box.y0, {coverage.data(), box.width(), box.height(), box.width()},
                        {ink.bytes, 255});
}

}  // namespace

void fading_polyline(const Canvas& canvas, std::span<const Point> points, float width_px,
                     const Ink& ink) {
  const std::vector<Piece> pieces = cut(canvas, points, width_px);
  std::vector<std::uint8_t> coverage;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    blend_piece(canvas, pieces, i, width_px / 2, ink, coverage);
}

}  // namespace halyard::draw
