// SPDX-License-Identifier: Apache-2.0
// Outlines along the edges of pixels. Every border edge is followed once, with the mask on its
// right, so outer outlines are clockwise and those of holes are counterclockwise.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/polygon.h"

namespace halyard {
namespace {

struct Corner {
  std::int32_t x = 0;
  std::int32_t y = 0;
  friend bool operator==(const Corner&, const Corner&) = default;
};

constexpr int east = 0;  // then south, west, north
constexpr Corner step[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};

class Tracer {
 public:
  explicit Tracer(const MaskView& mask)
      : mask_(mask), component_(pixels(mask.region), -1), is_followed_(component_.size(), 0) {}
  void run(std::vector<Polygon>& out);

 private:
  static std::size_t pixels(const Region& r) noexcept {
    return static_cast<std::size_t>(std::max(0, r.width)) *
           static_cast<std::size_t>(std::max(0, r.height));
  }
  bool is_set(Corner p) const noexcept {
    return p.x >= 0 && p.y >= 0 && p.x < mask_.region.width && p.y < mask_.region.height &&
           mask_.row(p.y)[p.x] != 0;
  }
  std::size_t index(Corner p) const noexcept {
    return static_cast<std::size_t>(p.y) * static_cast<std::size_t>(mask_.region.width) +
           static_cast<std::size_t>(p.x);
  }
  bool turns(Corner at, int& heading) const noexcept;
  void follow(Corner start, std::vector<Point>& points);
  void flood(Corner start, std::int32_t id);

  const MaskView& mask_;
  /// Per pixel: index of the outer outline of its component; -1: not visited.
  std::vector<std::int32_t> component_;
  std::vector<std::uint8_t> is_followed_;  ///< per pixel: its upper edge was followed
  std::vector<Corner> stack_;
};

// Chooses the next heading at a corner: straight on if the pixel ahead on the right is set and the
// one on the left is not. The right is tested first, so pixels that only share a corner stay
// separate. Returns whether the heading changes.
bool Tracer::turns(Corner at, int& heading) const noexcept {
  static constexpr Corner right_ahead[] = {{0, 0}, {-1, 0}, {-1, -1}, {0, -1}};
  static constexpr Corner left_ahead[] = {{0, -1}, {0, 0}, {-1, 0}, {-1, -1}};
  const Corner r = right_ahead[heading], l = left_ahead[heading];
  if (!is_set({at.x + r.x, at.y + r.y})) {
    heading = (heading + 1) % 4;
    return true;
  }
  if (!is_set({at.x + l.x, at.y + l.y})) return false;
  heading = (heading + 3) % 4;
  return true;
}

void Tracer::follow(Corner start, std::vector<Point>& points) {
  points.clear();
  int heading = east;
  Corner at = start;
  do {
    if (heading == east) is_followed_[index(at)] = 1;
    at = {at.x + step[heading].x, at.y + step[heading].y};
    if (turns(at, heading)) {
      points.push_back(
          {static_cast<float>(at.x + mask_.region.x), static_cast<float>(at.y + mask_.region.y)});
    }
  } while (at != start || heading != east);
}

void Tracer::flood(Corner start, std::int32_t id) {
  component_[index(start)] = id;
  stack_.assign(1, start);
  while (!stack_.empty()) {
    const Corner at = stack_.back();
    stack_.pop_back();
    for (const Corner& s : step) {
      const Corner to{at.x + s.x, at.y + s.y};
      if (!is_set(to) || component_[index(to)] >= 0) continue;
      component_[index(to)] = id;
      stack_.push_back(to);
    }
  }
}

// Scans upper edges from the top. The first edge of a component lies on its outer outline. Edges
// that remain after that outline was followed belong to holes.
void Tracer::run(std::vector<Polygon>& out) {
  std::size_t used = 0;
  for (std::int32_t y = 0; y < mask_.region.height; ++y) {
    for (std::int32_t x = 0; x < mask_.region.width; ++x) {
      const Corner at{x, y};
      if (!is_set(at) || is_set({x, y - 1}) || is_followed_[index(at)] != 0) continue;
      if (used == out.size()) out.emplace_back();
      Polygon& polygon = out[used];
      polygon.parent = component_[index(at)];
      polygon.is_hole = polygon.parent >= 0;
      if (!polygon.is_hole) flood(at, static_cast<std::int32_t>(used));
      follow(at, polygon.points);
      ++used;
    }
  }
  out.resize(used);
}

// ---- fewer points ----

double distance(Point p, Point a, Point b) noexcept {
  const double dx = double{b.x} - double{a.x}, dy = double{b.y} - double{a.y};
  const double px = double{p.x} - double{a.x}, py = double{p.y} - double{a.y};
  const double length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0, 1.0) : 0.0;
  return std::hypot(px - t * dx, py - t * dy);
}

// The point between `first` and `last` that is farthest from the line between them. An index past
// the end wraps.
std::pair<std::size_t, double> farthest(const std::vector<Point>& points, std::size_t first,
                                        std::size_t last) {
  std::pair<std::size_t, double> out{first, -1.0};
  for (std::size_t i = first + 1; i < last; ++i) {
    const double away = distance(points[i], points[first], points[last % points.size()]);
    if (away > out.second) out = {i, away};
  }
  return out;
}

void simplify(std::vector<Point>& points, double tolerance) {
  const std::size_t count = points.size();
  std::vector<bool> keeps(count, false);
  // A closed line has no end points. Uses the first point and the one farthest from it.
  const std::size_t middle = farthest(points, 0, count).first;
  keeps[0] = keeps[middle] = true;
  std::vector<std::pair<std::size_t, std::size_t>> parts{{0, middle}, {middle, count}};
  while (!parts.empty()) {
    const auto [first, last] = parts.back();
    parts.pop_back();
    const auto [at, away] = farthest(points, first, last);
    if (away <= tolerance) continue;
    keeps[at] = true;
    parts.emplace_back(first, at);
    parts.emplace_back(at, last);
  }
  if (std::count(keeps.begin(), keeps.end(), true) < 3) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (keeps[i]) points[kept++] = points[i];
  }
  points.resize(kept);
}

// Where an edge crosses the horizontal line through the centres of a row of pixels.
struct Crossing {
  std::int32_t row;
  double x;
  friend bool operator<(const Crossing& a, const Crossing& b) noexcept {
    return a.row != b.row ? a.row < b.row : a.x < b.x;
  }
};

// The first pixel whose centre is at or after `v`.
std::int32_t first_centre(double v, std::int32_t extent) noexcept {
  return static_cast<std::int32_t>(
      std::clamp(std::ceil(v - 0.5), 0.0, static_cast<double>(extent)));
}

// Rows of the image that are filled together.
struct Band {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

// Rows whose centres lie between the ends of an edge.
Band rows_of(Point a, Point b, std::int32_t height) noexcept {
  return {first_centre(std::min(a.y, b.y), height), first_centre(std::max(a.y, b.y), height)};
}

void cross(Point a, Point b, Band band, std::int32_t height, std::vector<Crossing>& out) {
  if (a.y > b.y) std::swap(a, b);
  const Band rows = rows_of(a, b, height);
  const std::int32_t end = std::min(rows.end, band.end);
  for (std::int32_t row = std::max(rows.begin, band.begin); row < end; ++row) {
    const double part = (row + 0.5 - double{a.y}) / (double{b.y} - double{a.y});
    out.push_back({row, double{a.x} + part * (double{b.x} - double{a.x})});
  }
}

constexpr std::uint64_t crossings_at_once = std::uint64_t{1} << 20;

void fill_band(std::span<const Polygon> polygons, Band band, Size size,
               std::vector<Crossing>& crossings, std::vector<std::uint8_t>& out) {
  crossings.clear();
  for (const Polygon& polygon : polygons) {
    const auto& points = polygon.points;
    for (std::size_t i = 0; i < points.size(); ++i)
      cross(points[i], points[(i + 1) % points.size()], band, size.height, crossings);
  }
  std::sort(crossings.begin(), crossings.end());
  const auto width = static_cast<std::size_t>(size.width);
  // A closed outline crosses a row an even number of times.
  for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) {
    std::uint8_t* row = out.data() + static_cast<std::size_t>(crossings[i].row) * width;
    std::fill(row + first_centre(crossings[i].x, size.width),
              row + first_centre(crossings[i + 1].x, size.width), std::uint8_t{255});
  }
}

}  // namespace

Status mask_polygons(const MaskView& mask, std::vector<Polygon>& out, float tolerance) {
  if (!(tolerance >= 0) || !std::isfinite(tolerance)) {
    return fail(Errc::invalid_argument, "tolerance: must be finite and not negative", "{}",
                tolerance);
  }
  Tracer(mask).run(out);
  if (tolerance == 0) return {};
  for (Polygon& polygon : out)
    simplify(polygon.points, tolerance);
  return {};
}

Status polygon_fill(std::span<const Polygon> polygons, Size size, std::vector<std::uint8_t>& out) {
  if (size.width <= 0 || size.height <= 0) {
    return fail(Errc::invalid_argument, "size: width and height must be above 0", "{}x{}",
                size.width, size.height);
  }
  std::uint64_t total = 0;
  for (const Polygon& polygon : polygons) {
    const auto& points = polygon.points;
    for (const Point& p : points) {
      if (std::isfinite(p.x) && std::isfinite(p.y)) continue;
      return fail(Errc::invalid_argument, "polygons: points must be finite", "({}, {})", p.x, p.y);
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Band rows = rows_of(points[i], points[(i + 1) % points.size()], size.height);
      total += static_cast<std::uint64_t>(std::max(0, rows.end - rows.begin));
    }
  }
  if (total > max_polygon_crossings) {
    return fail(Errc::exhausted, "polygons: edges cross too many rows of pixels", "{}, at most {}",
                total, max_polygon_crossings);
  }
  out.assign(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height), 0);
  // Fills so many rows at a time that the crossings need only some megabytes.
  const std::uint64_t bands = total / crossings_at_once + 1;
  const auto step = static_cast<std::int32_t>(
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(size.height) / bands));
  std::vector<Crossing> crossings;
  for (std::int32_t begin = 0; begin < size.height;) {
    const std::int32_t end = size.height - begin <= step ? size.height : begin + step;
    fill_band(polygons, {begin, end}, size, crossings, out);
    begin = end;
  }
  return {};
}

double polygon_area(const Polygon& polygon) noexcept {
  double twice = 0;
  const auto& p = polygon.points;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Point a = p[i], b = p[(i + 1) % p.size()];
    twice += double{a.x} * double{b.y} - double{b.x} * double{a.y};
  }
  return std::abs(twice) / 2;
}

}  // namespace halyard
